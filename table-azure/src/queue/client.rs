//! The client of an account's queues.

use std::fmt;
use std::sync::Arc;

use table_core::{Error, Result};

use crate::auth::Scheme;
use crate::connection_string::{ConnectionFault, ConnectionString};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::{Pipeline, PipelineParts, Runtime};
use crate::options::Options;
use crate::target::Target;

/// The version that the queue service is spoken to in.
const VERSION: &str = "2021-12-02";
const SCOPE: &str = "https://storage.azure.com/.default";

/// The queues of an account: a [`QueueStore`](table_core::QueueStore) over the REST protocol. Clones share connections.
///
/// Works on any executor: inside a tokio runtime requests run there, elsewhere on a thread of the client's own.
///
/// # Repetition
/// A request whose answer was lost is repeated (RTY-1). A put may then leave two messages, a receive one that is hidden from
/// everybody for its time, and an update may find its receipt dead: `PopReceiptMismatch`, upon which a worker stops. All of
/// that is within what queues promise (QUE-14): consumers are idempotent.
///
/// # Texts
/// The service keeps texts as XML does. One with a character that XML cannot hold, such as U+0000, is refused before it is
/// sent; nothing is encoded unasked (QUE-6).
///
/// ```no_run
/// use std::time::Duration;
/// use table_azure::AzureQueues;
/// use table_core::queue::{PutMessage, QueueName, QueueStore};
///
/// # async fn run() -> table_core::Result<()> {
/// let queues = AzureQueues::from_connection_string("UseDevelopmentStorage=true")?;
/// let work = QueueName::new("work")?;
/// queues.create_queue(&work).await?;
/// queues.put(&work, PutMessage::new("archive 223")).await?;
/// for lease in queues.receive(&work, 32, Duration::from_mins(1)).await? {
///     queues.delete(&work, &lease.message.id, &lease.receipt).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AzureQueues(Arc<Inner>);

struct Inner {
    pipeline: Pipeline,
    runtime: Runtime,
    target: Target,
}

impl AzureQueues {
    /// A client of the account that a connection string names (AUTH-31). Nothing is sent.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a connection string, or has no queue endpoint; `AuthenticationFailed` if its key is not base64.
    ///
    /// ```
    /// use table_azure::AzureQueues;
    ///
    /// let queues = AzureQueues::from_connection_string("AccountName=contoso;AccountKey=c2VjcmV0")?;
    /// assert_eq!(queues.to_string(), "https://contoso.queue.core.windows.net");
    /// assert!(!format!("{queues:?}").contains("c2VjcmV0"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn from_connection_string(text: &str) -> Result<Self> {
        Self::from_connection_string_with(text, Options::default())
    }

    /// The same, under these options.
    ///
    /// # Errors
    /// As [`from_connection_string`](Self::from_connection_string).
    pub fn from_connection_string_with(text: &str, options: Options) -> Result<Self> {
        let parsed: ConnectionString = text.parse()?;
        let Some(endpoint) = parsed.queue_endpoint() else {
            return Err(Error::of(ConnectionFault::NoService { service: "queue", key: "QueueEndpoint" }));
        };
        Self::with_options(endpoint, parsed.credential().clone(), options)
    }

    /// A client of an endpoint, such as `https://contoso.queue.core.windows.net`. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidInput` if it is not an endpoint, or if the credential would be sent there in the clear (ACC-1).
    pub fn new(endpoint: &str, credential: Credential) -> Result<Self> {
        Self::with_options(endpoint, credential, Options::default())
    }

    /// The same with options, of which retries, the target and the clock apply. Nothing is read from a secondary,
    /// where a message can be seen but not be had.
    ///
    /// # Errors
    /// `InvalidInput` if the endpoint is not a URL; `Io` if the system has no certificates to trust.
    pub fn with_options(endpoint: &str, credential: Credential, options: Options) -> Result<Self> {
        let primary = Endpoint::new(endpoint)?;
        let target = options.target.unwrap_or_else(|| Target::of(&primary));
        let pipeline = Pipeline::new(PipelineParts {
            primary,
            secondary: None,
            credential,
            scheme: Scheme::Storage,
            version: VERSION,
            scope: SCOPE,
            retry: options.retry,
            clock: options.clock,
            plain: options.plain,
            testing: options.testing,
        })?;
        Ok(Self(Arc::new(Inner { pipeline, runtime: Runtime::default(), target })))
    }

    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.0.pipeline
    }

    pub(super) fn target(&self) -> Target {
        self.0.target
    }

    /// Runs the work of a clone of the client, on any executor of the caller.
    pub(super) async fn run<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.0.runtime.run(work(self.clone())).await
    }
}

impl fmt::Debug for AzureQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureQueues").field("endpoint", self.0.pipeline.endpoint()).finish_non_exhaustive()
    }
}

/// The endpoint.
impl fmt::Display for AzureQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.pipeline.endpoint().fmt(f)
    }
}
