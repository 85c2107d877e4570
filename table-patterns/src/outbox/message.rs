//! Messages: typed requests to handlers. Each message type has a name and a version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use table_core::{Error, ErrorCode, Result};

use crate::outbox::fault::OutboxFault;

/// A request to the [`Handler`](crate::work::Handler) for its type. A [`Step`](crate::outbox::Step) contains it as JSON.
///
/// The name identifies the handler, and the version identifies the format of the JSON. If a later version adds a field, the field needs `#[serde(default)]`, or
/// [`decode`](Self::decode) must convert older messages. A worker leaves a message with a later version for workers that support this version.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_patterns::outbox::{Message, Step};
///
/// /// Notifies the customer that a ticket was closed.
/// #[derive(Serialize, Deserialize)]
/// struct Closed {
///     ticket: u32,
///     #[serde(default)] // since version 2
///     language: Option<String>,
/// }
///
/// impl Message for Closed {
///     const NAME: &'static str = "ticket closed";
///     const VERSION: u32 = 2;
/// }
///
/// let step = Step::call(&Closed { ticket: 17, language: None })?;
/// # assert!(matches!(step, Step::Call { name, version: 2, .. } if name == "ticket closed"));
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T242] `{Self}` is not a message",
    label = "expected a type with `impl Message`",
    note = "write `impl Message for {Self} {{ const NAME: &'static str = \"…\"; const VERSION: u32 = 1; }}`, with `#[derive(Serialize, Deserialize)]`"
)]
pub trait Message: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the message type. It must be unique among the message types of the outbox. It is stored, so keep it if the type is renamed.
    const NAME: &'static str;
    /// The version of the JSON that this program writes, starting at 1. Increase it whenever older programs can no longer read the message.
    const VERSION: u32;

    /// Decodes JSON written with the given version. The version never exceeds [`VERSION`](Self::VERSION).
    ///
    /// # Errors
    /// `Corrupted` if the JSON is invalid. The intent then becomes poison immediately, because later attempts would also fail.
    fn decode(version: u32, text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|source| Error::of(OutboxFault::Message { name: Self::NAME, version, source }))
    }
}

/// Encodes a message as JSON.
///
/// # Errors
/// `InvalidInput` if the message cannot be represented as JSON, or if the version of its type is 0, which marks the steps of patterns.
pub(crate) fn encode<M: Message>(message: &M) -> Result<String> {
    if M::VERSION == 0 {
        return Err(Error::of(OutboxFault::NoVersion(M::NAME)));
    }
    serde_json::to_string(message)
        .map_err(|source| Error::of(OutboxFault::Unwritable { name: M::NAME, source }))
}

/// Decodes a message. Returns an error if this program does not support the message's version yet.
pub(crate) fn decode<M: Message>(version: u32, text: &str) -> Result<M> {
    if version > M::VERSION {
        let known = M::VERSION;
        return Err(Error::of(OutboxFault::NewerMessage { name: M::NAME, version, known }));
    }
    M::decode(version, text).map_err(|error| match error.code() {
        ErrorCode::Corrupted if !is_unreadable(&error) => {
            Error::of(OutboxFault::Undecodable { name: M::NAME, version, source: error })
        }
        _ => error,
    })
}

/// Returns `true` if an error means that no program can read the message.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    error.code() == ErrorCode::Corrupted && error.rule() == Some("PAT-EC-4")
}
