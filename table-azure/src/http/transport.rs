//! Sends single requests over pooled connections, and limits the time and the size of each response.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Url};
use table_core::{Error, ErrorCode, Result};

use crate::endpoint::Endpoint;
use crate::http::fault::HttpFault;
use crate::http::{Answer, Runtime, tls};
use crate::testing::{Broken, Wire, WireRequest};

/// The maximum size of a response in bytes. A page of a query result has at most about 4 MiB, so a much larger response does not come from a table service.
const MOST_BYTES: usize = 64 << 20;
/// The maximum time for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A transport for requests. Clones share its connections and the runtime that drives them.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    link: Link,
    runtime: Arc<Runtime>,
}

#[derive(Clone, Debug)]
enum Link {
    /// Pooled connections and their settings.
    Http(Client, Settings),
    /// A substitute for connections in tests.
    Wire(Arc<dyn Wire>),
}

/// Connection settings for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `true` if connections use TLS.
    secure: bool,
    /// `true` if connections bypass proxies, as required for requests to this machine.
    direct: bool,
}

impl Settings {
    /// Returns the settings that an endpoint needs.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        Self { secure: endpoint.is_secure(), direct: endpoint.is_loopback() }
    }
}

impl Transport {
    /// Creates a pool of connections for attempts with the time limit `limit`.
    ///
    /// Opening a connection may take at most half of `limit`. If no connection can be opened, the attempt therefore fails before its limit expires. The client
    /// then knows that the request was not sent.
    ///
    /// # Errors
    /// `Io` if the system has no trusted certificates.
    pub(crate) fn new(settings: Settings, limit: Duration) -> Result<Self> {
        Ok(Self { link: Link::new(settings, limit)?, runtime: Arc::default() })
    }

    /// Returns a transport with the given settings on the same runtime. If this transport already has these settings, the two share their connections.
    ///
    /// # Errors
    /// `Io` if the system has no trusted certificates.
    pub(crate) fn with(&self, settings: Settings, limit: Duration) -> Result<Self> {
        let link = match &self.link {
            Link::Http(_, own) if *own != settings => Link::new(settings, limit)?,
            link => link.clone(),
        };
        Ok(Self { link, runtime: Arc::clone(&self.runtime) })
    }

    /// Returns the settings of the connections. Returns `None` if a test has replaced the connections with a substitute.
    #[cfg(test)]
    pub(crate) const fn settings(&self) -> Option<Settings> {
        match &self.link {
            Link::Http(_, settings) => Some(*settings),
            Link::Wire(_) => None,
        }
    }

    /// Creates a transport that uses a substitute for connections. Its calls use the timers of the caller's runtime.
    pub(crate) fn of_wire(wire: Arc<dyn Wire>) -> Self {
        Self { link: Link::Wire(wire), runtime: Arc::new(Runtime::of_callers()) }
    }

    /// Returns a transport whose calls use the timers of the caller's runtime.
    #[cfg(test)]
    pub(crate) fn with_timers_of_callers(self) -> Self {
        Self { runtime: Arc::new(Runtime::of_callers()), ..self }
    }

    /// Returns the runtime that drives the connections.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Creates an HTTP client for blobs. A request fails if the response, or the next part of it, does not arrive within `limit`.
    ///
    /// # Errors
    /// `Io` if the system has no trusted certificates.
    #[cfg(feature = "blobs")]
    pub(crate) fn of_blobs(endpoint: &Endpoint, limit: Duration) -> Result<Client> {
        build(client(Settings::of(endpoint), limit)?.read_timeout(limit))
    }

    /// Sends a request once and reads the complete response within the time limit.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Bytes,
        limit: Duration,
    ) -> std::result::Result<Answer, TransportError> {
        if limit.is_zero() {
            return Err(TransportError { sent: false, reason: Reason::NoTime });
        }
        let attempt = async {
            match &self.link {
                Link::Http(client, _) => {
                    let exchange = over_http(client.clone(), method, url, headers, body);
                    let unsent = |error| TransportError { sent: false, reason: Reason::Task(error) };
                    let exchange = self.runtime.start(exchange).map_err(unsent)?;
                    exchange.await.unwrap_or_else(|error| {
                        Err(TransportError { sent: true, reason: Reason::Task(error) })
                    })
                }
                Link::Wire(wire) => over_wire(wire.as_ref(), &method, url, &headers, body).await,
            }
        };
        // In a test with a paused clock, this prevents the clock from advancing during the attempt.
        #[cfg(test)]
        let attempt = crate::tests::under_way(attempt);
        tokio::time::timeout(limit, attempt)
            .await
            .unwrap_or(Err(TransportError { sent: true, reason: Reason::TimedOut(limit) }))
    }
}

