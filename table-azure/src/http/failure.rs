//! Classifies failed attempts by error code, by whether a retry may succeed, and by whether the outcome is known.

use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::store::WriteLease;
use table_core::{Error, ErrorCode};
use table_wire::ErrorBody;

use crate::failure::{AnswerFault, ServiceError, error_code};
use crate::http::{Answer, Request, TransportError};
use crate::retry::retry_after;

/// A JSON member that occurs only in error bodies of table services (ERR-1).
const ODATA: &[u8] = b"\"odata.error\"";

/// The failure of an attempt. If several attempts failed, it describes the last one.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// The HTTP status, or `None` if no response was received.
    pub(crate) status: Option<u16>,
    /// `true` if the response was recognised as a service error.
    pub(crate) known: bool,
    /// `true` if a retry may succeed (RTY-1).
    pub(crate) transient: bool,
    /// `true` if this attempt or an earlier one may have been applied (CON-11).
    ///
    /// A later rejection does not clear the flag. The earlier attempt may have caused the rejection, or may have been applied before the cause arose.
    pub(crate) into_ambiguous: bool,
    /// The delay that the service requested before the next attempt (RTY-3).
    pub(crate) after: Option<Duration>,
}

impl Failure {
    /// Creates the failure for a response with an error status.
    pub(crate) fn of_answer(request: &Request, answer: &Answer, now: DateTime<Utc>) -> Self {
        let operation = request.operation;
        let body = ErrorBody::read(&answer.body);
        let service = ServiceError::new(operation, answer.status, |name| answer.header(name), &body);
        // Gateways for other APIs send errors of the form `{"error": …}`.
        let is_odata = answer.body.windows(ODATA.len()).any(|window| window == ODATA);
        let known = body.known && (is_odata || service.request_id().is_some());
        let is_foreign = service.code().is_none() || body.known && !known;
        // These statuses report the state of a table or an entity. A proxy cannot know this state, so its error page is not trusted. An empty body is trusted,
        // except for `create table`: its callers treat an existing table as created, so a wrong status would be reported as success.
        let is_page = !answer.body.is_empty() || operation == "create table";
        if matches!(answer.status, 404 | 409 | 412) && is_foreign && is_page {
            return Self { into_ambiguous: false, ..Self::of_page(operation, answer.status) };
        }
        let after = retry_after(&answer.headers, now);
        Self { after, ..Self::of_rejection(service, known, request.reads()) }
    }

    /// Creates the failure for a rejected request, or for a rejected part of a batch.
    ///
    /// `known` is `true` if the response was recognised as a service error. `reads` is `true` if the request only reads.
    pub(crate) fn of_rejection(service: ServiceError, known: bool, reads: bool) -> Self {
        let status = service.status();
        let code = of_request(error_code(status, service.code(), service.operation()), reads);
        // A throttled request is rejected before it has any effect. A 503 without a service error may come from a gateway instead.
        let throttled = status == 429 || service.code() == Some("ServerBusy");
        let transient = matches!(status, 408 | 429 | 500 | 502 | 503 | 504);
        // A gateway may respond with its own 5xx status (507, 520 to 527, 598) after it has forwarded the request.
        let of_gateway = status >= 500 && !known;
        Self {
            error: Error::new(code, service.summary()).with_source(service),
            status: Some(status),
            known,
            transient,
            into_ambiguous: (transient || of_gateway) && !throttled,
            after: None,
        }
    }

    /// Creates the failure for a page from elsewhere, such as a captive portal. The service may still have received the request.
    pub(crate) fn of_page(operation: &str, status: u16) -> Self {
        let fault = AnswerFault::Status { operation: operation.to_owned(), status };
        Self { into_ambiguous: true, status: Some(status), ..Self::of_error(Error::of(fault)) }
    }

    /// Creates the failure for an unreadable service response.
    pub(crate) fn of_unreadable(fault: AnswerFault) -> Self {
        Self { into_ambiguous: true, ..Self::of_error(Error::of(fault)) }
    }

    /// Creates the failure for a request that received no response.
    pub(crate) fn of_transport(operation: &'static str, error: TransportError, reads: bool) -> Self {
        let (transient, sent) = (error.is_transient(), error.sent);
        let code = if sent { ErrorCode::OperationTimedOut } else { ErrorCode::Io };
        let code = if reads && !transient { ErrorCode::InvalidInput } else { of_request(code, reads) };
        Self {
            error: error.into_error(operation, code),
            status: None,
            known: false,
            transient,
            into_ambiguous: sent,
            after: None,
        }
    }

    /// Creates the failure for a client-side error that occurred before anything was sent.
    pub(crate) fn of_error(error: Error) -> Self {
        let (status, known, transient, into_ambiguous) = (None, false, false, false);
        Self { error, status, known, transient, into_ambiguous, after: None }
    }

    /// Returns the failure of a request whose lease ended before a retry. If the request may have been applied, this is `self`. Otherwise, it is the lease
    /// error.
    pub(crate) fn of_ended_lease(self) -> Self {
        if self.into_ambiguous { self } else { Self::of_error(WriteLease::ended(Some(self.error))) }
    }

    /// Returns the error. For a write that may have been applied, the error is ambiguous whatever the last response was (CON-11).
    pub(crate) fn into_error(self, reads: bool) -> Error {
        if reads || !self.into_ambiguous { self.error } else { self.error.into_ambiguous() }
    }
}

/// Returns the error code for a request. A read gets the code of a request that was not sent, because a lost response never makes a read ambiguous (CON-11).
fn of_request(code: ErrorCode, reads: bool) -> ErrorCode {
    if reads && code == ErrorCode::OperationTimedOut { ErrorCode::Io } else { code }
}
