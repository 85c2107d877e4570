//! Parses `Retry-After`, as seconds or as a date (RTY-3).

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::HeaderMap;

use crate::auth::parse_http_date;

/// Returns the delay from `x-ms-retry-after-ms` or, if that header is missing or invalid, from `Retry-After`. Returns `None` if neither header is valid.
///
/// `Retry-After` contains seconds or a date. A date is compared with the `Date` header of the response, or with the client's time `now` if there is none.
pub(crate) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    // Cosmos DB sends fractions of a millisecond.
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..=1e12).contains(number));
    if let Some(millis) = text("x-ms-retry-after-ms").and_then(number) {
        return Some(Duration::from_secs_f64(millis / 1_000.0));
    }
    let after = text("retry-after")?;
    if let Some(seconds) = number(after) {
        return Some(Duration::from_secs_f64(seconds));
    }
    // A date is compared with the service's clock if the response has a `Date` header.
    let now = text("date").and_then(parse_http_date).unwrap_or(now);
    let until = parse_http_date(after)?.signed_duration_since(now);
    Some(until.to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{DATE, HeaderName, HeaderValue};

    #[test]
    fn rty_3_seconds_milliseconds_and_dates() {
        let (date, now) = (HeaderValue::from_static("Fri, 20 Nov 2026 08:00:00 GMT"), "2026-11-20T08:00:00Z");
        // If the response has a `Date` header, the result does not depend on the client's clock.
        let clocks =
            [(None, now), (Some(&date), "2026-11-20T07:50:00Z"), (Some(&date), "2026-11-20T08:10:00Z")];
        for (name, value, expected) in [
            ("retry-after", "3", Some(3_000)),
            ("retry-after", "Fri, 20 Nov 2026 08:00:05 GMT", Some(5_000)),
            ("retry-after", "Fri, 20 Nov 2026 07:59:05 GMT", Some(0)),
            ("x-ms-retry-after-ms", "9.5", Some(9)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("other", "3", None),
        ] {
            let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
            for (date, now) in clocks {
                let mut headers = HeaderMap::from_iter([(name.clone(), value.clone())]);
                headers.extend(date.map(|date| (DATE, date.clone())));
                let found = retry_after(&headers, now.parse().unwrap()).map(|delay| delay.as_millis());
                assert_eq!(found, expected, "{name}: {value:?}, client at {now}");
            }
        }
    }
}
