//! Handlers: application code that processes the messages of one type.

use std::marker::PhantomData;

use futures_util::future::BoxFuture;
use table_core::key::PartitionKey;
use table_core::key::RowKey;
use table_core::name::TableName;
use table_core::{Error, ErrorCode, Result};

use crate::outbox::message::{self, Message};
use crate::work::fault::WorkFault;

/// Application code that processes a [message](Message). For example, it updates a search index, writes a file or sends an e-mail.
///
/// # Contract
/// - A handler must be idempotent (PAT-EC-2), because a delivery may be repeated, even concurrently.
/// - A handler may receive an older change after a newer one. A handler that writes the message's content must store the [version](Delivery::version) with it
///   and skip older versions. A handler that reads the changed entity instead must detect concurrent deliveries: either its write is conditional on a version
///   that a concurrent delivery would change, or it rereads the entity after the write.
/// - The worker extends the lease while the handler waits, for up to an hour. A handler that runs longer, or that blocks its thread, must call
///   [`Delivery::keep`] regularly. If that call fails, the handler must stop (QUE-21).
/// - A handler must always return. A request without a timeout, for example, can block the worker forever. The outcomes of other intents that were started at
///   the same time are then never recorded. If a request times out, return an [outage](crate::work::outage).
/// - After an error, the message is delivered again. The error's code determines whether the attempt counts towards the limit after which the message becomes
///   poison.
///
/// # Failures and outages
/// | code of the error | counted as | consequence |
/// | --- | --- | --- |
/// | `ServerBusy`, `OperationTimedOut`, `InternalError`, `Io`, `DiskFull`, `EngineClosed`, `EnginePoisoned`, `FolderLocked`, `ReadOnly`, `TableBeingDeleted`, `QueueBeingDeleted`, `AuthenticationFailed`, `AuthorizationFailure`, `AuthorizationPermissionMismatch`, `AuthorizationProtocolMismatch`, `AuthorizationResourceTypeMismatch`, `AuthorizationServiceMismatch`, `AuthorizationSourceIPMismatch` | [`outages`](crate::work::WorkMetrics::outages) | an outage: the message never becomes poison, however long the outage lasts; until a message succeeds, the handler receives other messages only rarely |
/// | `UpdateConditionNotSatisfied` | [`outages`](crate::work::WorkMetrics::outages) | contention at one row: the message never becomes poison, and is retried after the first delay; other messages are not affected |
/// | `MessageNotFound`, `PopReceiptMismatch` | [`outages`](crate::work::WorkMetrics::outages) | another worker has received the message; [`Delivery::keep`] returns this error |
/// | `FormatTooNew`, `IndexNotReady` | [`left`](crate::work::WorkMetrics::left) | the message is left for a newer version of the program, and never becomes poison; the delays between attempts grow up to [`redelivery.max`](crate::work::WorkerOptions::redelivery) |
/// | every other code, including `SchemaMismatch` and `UniqueViolation` | [`failures`](crate::work::WorkMetrics::failures) | a failure: after [`poison_after`](crate::work::WorkerOptions::poison_after) attempts, the message becomes poison, with the error |
///
/// A panic in a handler counts as a failure and does not affect other messages, unless the program is built with `panic = "abort"`.
///
/// An error from a store already has the right code. For other errors, choose a code with [`failure`](crate::work::failure) or [`outage`](crate::work::outage).
/// If a target rejects one message, return a failure. If a target cannot be reached, return an outage. In case of doubt, return a failure, because a message
/// that always causes an outage is retried forever.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_patterns::Result;
/// use table_patterns::outbox::Message;
/// use table_patterns::work::{self, Delivery, Handler};
///
/// #[derive(Serialize, Deserialize)]
/// struct Changed { words: String }
///
/// impl Message for Changed {
///     const NAME: &'static str = "changed";
///     const VERSION: u32 = 1;
/// }
///
/// struct SearchIndex { is_up: bool }
///
/// impl Handler<Changed> for SearchIndex {
///     async fn handle(&self, changed: &Changed, delivery: Delivery<'_>) -> Result<()> {
///         if changed.words.is_empty() {
///             return Err(work::failure("the text has no words")); // poison after five attempts
///         }
///         if !self.is_up {
///             return Err(work::outage("the search index is down")); // retried until it is up
///         }
/// delivery.keep().await?; // before an operation that blocks the thread
/// // … store `changed.words` under `delivery.source`, unless the stored version is larger than `delivery.version`
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "[T240] `{Self}` is not a handler of the message `{M}`",
    label = "expected a type with `impl Handler<{M}>`",
    note = "declare a struct, and write `impl Handler<{M}> for … {{ async fn handle(&self, message: &{M}, delivery: Delivery<'_>) -> Result<()> {{ … }} }}`",
    note = "a worker takes one handler for each message: `worker.handler::<{M}>(…)`"
)]
pub trait Handler<M: Message>: Send + Sync {
    /// Processes the message.
    fn handle(&self, message: &M, delivery: Delivery<'_>) -> impl Future<Output = Result<()>> + Send;
}

/// A handler for all steps with one name. Both applications and patterns register such handlers.
pub(crate) trait Take: Send + Sync {
    fn take<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Result<()>>;
}

/// Adapts the handler of a message type to the steps that contain such messages.
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
            // IMPORTANT: a handler has the worker's permissions. A program that may only write to the partition must not be able to use them.
            if !delivery.is_genuine {
                return Err(Error::of(WorkFault::NotGenuine));
            }
            let message: M = message::decode(delivery.written_as, delivery.payload)?;
            self.handler.handle(&message, delivery).await.map_err(own)
        })
    }
}

