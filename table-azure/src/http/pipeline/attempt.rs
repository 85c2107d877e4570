//! Makes a single attempt at a request: adds the date, signs the request and sends it.

use std::sync::Arc;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use table_core::store::WriteLease;
use table_core::{Error, Result};
use tokio::time::Instant;

use crate::auth::{SignedParts, print_http_date};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::fault::HttpFault;
use crate::http::pipeline::{Inner, Route};
use crate::http::runtime::Task;
use crate::http::tokens::Source;
use crate::http::{Answer, Failure, Request};

impl Inner {
    /// Makes one attempt. If the service rejects the bearer token, repeats the attempt once with a new token.
    ///
    /// For example, the local clock may be wrong, or the token may have been revoked. Repeating the attempt is safe, because the rejected request had no
    /// effect.
    pub(super) async fn attempt(
        &self,
        request: &Request,
        route: &Route,
        by: Instant,
    ) -> std::result::Result<Answer, Failure> {
        match self.exchange(request, route, by).await? {
            (Answer { status: 401, .. }, Some(token)) => {
                self.tokens.discard(&token);
                self.exchange(request, route, by).await.map(|(answer, _)| answer)
            }
            (answer, _) => Ok(answer),
        }
    }

    /// Sends the request once, with a new date and signature (RTY-4). Returns the response and the bearer token that was used.
    async fn exchange(
        &self,
        request: &Request,
        route: &Route,
        by: Instant,
    ) -> std::result::Result<(Answer, Option<String>), Failure> {
        // The deadline also covers obtaining a token, because a token provider may be slow.
        let prepared = tokio::time::timeout_at(by, self.prepare(request, &route.endpoint)).await;
        let (url, headers, token) =
            prepared.unwrap_or_else(|_| Err(no_credential())).map_err(Failure::of_error)?;
        let mut limit = self.parts.retry.attempt_timeout.min(by.saturating_duration_since(Instant::now()));
        if let Some(lease) = &request.lease {
            // IMPORTANT: The lease must be checked here. It may have ended while the token was being obtained, and connecting may also take a long time.
            let Some(remaining) = lease.remaining() else {
                return Err(Failure::of_error(WriteLease::ended(None)));
            };
            limit = limit.min(remaining + WriteLease::ATTEMPT);
        }
        let sent = route.transport.send(request.method.clone(), url, headers, request.body.clone(), limit);
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
                let start = |renewal| self.primary.transport.runtime().start(renewal).map(Task::detach);
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
