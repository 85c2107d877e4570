//! Handlers: steps against other stores, registered by the type of their message.

use std::fmt;
use std::marker::PhantomData;

use futures_util::future::BoxFuture;
use table_core::error::{Error, ErrorCode, Result};
use table_core::key::PartitionKey;
use table_core::key::RowKey;
use table_core::name::TableName;

use crate::outbox::message::{self, Message};
use crate::work::fault::WorkFault;

/// A step that the program takes itself on a [message](Message): in a search index, a blob, a file, a mail server, another account.
///
/// # Contract
/// - Taken twice it does what it does once (PAT-EC-2): a delivery may come again, and two may come at one time.
/// - It may be given an older change after a newer one. A handler that writes what the message says keeps the
///   [version](Delivery::version) where it writes, and leaves a newer one alone; a handler that reads the source anew each time
///   writes under a condition that another delivery's write breaks, or looks at the source again afterwards.
/// - Where it works for long it calls [`Delivery::keep`] now and then, and stops where that fails (QUE-21).
/// - An error leaves the work to be tried again; after some attempts the message is poison, with the reason. That holds for each error, also for a
///   `LayoutMismatch` of a table that the handler writes.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_patterns::Result;
/// use table_patterns::outbox::Message;
/// use table_patterns::work::{Delivery, Handler};
///
/// #[derive(Serialize, Deserialize)]
/// struct Changed { words: String }
///
/// impl Message for Changed {
///     const NAME: &'static str = "changed";
///     const VERSION: u32 = 1;
/// }
///
/// struct SearchIndex;
///
/// impl Handler<Changed> for SearchIndex {
///     async fn handle(&self, changed: &Changed, delivery: Delivery<'_>) -> Result<()> {
///         delivery.keep().await?; // before something that takes long
///         // … store `changed.words` under `delivery.source`, unless what is there has a larger version than `delivery.version`
///         Ok(())
///     }
/// }
/// ```
pub trait Handler<M: Message>: Send + Sync {
    /// Takes the step.
    fn handle(&self, message: &M, delivery: Delivery<'_>) -> impl Future<Output = Result<()>> + Send;
}

/// What a worker does for a step of a name.
pub(crate) trait Take: Send + Sync {
    fn take<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Result<()>>;
}

/// The handler of a message.
pub(crate) struct OfMessage<M, H> {
    handler: H,
    message: PhantomData<fn(&M)>,
}

impl<M: Message, H: Handler<M>> OfMessage<M, H> {
    pub(crate) const fn new(handler: H) -> Self {
        Self { handler, message: PhantomData }
    }
}

impl<M: Message, H: Handler<M>> Take for OfMessage<M, H> {
    fn take<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            // IMPORTANT: a handler has the rights of the worker, and a foreign writer of the partition must not use them.
            if !delivery.is_genuine {
                return Err(Error::of(WorkFault::NotGenuine));
            }
            let message: M = message::decode(delivery.written_as, delivery.payload)?;
            self.handler.handle(&message, delivery).await.map_err(own)
        })
    }
}

/// An error of a handler. A `LayoutMismatch` of its own is none of the message's: it does not leave the message to another program, without end.
fn own(error: Error) -> Error {
    match error.code() {
        ErrorCode::LayoutMismatch => Error::of(WorkFault::Handler(error)),
        _ => error,
    }
}

/// The lease of the work that is being done.
pub(crate) trait Keep: Send + Sync {
    fn keep(&self) -> BoxFuture<'_, Result<()>>;
}

/// What a handler is asked to do.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Delivery<'a> {
    /// The table of the change.
    pub table: &'a TableName,
    /// The partition of the change.
    pub partition_key: &'a PartitionKey,
    /// The row of the entity that changed.
    pub source: &'a RowKey,
    /// Later changes of one entity have larger ones: the [version given](crate::outbox::Intent::version), or the Timestamp of the
    /// change in [ticks](table_core::ticks). `None` for an intent that has neither, as on a store whose
    /// [Timestamps](table_core::store::Capabilities::timestamp_step) do not tell changes apart.
    pub version: Option<u64>,
    /// The text of the message.
    pub(crate) payload: &'a str,
    /// The version of the text.
    pub(crate) written_as: u32,
    /// `true` if a program with the key of the outbox recorded the message.
    pub(crate) is_genuine: bool,
    pub(crate) lease: &'a dyn Keep,
}

impl Delivery<'_> {
    /// Extends the lease of the work if half of it is over.
    ///
    /// # Errors
    /// `MessageNotFound`, `PopReceiptMismatch` if another worker has the work by now: stop.
    pub async fn keep(&self) -> Result<()> {
        self.lease.keep().await
    }
}

impl fmt::Debug for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("payload", &self.payload)
            .field("source", &self.source)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