/// Wraps a `SchemaMismatch` or a `UniqueViolation` from a handler, because the error concerns the handler's own table. With the original code, workers would
/// leave the message for newer programs, or retry it like a change whose unique value belongs to another entity. In both cases, they would do so forever.
fn own(error: Error) -> Error {
    match error.code() {
        ErrorCode::SchemaMismatch => Error::of(WorkFault::Handler(error)),
        ErrorCode::UniqueViolation => Error::of(WorkFault::HandlerValue(error)),
        _ => error,
    }
}

/// A worker's lease on the message it is processing.
pub(crate) trait Keep: Send + Sync {
    fn keep(&self) -> BoxFuture<'_, Result<()>>;

    /// Returns the current time according to the queue's clock, in ticks.
    fn now(&self) -> u64;
}

/// The delivery of a message to a handler.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Delivery<'a> {
    /// The table of the change.
    pub table: &'a TableName,
    /// The partition of the change.
    pub partition_key: &'a PartitionKey,
    /// The RowKey of the changed entity.
    pub source: &'a RowKey,
    /// The version of the change. Later changes to one entity have larger versions. This is the [assigned version](crate::outbox::Intent::version) or the
    /// Timestamp of the change in [ticks](table_core::ticks). It is `None` if neither is available, for example on a store whose
    /// [Timestamps](table_core::store::Capabilities::timestamp_step) do not order changes.
    pub version: Option<u64>,
    /// The payload of the message as JSON.
    pub(crate) payload: &'a str,
    /// The version of the message type that was used to write the payload.
    pub(crate) written_as: u32,
    /// `true` if the message has a valid seal. The seal proves that a program with the outbox's key recorded the message.
    pub(crate) is_genuine: bool,
    pub(crate) lease: &'a dyn Keep,
}

impl Delivery<'_> {
    /// Extends the lease if half of it has passed.
    ///
    /// # Errors
    /// `MessageNotFound` or `PopReceiptMismatch` if another worker has received the message. The handler must then stop.
    pub async fn keep(&self) -> Result<()> {
        self.lease.keep().await
    }
}

debug_fields!([] Delivery['_] { payload, source, version, .. });
