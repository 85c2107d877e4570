//! Blob access through the `object_store` crate, configured with a connection string (BLB rules).

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;

use object_store::azure::{AzureConfigKey, MicrosoftAzure, MicrosoftAzureBuilder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientOptions, RetryConfig};
use reqwest::{Client, Method, Url};
use table_core::{Error, ErrorCode, Result};

use crate::auth::Scheme;
use crate::connection_string::{ConnectionFault, ConnectionString};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::failure::ServiceError;
use crate::http::{Failure, Pipeline, PipelineParts, Request, Transport, encode};
use crate::options::Options;

const VERSION: &str = "2021-12-02";
const SCOPE: &str = "https://storage.azure.com/.default";

/// A client for an account's blobs. It creates and deletes containers, and opens a container as an [`ObjectStore`](object_store::ObjectStore).
///
/// A container's object store needs a tokio runtime. As an `Arc<dyn ObjectStore>`, it can replace the crate's local and in-memory stores. Names, ranges and
/// conditions follow BLB-2 to BLB-10.
///
/// To store a large value, first write it to a blob. Then store the name of the blob in the entity (BLB-12).
///
/// ```
/// use object_store::ObjectStore;
/// use table_azure::AzureBlobs;
///
/// let blobs = AzureBlobs::from_connection_string("AccountName=contoso;AccountKey=c2VjcmV0")?;
/// let photos: Box<dyn ObjectStore> = Box::new(blobs.container("photos")?);
/// assert!(photos.to_string().contains("contoso"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct AzureBlobs(Arc<Inner>);

struct Inner {
    pipeline: Pipeline,
    client: Client,
    endpoint: String,
    credential: Credential,
    options: Options,
}

impl AzureBlobs {
    /// Creates a client for an account's blobs from a connection string (AUTH-31). This does not send any requests.
    ///
    /// # Errors
    /// - `InvalidInput` if the text is not a connection string, or if it has no blob endpoint.
    /// - `AuthenticationFailed` if the account key is not base64.
    pub fn from_connection_string(text: &str) -> Result<Self> {
        Self::from_connection_string_with(text, Options::default())
    }

    /// Creates a client from a connection string with options. Only the retry policy, the clock and the plain-HTTP permission are used.
    ///
    /// # Errors
    /// `InvalidInput` or `AuthenticationFailed`, for the same reasons as in [`from_connection_string`](Self::from_connection_string).
    pub fn from_connection_string_with(text: &str, options: Options) -> Result<Self> {
        let parsed: ConnectionString = text.parse()?;
        let Some(endpoint) = parsed.blob_endpoint() else {
            return Err(Error::of(ConnectionFault::NoService { service: "blob", key: "BlobEndpoint" }));
        };
        let (primary, credential) = (Endpoint::new(endpoint)?, parsed.credential().clone());
        let limit = options.retry.attempt_timeout;
        let client = Transport::of_blobs(&primary, limit)?;
        let pipeline = Pipeline::new(PipelineParts {
            primary,
            credential: credential.clone(),
            scheme: Scheme::Storage,
            version: VERSION,
            scope: SCOPE,
            retry: options.retry,
            clock: options.clock.clone(),
            plain: options.plain,
            testing: options.testing.clone(),
        })?;
        let endpoint = endpoint.to_owned();
        Ok(Self(Arc::new(Inner { pipeline, client, endpoint, credential, options })))
    }

    /// Creates a container. Returns `false` if the container already exists (BLB-2).
    ///
    /// If the response to an attempt was lost, the retry may find the container that this call created. The result is then also `false`.
    ///
    /// # Errors
    /// - `InvalidInput` or `InvalidResourceName` if `name` is not a valid container name: 3 to 63 lower-case letters, digits and single hyphens (BLB-1).
    /// - `EntityAlreadyExists` for any other conflict, for example if a container with this name is being deleted. The error is ambiguous if a response was
    ///   lost or did not come from the service.
    pub async fn create_container(&self, name: &str) -> Result<bool> {
        let request = Request::new("create container", Method::PUT, format!("/{}", encode(checked(name)?)));
        let request = request.query("restype", "container").acknowledged_by(&[201]);
        let pipeline = self.0.pipeline.clone();
        let work = async move {
            match pipeline.send(&request).await {
                Ok(_) => Ok(true),
                Err(failure) if is_refused_with(&failure, "ContainerAlreadyExists") => Ok(false),
                Err(failure) => Err(failure.into_error(false)),
            }
        };
        self.0.pipeline.runtime().run(work).await
    }

