//! The client for an account's queues.

use std::fmt;
use std::sync::Arc;

use table_core::{Error, Result};

use crate::auth::Scheme;
use crate::connection_string::{ConnectionFault, ConnectionString};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::{Pipeline, PipelineParts};
use crate::options::Options;
use crate::target::Target;

/// The protocol version of the queue service.
const VERSION: &str = "2021-12-02";
const SCOPE: &str = "https://storage.azure.com/.default";

/// A client for an account's queues: a [`QueueStore`](table_core::QueueStore) over the REST protocol. Clones share connections.
///
/// The client works on any executor, because it drives its connections on a separate thread.
///
/// # Retries
/// The client sends a request again if its response was lost (RTY-1). The consequences depend on the operation:
/// - A put may create two messages.
/// - A receive may hide a message from all workers until the visibility timeout has passed.
/// - An update may fail with `PopReceiptMismatch`, because an earlier attempt has invalidated the pop receipt. The worker must then stop.
///
/// Queues permit all of this (QUE-14), so consumers must be idempotent.
///
/// # Texts
/// The service stores message texts as XML. A text with a character that is illegal in XML, such as U+0000, is rejected before it is sent. The client never
/// encodes texts on its own (QUE-6).
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
/// for lease in queues.receive(&work, 32, Duration::from_secs(60)).await? {
///     queues.delete(&work, &lease.message.id, &lease.receipt).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AzureQueues(Arc<Inner>);

struct Inner {
    pipeline: Pipeline,
    target: Target,
}

impl AzureQueues {
    /// Creates a client from a connection string (AUTH-31). This does not send any requests.
    ///
    /// # Errors
    /// - `InvalidInput` if the text is not a connection string, or if it has no queue endpoint.
    /// - `AuthenticationFailed` if the account key is not base64.
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

    /// Creates a client from a connection string with options.
    ///
    /// # Errors
    /// `InvalidInput` or `AuthenticationFailed`, for the same reasons as in [`from_connection_string`](Self::from_connection_string).
    pub fn from_connection_string_with(text: &str, options: Options) -> Result<Self> {
        let parsed: ConnectionString = text.parse()?;
        let Some(endpoint) = parsed.queue_endpoint() else {
            return Err(Error::of(ConnectionFault::NoService { service: "queue", key: "QueueEndpoint" }));
        };
        Self::with_options(endpoint, parsed.credential().clone(), options)
    }

    /// Creates a client for an endpoint such as `https://contoso.queue.core.windows.net`. This does not send any requests.
    ///
    /// # Errors
    /// - `InvalidInput` if `endpoint` is not a URL, or if the credential would be sent unencrypted (ACC-1).
    /// - `Io` if the system has no trusted certificates.
    pub fn new(endpoint: &str, credential: Credential) -> Result<Self> {
        Self::with_options(endpoint, credential, Options::default())
    }

    /// Creates a client for an endpoint with options. Only the retry policy, the target, the clock and the plain-HTTP permission are used.
    ///
    /// The client never uses a secondary endpoint. Messages on a secondary can be peeked at but not received.
    ///
    /// # Errors
    /// - `InvalidInput` if `endpoint` is not a URL, or if the credential would be sent unencrypted (ACC-1).
    /// - `Io` if the system has no trusted certificates.
    pub fn with_options(endpoint: &str, credential: Credential, options: Options) -> Result<Self> {
        let primary = Endpoint::new(endpoint)?;
        let target = options.target.unwrap_or_else(|| Target::of(&primary));
        let pipeline = Pipeline::new(PipelineParts {
            primary,
            credential,
            scheme: Scheme::Storage,
            version: VERSION,
            scope: SCOPE,
            retry: options.retry,
            clock: options.clock,
            plain: options.plain,
            testing: options.testing,
        })?;
        Ok(Self(Arc::new(Inner { pipeline, target })))
    }

    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.0.pipeline
    }

    pub(super) fn target(&self) -> Target {
        self.0.target
    }

    /// Runs a function on a clone of the client, on any executor.
    pub(super) async fn run<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.0.pipeline.runtime().run(work(self.clone())).await
    }
}

impl fmt::Debug for AzureQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureQueues").field("endpoint", self.0.pipeline.endpoint()).finish_non_exhaustive()
    }
}

/// Formats the client as the URL of its endpoint.
impl fmt::Display for AzureQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.pipeline.endpoint().fmt(f)
    }
}
