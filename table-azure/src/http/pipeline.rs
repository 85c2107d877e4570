//! Signs, sends and retries requests.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use table_core::runtime::Runtime;
use table_core::{Clock, Error, Result};
use tokio::time::Instant;

use crate::auth::{Scheme, SignedParts, print_http_date};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::fault::HttpFault;
use crate::http::runtime::{Runtime as Driver, Task};
use crate::http::tokens::{Source, Tokens};
use crate::http::{Answer, Failure, Request, Transport};
use crate::retry::{Budget, RetryPolicy, fraction};
use crate::testing::Testing;

/// The parts from which a pipeline is created.
#[derive(Clone, Debug)]
pub(crate) struct PipelineParts {
    pub(crate) primary: Endpoint,
    /// The secondary endpoint, for reads (RTY-5).
    pub(crate) secondary: Option<Endpoint>,
    pub(crate) credential: Credential,
    pub(crate) scheme: Scheme,
    /// The value of `x-ms-version`.
    pub(crate) version: &'static str,
    /// The scope of bearer tokens (AUTH-12).
    pub(crate) scope: &'static str,
    pub(crate) retry: RetryPolicy,
    pub(crate) clock: Clock,
    /// `true` if credentials may be sent over plain HTTP.
    pub(crate) plain: bool,
    pub(crate) testing: Testing,
}

/// A pipeline that signs, sends and retries the requests of one service. Clones share connections and the retry budget.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    parts: PipelineParts,
    transport: Transport,
    tokens: Tokens,
    budget: Budget,
    /// The source of random numbers.
    pace: Runtime,
}

impl Pipeline {
    /// Creates a pipeline with new connections.
    ///
    /// # Errors
    /// `Io` if the system has no trusted certificates. `InvalidInput` for an endpoint that must not receive the credential.
    pub(crate) fn new(parts: PipelineParts) -> Result<Self> {
        let endpoints = || std::iter::once(&parts.primary).chain(&parts.secondary);
        endpoints().try_for_each(|endpoint| parts.credential.check_destination(endpoint, parts.plain))?;
        let secure = endpoints().any(Endpoint::is_secure);
        // Requests to this machine must not go through a proxy.
        let direct = endpoints().any(Endpoint::is_loopback);
        let transport = match &parts.testing.wire {
            Some(wire) => Transport::of_wire(Arc::clone(wire)),
            None => Transport::new(secure, direct, parts.retry.attempt_timeout)?,
        };
        Ok(Self::of(parts, transport))
    }

    fn of(parts: PipelineParts, transport: Transport) -> Self {
        let budget = Budget::new(parts.retry.budget);
        let pace = parts.testing.seed.map_or_else(Runtime::new, |seed| Runtime::new().seed(seed));
        Self(Arc::new(Inner { parts, transport, tokens: Tokens::default(), budget, pace }))
    }

    /// Returns a pipeline for a different endpoint, with the same connections and without a secondary.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that must not receive the credential.
    pub(crate) fn at(&self, endpoint: Endpoint) -> Result<Self> {
        self.with(endpoint, None)
    }

    /// Returns a pipeline that also reads from a secondary endpoint, with the same connections.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that must not receive the credential.
    pub(crate) fn or_at(&self, secondary: Endpoint) -> Result<Self> {
        self.with(self.endpoint().clone(), Some(secondary))
    }

    fn with(&self, primary: Endpoint, secondary: Option<Endpoint>) -> Result<Self> {
        let parts = PipelineParts { primary, secondary, ..self.0.parts.clone() };
        let known = [Some(&parts.primary), parts.secondary.as_ref()];
        known
            .into_iter()
            .flatten()
            .try_for_each(|endpoint| parts.credential.check_destination(endpoint, parts.plain))?;
        Ok(Self::of(parts, self.0.transport.clone()))
    }

    /// Returns the runtime of the connections. Pipelines that share connections also share it.
    pub(crate) fn runtime(&self) -> &Driver {
        self.0.transport.runtime()
    }