impl Link {
    fn new(settings: Settings, limit: Duration) -> Result<Self> {
        Ok(Self::Http(build(client(settings, limit)?)?, settings))
    }
}

fn client(Settings { secure, direct }: Settings, limit: Duration) -> Result<ClientBuilder> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::config(secure)?)
        // Redirects are not followed, because that would send the signature to another host.
        .redirect(Policy::none())
        .connect_timeout(CONNECT.min(limit / 2))
        .user_agent(concat!("table-azure/", env!("CARGO_PKG_VERSION")));
    Ok(if direct { builder.no_proxy() } else { builder })
}

fn build(builder: ClientBuilder) -> Result<Client> {
    builder.build().map_err(|error| Error::of(HttpFault::Client(error.without_url())))
}

async fn over_http(
    client: Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
) -> std::result::Result<Answer, TransportError> {
    let request = client.request(method, url).headers(headers).body(body);
    let mut response = request.send().await.map_err(TransportError::from_reqwest)?;
    let length = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(length.unwrap_or_default().min(MOST_BYTES));
    let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
    while let Some(chunk) = response.chunk().await.map_err(TransportError::from_reqwest)? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(TransportError { sent: true, reason: Reason::TooLong });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, body })
}

async fn over_wire(
    wire: &dyn Wire,
    method: &Method,
    url: Url,
    headers: &HeaderMap,
    body: Bytes,
) -> std::result::Result<Answer, TransportError> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let request = WireRequest { method: method.to_string(), url: url.into(), headers, body };
    let answer = wire
        .send(request)
        .await
        .map_err(|broken| TransportError { sent: broken == Broken::AfterSending, reason: Reason::Broken })?;
    let header = |(name, value): (&'static str, String)| {
        Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
    };
    let headers = answer.headers.into_iter().filter_map(header).collect();
    Ok(Answer { status: answer.status, headers, body: answer.body })
}

/// The error for a request that received no response.
#[derive(Debug)]
pub(crate) struct TransportError {
    /// `true` if the service may have received the request.
    pub(crate) sent: bool,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    /// An error from the HTTP client. Its URL has been removed, because it may contain a SAS.
    Http(reqwest::Error),
    TimedOut(Duration),
    /// The operation had reached its deadline before the request was sent.
    NoTime,
    TooLong,
    /// The task sending the request could not be started, or ended without a result.
    Task(Error),
    /// A failure injected by a test.
    Broken,
}

impl TransportError {
    fn from_reqwest(error: reqwest::Error) -> Self {
        Self { sent: !error.is_connect() && !error.is_builder(), reason: Reason::Http(error.without_url()) }
    }

    /// Returns `true` if a retry may succeed.
    pub(crate) const fn is_transient(&self) -> bool {
        !matches!(self.reason, Reason::TooLong)
    }

    /// Converts the failure to an error with the given code. The source is the HTTP client's error, if any.
    pub(crate) fn into_error(self, operation: &str, code: ErrorCode) -> Error {
        let error = Error::new(code, format!("{operation}: {self}"));
        match self.reason {
            Reason::Http(source) => error.with_source(source),
            Reason::Task(source) => error.with_source(source),
            Reason::TimedOut(_) | Reason::NoTime | Reason::TooLong | Reason::Broken => error,
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Http(error) if error.is_connect() => f.write_str("no connection"),
            Reason::Http(error) if error.is_body() || error.is_decode() => {
                f.write_str("the response was cut off")
            }
            Reason::Http(_) => f.write_str("the connection broke before the response"),
            Reason::TimedOut(limit) => write!(f, "no complete response within {} s", limit.as_secs_f32()),
            Reason::Task(_) => f.write_str("the task of the request failed"),
            Reason::NoTime => f.write_str("the time limit expired before the request was sent"),
            Reason::Broken => f.write_str("the connection broke"),
            Reason::TooLong => write!(f, "the response is longer than {} MiB", MOST_BYTES >> 20),
        }
    }
}
