//! JSON answers, and errors for answers that are not JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use table_core::odata::MetadataLevel;
use table_core::{Error, Result};

use crate::failure::AnswerFault;
use crate::http::Answer;

/// The body, if its type says that it is JSON: a proxy's page of HTML may come with status 200 too.
pub(crate) fn body<'a>(operation: &str, answer: &'a Answer) -> Result<&'a [u8]> {
    let content_type = answer.header("content-type");
    if MetadataLevel::from_media_type(content_type).is_none() {
        let found = if content_type.is_empty() { "nothing" } else { content_type };
        let (operation, found) = (operation.to_owned(), found.to_owned());
        return Err(Error::of(AnswerFault::NotJson { operation, found }));
    }
    Ok(&answer.body)
}

/// The error for a body that cannot be read: the answer is wrong, not the request.
pub(crate) fn malformed(operation: &str, source: Error) -> Error {
    Error::of(AnswerFault::Entity { operation: operation.to_owned(), source })
}

/// The `value` of an answer that holds a list.
pub(crate) fn values<T: DeserializeOwned>(operation: &str, answer: &Answer) -> Result<Vec<T>> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        value: Vec<T>,
    }
    let envelope: Envelope<T> = serde_json::from_slice(body(operation, answer)?)
        .map_err(|source| Error::of(AnswerFault::Json { operation: operation.to_owned(), source }))?;
    Ok(envelope.value)
}
