//! Signs, sends and retries requests.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use table_core::{Clock, Error, ErrorCode, Result};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::auth::{Scheme, SignedParts, print_http_date};
use crate::credential::{AccessToken, Credential};
use crate::failure::Failure;
use crate::http::{Answer, Doubt, Endpoint, Request, Transport};
use crate::retry::{RetryPolicy, jitter};

/// What a pipeline is made of.
#[derive(Clone, Debug)]
pub(crate) struct PipelineParts {
    pub(crate) primary: Endpoint,
    /// Where reads may go too (RTY-5).
    pub(crate) secondary: Option<Endpoint>,
    pub(crate) credential: Credential,
    pub(crate) scheme: Scheme,
    /// `x-ms-version`.
    pub(crate) version: &'static str,
    /// What bearer tokens are for (AUTH-12).
    pub(crate) scope: &'static str,
    pub(crate) retry: RetryPolicy,
    pub(crate) clock: Clock,
    /// Whether credentials may be sent over plain HTTP.
    pub(crate) plain: bool,
}

/// The way of every request of one service to the wire and back. Clones share connections.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    parts: PipelineParts,
    transport: Transport,
    token: Mutex<Option<AccessToken>>,
}

impl Pipeline {
    /// # Errors
    /// `Io` if the system has no certificates to trust; `InvalidInput` for an endpoint that must not see the credential.
    pub(crate) fn new(parts: PipelineParts) -> Result<Self> {
        let endpoints = || std::iter::once(&parts.primary).chain(&parts.secondary);
        endpoints().try_for_each(|endpoint| parts.credential.check_destination(endpoint, parts.plain))?;
        let secure = endpoints().any(Endpoint::is_secure);
        // A proxy is a way off this machine.
        let direct = endpoints().any(Endpoint::is_loopback);
        let transport = Transport::new(secure, direct, parts.retry.attempt)?;
        Ok(Self(Arc::new(Inner { parts, transport, token: Mutex::new(None) })))
    }

    /// The same for another endpoint alone, over the same connections.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that must not see the credential.
    pub(crate) fn at(&self, endpoint: Endpoint) -> Result<Self> {
        let known = &self.0.parts;
        known.credential.check_destination(&endpoint, known.plain)?;
        let parts = PipelineParts { primary: endpoint, secondary: None, ..self.0.parts.clone() };
        Ok(Self(Arc::new(Inner { parts, transport: self.0.transport.clone(), token: Mutex::new(None) })))
    }

    /// The service's endpoint.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.0.parts.primary
    }

    /// How attempts are repeated.
    pub(crate) fn retry(&self) -> &RetryPolicy {
        &self.0.parts.retry
    }

    /// Sends a request until there is an answer that does not ask for another attempt. Only a success (2xx) is `Ok`.
    pub(crate) async fn send(&self, request: &Request) -> std::result::Result<Answer, Failure> {
        let inner = &*self.0;
        let (reads, policy) = (request.reads(), &inner.parts.retry);
        let began = Instant::now();
        let (mut doubt, mut retry, mut trusts_secondary) = (None, 0, true);
        loop {
            let secondary =
                inner.parts.secondary.as_ref().filter(|_| reads && trusts_secondary && retry % 2 == 1);
            let endpoint = secondary.unwrap_or(&inner.parts.primary);
            let mut failure = match inner.attempt(request, endpoint).await {
                Ok(answer) if answer.is_success() => return Ok(Answer { doubt, ..answer }),
                Ok(answer) => Failure::of_answer(request.operation, &answer, inner.parts.clock.instant()),
                Err(failure) => failure,
            };
            if secondary.is_some() && failure.status == Some(404) {
                // It may only not have arrived there yet (RTY-5): the primary is asked at once.
                trusts_secondary = false;
                continue;
            }
            failure.doubt = doubt;
            if failure.ambiguous && !reads {
                doubt = Some(Doubt { began });
            }
            let delay = policy.delay(retry, jitter()).max(failure.after.unwrap_or_default());
            let in_time = began.elapsed().checked_add(delay).is_some_and(|end| end <= policy.total);
            if !failure.transient || retry >= policy.retries || !in_time {
                return Err(failure);
            }
            tracing::debug!(
                target: "table_azure::retry",
                operation = request.operation,
                status = failure.status,
                retry = retry + 1,
                delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                in_doubt = doubt.is_some(),
            );
            tokio::time::sleep(delay).await;
            retry += 1;
        }
    }
}

impl Inner {
    /// One attempt, signed anew with a new date (RTY-4).
    async fn attempt(&self, request: &Request, endpoint: &Endpoint) -> std::result::Result<Answer, Failure> {
        let (url, headers) = self.prepare(request, endpoint).await.map_err(Failure::of_error)?;
        let sent = self.transport.send(request.method.clone(), url, headers, request.body.clone());
        let answer =
            sent.await.map_err(|error| Failure::of_transport(request.operation, error, request.reads()))?;
        tracing::trace!(
            target: "table_azure::http",
            operation = request.operation,
            status = answer.status,
            sent = request.body.len(),
            received = answer.body.len(),
            request_id = answer.header("x-ms-request-id"),
        );
        Ok(answer)
    }

    async fn prepare(&self, request: &Request, endpoint: &Endpoint) -> Result<(Url, HeaderMap)> {
        let now = self.parts.clock.instant();
        let mut headers = request.headers.clone();
        headers.insert("x-ms-version", HeaderValue::from_static(self.parts.version));
        insert(&mut headers, "x-ms-date", &print_http_date(now))?;
        insert(&mut headers, "x-ms-client-request-id", &uuid::Uuid::new_v4().to_string())?;
        let query = match &self.parts.credential {
            Credential::SharedAccessSignature(own) if request.query.is_empty() => own.clone(),
            Credential::SharedAccessSignature(own) => format!("{}&{own}", request.query),
            _ => request.query.clone(),
        };
        let url = endpoint.url(&request.path, &query)?;
        let authorization = match &self.parts.credential {
            Credential::SharedAccessSignature(_) => return Ok((url, headers)),
            Credential::SharedKey(key) => {
                let method = request.method.as_str();
                let (path, query) = (url.path(), url.query().unwrap_or_default());
                let parts =
                    SignedParts { method, path, query, headers: &headers, length: request.body.len() };
                self.parts.scheme.authorization(key, parts)
            }
            Credential::Token(_) => format!("Bearer {}", self.token(now).await?),
        };
        insert(&mut headers, "authorization", &authorization)?;
        if let Some(value) = headers.get_mut("authorization") {
            value.set_sensitive(true);
        }
        Ok((url, headers))
    }

    /// The token in use, or a new one from five minutes before that one ends.
    async fn token(&self, now: DateTime<Utc>) -> Result<String> {
        const EARLY: TimeDelta = TimeDelta::minutes(5);
        let Credential::Token(provider) = &self.parts.credential else { return Ok(String::new()) };
        // Held while the provider is asked, so that it is asked once.
        let mut kept = self.token.lock().await;
        if let Some(token) = kept.as_ref().filter(|token| now + EARLY < token.expires_on) {
            return Ok(token.secret.clone());
        }
        let token = provider.token(self.parts.scope).await?;
        let secret = token.secret.clone();
        *kept = Some(token);
        Ok(secret)
    }
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) -> Result<()> {
    let value = HeaderValue::from_str(value).map_err(|_| {
        // What it holds may be a secret, so neither it nor the cause is repeated.
        Error::new(ErrorCode::InvalidInput, format!("the value of `{name}` cannot stand in a header"))
    })?;
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}
