//! Signs, sends and retries requests.

mod attempt;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::runtime::Runtime;
use table_core::store::WriteLease;
use table_core::{Clock, Result};
use tokio::time::Instant;

use crate::auth::Scheme;
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::runtime::Runtime as Driver;
use crate::http::tokens::Tokens;
use crate::http::{Answer, Failure, Request, Settings, Transport};
use crate::retry::{Budget, RetryPolicy, fraction};
use crate::testing::Testing;

/// The components and settings of a pipeline.
#[derive(Clone, Debug)]
pub(crate) struct PipelineParts {
    pub(crate) primary: Endpoint,
    pub(crate) credential: Credential,
    pub(crate) scheme: Scheme,
    /// The value of `x-ms-version`.
    pub(crate) version: &'static str,
    /// The scope for which bearer tokens are requested (AUTH-12).
    pub(crate) scope: &'static str,
    pub(crate) retry: RetryPolicy,
    pub(crate) clock: Clock,
    /// `true` if credentials may be sent over plain HTTP to other machines.
    pub(crate) plain: bool,
    pub(crate) testing: Testing,
}

/// A pipeline that signs, sends and retries the requests of one service. Clones share connections and the retry budget.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    parts: PipelineParts,
    primary: Route,
    /// The route to the secondary endpoint, which is used only for reads (RTY-5).
    secondary: Option<Route>,
    tokens: Tokens,
    budget: Budget,
    /// The source of randomness for backoff delays.
    pace: Runtime,
}

/// An endpoint, and connections with suitable TLS and proxy settings.
#[derive(Clone, Debug)]
struct Route {
    endpoint: Endpoint,
    transport: Transport,
}

impl Pipeline {
    /// Creates a pipeline with new connections.
    ///
    /// # Errors
    /// `Io` if the system has no trusted certificates. `InvalidInput` if the credential must not be sent to the endpoint.
    pub(crate) fn new(parts: PipelineParts) -> Result<Self> {
        parts.credential.check_destination(&parts.primary, parts.plain)?;
        let transport = match &parts.testing.wire {
            Some(wire) => Transport::of_wire(Arc::clone(wire)),
            None => Transport::new(Settings::of(&parts.primary), parts.retry.attempt_timeout)?,
        };
        #[cfg(test)]
        let transport =
            if parts.testing.has_own_timers { transport } else { transport.with_timers_of_callers() };
        let primary = Route { endpoint: parts.primary.clone(), transport };
        Ok(Self::of(parts, primary, None))
    }

    fn of(parts: PipelineParts, primary: Route, secondary: Option<Route>) -> Self {
        let budget = Budget::new(parts.retry.budget);
        let pace = parts.testing.seed.map_or_else(Runtime::new, |seed| Runtime::new().seed(seed));
        Self(Arc::new(Inner { parts, primary, secondary, tokens: Tokens::default(), budget, pace }))
    }

    /// Returns a pipeline for another endpoint, without a secondary. If both endpoints need the same settings, the pipelines share their connections.
    ///
    /// # Errors
    /// `InvalidInput` if the credential must not be sent to the endpoint.
    pub(crate) fn at(&self, endpoint: Endpoint) -> Result<Self> {
        let primary = self.route(endpoint)?;
        let parts = PipelineParts { primary: primary.endpoint.clone(), ..self.0.parts.clone() };
        Ok(Self::of(parts, primary, None))
    }

    /// Returns a pipeline that also sends reads to a secondary endpoint.
    ///
    /// # Errors
    /// `InvalidInput` if the credential must not be sent to the secondary endpoint.
    pub(crate) fn or_at(&self, secondary: Endpoint) -> Result<Self> {
        let secondary = self.route(secondary)?;
        Ok(Self::of(self.0.parts.clone(), self.0.primary.clone(), Some(secondary)))
    }

    fn route(&self, endpoint: Endpoint) -> Result<Route> {
        let parts = &self.0.parts;
        parts.credential.check_destination(&endpoint, parts.plain)?;
        let transport =
            self.0.primary.transport.with(Settings::of(&endpoint), parts.retry.attempt_timeout)?;
        Ok(Route { endpoint, transport })
    }

