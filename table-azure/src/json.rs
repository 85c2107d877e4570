//! Reads JSON responses, and creates errors for responses that are not JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use table_core::odata::MetadataLevel;
use table_core::{Error, Result};

use crate::failure::AnswerFault;
use crate::http::Answer;

/// Returns the body if its content type is JSON. A proxy may send an HTML page with status 200, so the content type must be checked.
pub(crate) fn body<'a>(operation: &str, answer: &'a Answer) -> Result<&'a [u8]> {
    let content_type = answer.header("content-type");
    if MetadataLevel::from_media_type(content_type).is_none() {
        let found = if content_type.is_empty() { "nothing" } else { content_type };
        let (operation, found) = (operation.to_owned(), found.to_owned());
        return Err(Error::of(AnswerFault::NotJson { operation, found }));
    }
    Ok(&answer.body)
}

/// Creates the error for a response body that cannot be parsed. The message states that the response is at fault, not the request.
pub(crate) fn malformed(operation: &str, source: Error) -> Error {
    Error::of(AnswerFault::Entity { operation: operation.to_owned(), source })
}

/// Returns the list in the `value` member of a response.
pub(crate) fn values<T: DeserializeOwned>(operation: &str, answer: &Answer) -> Result<Vec<T>> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        value: Vec<T>,
    }
    let envelope: Envelope<T> = serde_json::from_slice(body(operation, answer)?)
        .map_err(|source| Error::of(AnswerFault::Json { operation: operation.to_owned(), source }))?;
    Ok(envelope.value)
}
