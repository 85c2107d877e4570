//! Classification of one failed attempt: whether it may have been applied, whether to retry, and its error.

use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::{Error, ErrorCode};
use table_wire::ErrorBody;

use crate::failure::{ServiceError, error_code};
use crate::http::{Answer, TransportError};
use crate::retry::retry_after;

/// A failed attempt, or the last of several.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// The status; `None` without an answer.
    pub(crate) status: Option<u16>,
    /// The service's own words, if it answered in them.
    pub(crate) known: bool,
    /// Whether another attempt may do better (RTY-1).
    pub(crate) transient: bool,
    /// Whether this attempt, or one before it, may have been applied (CON-11). A refusal does not end that: an earlier attempt may be its
    /// reason, or have been made before that reason came about.
    pub(crate) into_ambiguous: bool,
    /// How long the service asks to wait (RTY-3).
    pub(crate) after: Option<Duration>,
}

impl Failure {
    /// A refusal.
    pub(crate) fn of_answer(operation: &'static str, answer: &Answer, now: DateTime<Utc>) -> Self {
        let body = ErrorBody::read(&answer.body);
        let service = ServiceError::new(operation, answer.status, |name| answer.header(name), &body);
        let code = error_code(answer.status, service.code(), operation);
        let transient = matches!(answer.status, 408 | 429 | 500 | 502 | 503 | 504);
        // Throttling refuses before it does anything; a 503 that is not in the service's words may be a gateway's.
        let throttled = answer.status == 429 || service.code() == Some("ServerBusy");
        Self {
            error: Error::new(code, service.summary()).with_source(service),
            status: Some(answer.status),
            known: body.known,
            transient,
            into_ambiguous: transient && !throttled,
            after: retry_after(&answer.headers, now),
        }
    }

    /// No answer.
    pub(crate) fn of_transport(operation: &'static str, error: TransportError, reads: bool) -> Self {
        let (transient, sent) = (error.is_transient(), error.sent);
        let code = if sent { ErrorCode::OperationTimedOut } else { ErrorCode::Io };
        let code = if reads && !transient { ErrorCode::InvalidInput } else { code };
        Self {
            error: error.into_error(operation, code),
            status: None,
            known: false,
            transient,
            into_ambiguous: sent,
            after: None,
        }
    }

    /// A fault on our side, before anything was sent.
    pub(crate) fn of_error(error: Error) -> Self {
        let (status, known, transient, into_ambiguous) = (None, false, false, false);
        Self { error, status, known, transient, into_ambiguous, after: None }
    }

    /// The error to return. A write that may have been applied says so, regardless of the last answer (CON-11).
    pub(crate) fn into_error(self, reads: bool) -> Error {
        if reads || !self.into_ambiguous { self.error } else { self.error.into_ambiguous() }
    }
}
