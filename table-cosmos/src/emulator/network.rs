//! A scripted network between the Azure SDK and the emulator.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use azure_core::http::headers::Headers;
use azure_data_cosmos_driver::CosmosError;
use azure_data_cosmos_driver::diagnostics::RequestSentStatus;
use azure_data_cosmos_driver::error::status_codes::{TRANSPORT_CONNECTION_FAILED, TRANSPORT_IO_FAILED};
use azure_data_cosmos_driver::test::{
    ConnectionPoolOptions, HttpClientConfig, HttpClientFactory, HttpRequest, HttpResponse, TransportClient,
    TransportError,
};
use tokio::time::timeout;

use crate::emulator::Answer;

/// The time limit for a response if the Azure SDK does not set one.
const TIMEOUT: Duration = Duration::from_secs(65);

/// A network between a client and the account. It delivers or loses each request and each response.
///
/// ```
/// use table_cosmos::emulator::{Broken, Delivery, Emulator, Network, Request};
///
/// /// A network that loses the response to every write.
/// #[derive(Debug)]
/// struct Lossy(Emulator);
///
/// impl Network for Lossy {
///     fn deliver(&self, request: Request) -> Delivery {
///         let account = self.0.clone();
///         Box::pin(async move {
///             let answer = account.receive(&request).await;
///             if request.is_write() { Err(Broken::AfterSending) } else { answer }
///         })
///     }
/// }
/// ```
pub trait Network: fmt::Debug + Send + Sync {
    /// Delivers a request, or loses the request or its response.
    fn deliver(&self, request: Request) -> Delivery;
}

/// The pending outcome of one request.
pub type Delivery = Pin<Box<dyn Future<Output = Result<Answer, Broken>> + Send>>;

/// A request sent by the client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// The path and query of the URL.
    pub target: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The request body.
    pub body: Vec<u8>,
}

/// The error for a broken connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// No connection could be opened.
    BeforeSending,
    /// The request may have been sent, but no response arrived.
    AfterSending,
}

impl Request {
    /// Returns the value of a header. The name must be in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns `true` if the request changes items.
    #[must_use]
    pub fn is_write(&self) -> bool {
        let is_query =
            self.header("x-ms-documentdb-isquery").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        self.method != "GET" && self.target.contains("/docs") && !is_query
    }

    fn of(request: &HttpRequest) -> Self {
        let query = request.url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let headers = request.headers.iter();
        Self {
            method: request.method.as_str().to_owned(),
            target: format!("{}{query}", request.url.path()),
            headers: headers
                .map(|(name, value)| (name.as_str().to_ascii_lowercase(), value.as_str().to_owned()))
                .collect(),
            body: request.body.as_ref().map(|body| body.to_vec()).unwrap_or_default(),
        }
    }
}

/// A transport for the Azure SDK that delivers requests over a [`Network`].
#[derive(Clone, Debug)]
pub(super) struct Transport(pub(super) Arc<dyn Network>);

impl HttpClientFactory for Transport {
    fn build(
        &self,
        _: &ConnectionPoolOptions,
        _: HttpClientConfig,
    ) -> Result<Arc<dyn TransportClient>, CosmosError> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait::async_trait]
impl TransportClient for Transport {
    async fn send(&self, request: &HttpRequest) -> Result<HttpResponse, TransportError> {
        let limit = request.timeout.unwrap_or(TIMEOUT);
        let delivered = timeout(limit, self.0.deliver(Request::of(request))).await;
        let answer = delivered.unwrap_or(Err(Broken::AfterSending)).map_err(|broken| {
            let (status, sent) = match broken {
                Broken::BeforeSending => (TRANSPORT_CONNECTION_FAILED, RequestSentStatus::NotSent),
                Broken::AfterSending => (TRANSPORT_IO_FAILED, RequestSentStatus::Unknown),
            };
            let error = CosmosError::builder().with_status(status).with_message("the connection broke");
            TransportError::new(error.build(), sent)
        })?;
        let mut headers = Headers::new();
        for (name, value) in answer.headers {
            headers.insert(name, value);
        }
        Ok(HttpResponse { status: answer.status, headers, body: answer.body })
    }
}