    /// Returns the runtime that drives the connections. Pipelines that share connections also share the runtime.
    pub(crate) fn runtime(&self) -> &Driver {
        self.0.primary.transport.runtime()
    }

    /// Returns the connection settings of the primary and the secondary endpoint.
    #[cfg(test)]
    pub(crate) fn settings(&self) -> (Option<Settings>, Option<Settings>) {
        let of = |route: &Route| route.transport.settings();
        (of(&self.0.primary), self.0.secondary.as_ref().and_then(of))
    }

    /// Returns the primary endpoint.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.0.parts.primary
    }

    /// Returns the retry policy.
    pub(crate) fn retry(&self) -> &RetryPolicy {
        &self.0.parts.retry
    }

    /// Returns the deadline for an operation that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        let now = Instant::now();
        // If the time limit exceeds the clock's range, use a deadline that never passes in practice.
        now.checked_add(self.0.parts.retry.operation_timeout).unwrap_or_else(|| now + FOREVER)
    }

    /// Sends a request, and retries it after transient failures. Returns `Ok` only for a success response (2xx).
    pub(crate) async fn send(&self, request: &Request) -> std::result::Result<Answer, Failure> {
        self.send_by(request, self.deadline()).await
    }

    /// Sends a request like [`send`](Self::send), but with the deadline of the operation it belongs to.
    pub(crate) async fn send_by(
        &self,
        request: &Request,
        by: Instant,
    ) -> std::result::Result<Answer, Failure> {
        self.send_and_read(request, by, Ok).await
    }

    /// Sends a request, and parses its success response with `read`.
    ///
    /// If `read` returns a failure, the attempt counts as failed. It is retried if the failure is transient.
    pub(crate) async fn send_and_read<T>(
        &self,
        request: &Request,
        by: Instant,
        read: impl Fn(Answer) -> std::result::Result<T, Failure>,
    ) -> std::result::Result<T, Failure> {
        let inner = &*self.0;
        let reads = request.reads();
        let (mut previous, mut retry, mut trusts_secondary) = (None::<Failure>, 0, true);
        loop {
            let secondary = inner.secondary.as_ref().filter(|_| reads && trusts_secondary && retry % 2 == 1);
            let route = secondary.unwrap_or(&inner.primary);
            let mut failure = match inner.attempt(request, route, by).await {
                Ok(answer) if answer.is_success() && request.is_acknowledged_by(answer.status) => {
                    match read(answer) {
                        Ok(content) => {
                            inner.budget.give_back(retry > 0);
                            return Ok(content);
                        }
                        Err(failure) => failure,
                    }
                }
                Ok(answer) if answer.is_success() => Failure::of_page(request.operation, answer.status),
                Ok(answer) => Failure::of_answer(request, &answer, inner.parts.clock.instant()),
                Err(failure) => failure,
            };
            if secondary.is_some() && !failure.transient {
                // A rejection by the secondary is not final. The entity may not have been replicated yet (RTY-5), the secondary may be disabled, or it may not
                // accept the credential. The read is sent to the primary without a delay.
                trusts_secondary = false;
                continue;
            }
            if WriteLease::has_ended(&failure.error) {
                // This attempt has not sent anything.
                return Err(previous.map_or(failure, Failure::of_ended_lease));
            }
            failure.into_ambiguous |= previous.is_some_and(|previous| previous.into_ambiguous && !reads);
            if !failure.transient {
                // Only transient failures use up the budget. Any other result replenishes it.
                inner.budget.give_back(retry > 0);
                return Err(failure);
            }
            if !self.back_off(request.operation, (failure.status, failure.after), retry, by).await {
                return Err(failure);
            }
            previous = Some(failure);
            retry += 1;
        }
    }

    /// Returns the current time according to the client's clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.0.parts.clock.instant()
    }

    /// Waits for the backoff delay before a retry. Returns `false` if the policy, the deadline or the budget does not permit another attempt.
    async fn back_off(
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
