//! A service's answer, whole, and what is known about the attempts before it.

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::HeaderMap;
use tokio::time::Instant;

use crate::auth::parse_http_date;

/// That an earlier attempt of the same request may have been applied, though no answer told so (CON-11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubt {
    /// When the first attempt began.
    pub(crate) began: Instant,
}

/// How far a service's `Date`, in whole seconds, may lie from the Timestamps that it gives.
const SKEW: TimeDelta = TimeDelta::seconds(2);

impl Doubt {
    /// The earliest Timestamp that the first attempt can have given, by the service's own clock: what its answer says is
    /// now, less the time since. `None` if the answer has no date.
    pub(crate) fn earliest(self, answer: &Answer) -> Option<DateTime<Utc>> {
        let since = TimeDelta::from_std(self.began.elapsed()).ok()?;
        answer.date()?.checked_sub_signed(since)?.checked_sub_signed(SKEW)
    }
}

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the operation may have been applied before the attempt that this is the answer of.
    pub(crate) doubt: Option<Doubt>,
}

impl Answer {
    /// A header as text; empty if it is missing or no text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Whether the service did what was asked (2xx).
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The service's clock when it answered.
    pub(crate) fn date(&self) -> Option<DateTime<Utc>> {
        parse_http_date(self.header("date"))
    }
}
