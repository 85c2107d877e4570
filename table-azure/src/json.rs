//! JSON answers, and errors for answers that are not JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use table_core::odata::MetadataLevel;
use table_core::{Error, ErrorCode, Result};

use crate::http::Answer;

/// The body, if its type says that it is JSON: a proxy's page of HTML may come with status 200 too.
pub(crate) fn body<'a>(operation: &str, answer: &'a Answer) -> Result<&'a [u8]> {
    let content_type = answer.header("content-type");
    if MetadataLevel::from_media_type(content_type).is_none() {
        let found = if content_type.is_empty() { "nothing" } else { content_type };
        let message =
            format!("{operation}: the answer should be JSON and is `{found}`: is a proxy in between?");
        return Err(Error::new(ErrorCode::InternalError, message));
    }
    Ok(&answer.body)
}

/// What a body that cannot be read means: it is the answer that is wrong, not what was asked for.
pub(crate) fn malformed(operation: &str, error: Error) -> Error {
    Error::new(ErrorCode::InternalError, format!("{operation}: the answer cannot be read")).with_source(error)
}

/// The `value` of an answer that holds a list.
pub(crate) fn values<T: DeserializeOwned>(operation: &str, answer: &Answer) -> Result<Vec<T>> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        value: Vec<T>,
    }
    let envelope: Envelope<T> = serde_json::from_slice(body(operation, answer)?).map_err(|error| {
        let message = format!("{operation}: the answer cannot be read: {error}");
        Error::new(ErrorCode::InternalError, message).with_source(error)
    })?;
    Ok(envelope.value)
}
