//! Messages: what a step asks a handler to do, as a type with a name and a version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use table_core::error::{Error, ErrorCode, Result};

use crate::outbox::fault::OutboxFault;

/// What a [`Step`](crate::outbox::Step) carries to the [`Handler`](crate::work::Handler) of its type, as JSON.
///
/// The name finds the handler; the version says which program wrote it. A field that a later version adds has a `#[serde(default)]`, or
/// [`decode`](Self::decode) makes of an older text what the type is now. A worker leaves a version that is later than its own to a newer
/// worker.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_patterns::outbox::{Message, Step};
///
/// /// The customer of a ticket is to hear that it is closed.
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
pub trait Message: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Its name among all messages of the outbox. It is stored: a renamed type keeps it.
    const NAME: &'static str;
    /// The version that this program writes, from 1 on. It grows when an older program could not read the text any more.
    const VERSION: u32;

    /// The message of a text that was written as `version`, which is never later than [`VERSION`](Self::VERSION).
    ///
    /// # Errors
    /// `Corrupted` for a text that is not such a message: it is put aside as poison at once, as no later attempt would read it either.
    fn decode(version: u32, text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|source| Error::of(OutboxFault::Message { name: Self::NAME, version, source }))
    }
}

/// The text of a message.
pub(crate) fn encode<M: Message>(message: &M) -> Result<String> {
    serde_json::to_string(message)
        .map_err(|source| Error::of(OutboxFault::Unwritable { name: M::NAME, source }))
}

/// The message of a text, if its version is one that this program knows.
pub(crate) fn decode<M: Message>(version: u32, text: &str) -> Result<M> {
    if version > M::VERSION {
        let known = M::VERSION;
        return Err(Error::of(OutboxFault::NewerMessage { name: M::NAME, version, known }));
    }
    M::decode(version, text)
}

/// Whether an error says that no program can read a message, now or later.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    error.code() == ErrorCode::Corrupted && error.rule() == Some("PAT-EC-4")
}