    /// Returns the primary endpoint.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.0.parts.primary
    }

    /// Returns the retry policy.
    pub(crate) fn retry(&self) -> &RetryPolicy {
        &self.0.parts.retry
    }

    /// Returns the deadline of an operation that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        let now = Instant::now();
        // A time limit that overflows the clock never expires.
        now.checked_add(self.0.parts.retry.operation_timeout).unwrap_or_else(|| now + FOREVER)
    }

    /// Sends a request, and retries it while its failures are transient. Returns `Ok` only for a success (2xx).
    pub(crate) async fn send(&self, request: &Request) -> std::result::Result<Answer, Failure> {
        self.send_by(request, self.deadline()).await
    }

    /// Sends a request with the deadline of an operation that started earlier.
    pub(crate) async fn send_by(
        &self,
        request: &Request,
        by: Instant,
    ) -> std::result::Result<Answer, Failure> {
        let inner = &*self.0;
        let reads = request.reads();
        let (mut doubt, mut retry, mut trusts_secondary) = (false, 0, true);
        loop {
            let secondary =
                inner.parts.secondary.as_ref().filter(|_| reads && trusts_secondary && retry % 2 == 1);
            let endpoint = secondary.unwrap_or(&inner.parts.primary);
            let mut failure = match inner.attempt(request, endpoint, by).await {
                Ok(answer) if answer.is_success() && request.is_acknowledged_by(answer.status) => {
                    inner.budget.give_back(retry > 0);
                    return Ok(Answer { into_ambiguous: doubt, ..answer });
                }
                Ok(answer) if answer.is_success() => Failure::of_page(request.operation, answer.status),
                Ok(answer) => Failure::of_answer(request.operation, &answer, inner.parts.clock.instant()),
                Err(failure) => failure,
            };
            if secondary.is_some() && failure.status == Some(404) {
                // The entity may not have been replicated to the secondary yet (RTY-5), so the primary is read immediately.
                trusts_secondary = false;
                continue;
            }
            failure.into_ambiguous |= doubt;
            if !failure.transient {
                // A response from the service replenishes the budget.
                inner.budget.give_back(retry > 0);
                return Err(failure);
            }
            doubt = failure.into_ambiguous && !reads;
            if !self.back_off(request.operation, (failure.status, failure.after), retry, by).await {
                return Err(failure);
            }
            retry += 1;
        }
    }

    /// Returns the current time by the client's clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.0.parts.clock.instant()
    }

    /// Waits before a retry. Returns `false` if the policy, the deadline or the budget permits no further attempt.
    pub(crate) async fn back_off(
        &self,
        operation: &'static str,
        (status, after): (Option<u16>, Option<Duration>),
        retry: u32,
        by: Instant,
    ) -> bool {
        let (inner, policy) = (&*self.0, &self.0.parts.retry);
        let delay = policy.delay(retry, fraction(inner.pace.random())).max(after.unwrap_or_default());
        let in_time = Instant::now().checked_add(delay).is_some_and(|next| next < by);
        if retry >= policy.max_retries || !in_time || !inner.budget.take() {
            return false;
        }
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(target: "table_azure::retry", operation, status, retry = retry + 1, delay_ms);
        tokio::time::sleep(delay).await;
        true
    }
}

/// A duration longer than any operation.
const FOREVER: Duration = Duration::from_secs(24 * 365 * 60 * 60);

impl Inner {
    /// Makes one attempt. A bearer token that the service refuses is renewed once within the attempt: the clock by which it appeared valid may be wrong,
    /// or it was revoked. The refused request had no effect.
    async fn attempt(
        &self,
        request: &Request,
        endpoint: &Endpoint,
        by: Instant,
    ) -> std::result::Result<Answer, Failure> {
        match self.exchange(request, endpoint, by).await? {
            (Answer { status: 401, .. }, Some(token)) => {
                self.tokens.discard(&token);
                self.exchange(request, endpoint, by).await.map(|(answer, _)| answer)
            }
            (answer, _) => Ok(answer),
        }
    }

    /// Sends the request once, with a new date and signature (RTY-4). Returns the bearer token with the response.
    async fn exchange(
        &self,
        request: &Request,
        endpoint: &Endpoint,
        by: Instant,
    ) -> std::result::Result<(Answer, Option<String>), Failure> {
        // The time limit includes the token, because a token provider may be slow.
        let prepared = tokio::time::timeout_at(by, self.prepare(request, endpoint)).await;
        let (url, headers, token) =
            prepared.unwrap_or_else(|_| Err(no_credential())).map_err(Failure::of_error)?;
        let limit = self.parts.retry.attempt_timeout.min(by.saturating_duration_since(Instant::now()));
        let sent = self.transport.send(request.method.clone(), url, headers, request.body.clone(), limit);
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
        Ok((answer, token))
    }

    async fn prepare(
        &self,
        request: &Request,
        endpoint: &Endpoint,
    ) -> Result<(Url, HeaderMap, Option<String>)> {
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
        let (authorization, token) = match &self.parts.credential {
            Credential::SharedAccessSignature(_) => return Ok((url, headers, None)),
            Credential::SharedKey(key) => {
                let method = request.method.as_str();
                let (path, query) = (url.path(), url.query().unwrap_or_default());
                let parts =
                    SignedParts { method, path, query, headers: &headers, length: request.body.len() };
                (self.parts.scheme.authorization(key, parts), None)
            }
            Credential::Token(provider) => {
                let source = Source {
                    provider: Arc::clone(provider),
                    scope: self.parts.scope,
                    clock: self.parts.clock.clone(),
                    limit: self.parts.retry.operation_timeout,
                };
                let start = |renewal| self.transport.runtime().start(renewal).map(Task::detach);
                let token = self.tokens.token(&source, start).await?;
                (format!("Bearer {token}"), Some(token))
            }
        };
        insert(&mut headers, "authorization", &authorization)?;
        if let Some(value) = headers.get_mut("authorization") {
            value.set_sensitive(true);
        }
        Ok((url, headers, token))
    }
}

fn no_credential() -> Error {
    Error::of(HttpFault::NoToken)
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) -> Result<()> {
    let value = HeaderValue::from_str(value).map_err(|_| Error::of(HttpFault::Header(name)))?;
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}