    /// Deletes a container and all its blobs. Returns `false` if the container does not exist.
    ///
    /// If the response to an attempt was lost, that attempt may have deleted the container. The result of the retry is then also `false`.
    ///
    /// # Errors
    /// `InvalidInput` or `InvalidResourceName` if `name` is not a valid container name: 3 to 63 lower-case letters, digits and single hyphens
    /// (BLB-1).
    pub async fn delete_container(&self, name: &str) -> Result<bool> {
        let request =
            Request::new("delete container", Method::DELETE, format!("/{}", encode(checked(name)?)));
        let request = request.query("restype", "container").acknowledged_by(&[202]);
        let pipeline = self.0.pipeline.clone();
        let work = async move {
            match pipeline.send(&request).await {
                Ok(_) => Ok(true),
                Err(failure) if is_refused_with(&failure, "ContainerNotFound") => Ok(false),
                Err(failure) => Err(failure.into_error(false)),
            }
        };
        self.0.pipeline.runtime().run(work).await
    }

    /// Opens a container for access to its blobs. This does not send any requests, so it does not check that the container exists.
    ///
    /// [`RetryPolicy::attempt_timeout`](crate::RetryPolicy::attempt_timeout) limits the time from the start of a request, including the upload of its body, to
    /// the response. It also limits the wait for each part of the response. To upload a large blob, use `put_multipart` or set a longer limit.
    ///
    /// # Errors
    /// - `Unsupported` if the credential is a bearer token. In this case, use the builder in `object_store`, which has its own token providers.
    /// - `InvalidInput` if neither the credential nor the endpoint contains an account name.
    /// - `InvalidInput` if `name` is empty or contains characters other than ASCII letters, digits, `-` and `$` (BLB-1).
    pub fn container(&self, name: &str) -> Result<MicrosoftAzure> {
        let inner = &*self.0;
        let builder = MicrosoftAzureBuilder::new()
            .with_container_name(checked(name)?)
            .with_account(self.account()?)
            .with_endpoint(inner.endpoint.clone())
            .with_allow_http(true)
            .with_retry(RetryConfig {
                max_retries: usize::try_from(inner.options.retry.max_retries).unwrap_or(usize::MAX),
                retry_timeout: inner.options.retry.operation_timeout,
                ..RetryConfig::default()
            })
            .with_http_connector(Connector(inner.client.clone()));
        let builder = match &inner.credential {
            Credential::SharedKey(key) => builder.with_access_key(key.to_base64()),
            Credential::SharedAccessSignature(token) => builder.with_config(AzureConfigKey::SasKey, token),
            Credential::Token(_) => {
                let message = "blobs do not support bearer tokens; use the builder of `object_store`";
                return Err(Error::new(ErrorCode::Unsupported, message).with_rule("AUTH-12"));
            }
        };
        builder.build().map_err(|error| {
            Error::new(ErrorCode::InvalidInput, format!("container `{name}` cannot be opened"))
                .with_source(error)
        })
    }

    /// Returns the account name from the credential. If the credential has none, returns the name from the endpoint (ACC-1, ACC-2).
    fn account(&self) -> Result<String> {
        let Inner { credential, endpoint, .. } = &*self.0;
        let of_endpoint = || {
            let url = Url::parse(endpoint).ok()?;
            let of_path =
                url.path_segments()?.next().filter(|account| !account.is_empty()).map(str::to_owned);
            of_path.or_else(|| url.host_str()?.split('.').next().map(str::to_owned))
        };
        credential.account().map(str::to_owned).or_else(of_endpoint).ok_or_else(|| {
            Error::new(ErrorCode::InvalidInput, "the endpoint names no account; add `AccountName`")
                .with_rule("ACC-1")
        })
    }
}

/// Returns the container name if it can safely be the first path segment of a request URL. The service checks the other naming rules.
///
/// # Errors
/// `InvalidInput` if the name is empty or contains a character that is not allowed in container names. Such a name could address a different container: URL
/// parsing removes `.`, `..` and line breaks, and a server may decode `%2F` to a slash.
fn checked(name: &str) -> Result<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '$');
    if !name.is_empty() && name.chars().all(is_plain) {
        return Ok(name);
    }
    let message = format!(
        "`{name}` is not the name of a container; use 3 to 63 lower-case letters, digits and single hyphens"
    );
    Err(Error::new(ErrorCode::InvalidInput, message).with_rule("BLB-1"))
}

/// Returns `true` if the service itself rejected the request with the given error code.
fn is_refused_with(failure: &Failure, code: &str) -> bool {
    let service = failure.error.source().and_then(|source| source.downcast_ref::<ServiceError>());
    failure.known && service.and_then(ServiceError::code) == Some(code)
}

/// An `object_store` connector that always returns this HTTP client. Blob requests therefore use the same TLS configuration as table and queue requests.
#[derive(Debug)]
struct Connector(Client);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

impl fmt::Debug for AzureBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureBlobs").field("endpoint", &self.0.endpoint).finish_non_exhaustive()
    }
}

/// Formats the client as the URL of its endpoint.
impl fmt::Display for AzureBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.endpoint)
    }
}
