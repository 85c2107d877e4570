//! HTTP dates: RFC 1123 in GMT with a two-digit day (AUTH-9).

use chrono::{DateTime, NaiveDateTime, Utc};

const FORMAT: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// An instant as HTTP writes it.
///
/// ```
/// use chrono::DateTime;
/// use table_wire::auth::print_http_date;
///
/// assert_eq!(print_http_date(DateTime::from_timestamp(1_795_161_600, 0).unwrap()), "Fri, 20 Nov 2026 08:00:00 GMT");
/// ```
#[must_use]
pub fn print_http_date(instant: DateTime<Utc>) -> String {
    instant.format(FORMAT).to_string()
}

/// Reads what [`print_http_date`] writes, which is what clients and servers send.
///
/// ```
/// use table_wire::auth::parse_http_date;
///
/// assert_eq!(parse_http_date("Fri, 20 Nov 2026 08:00:00 GMT").unwrap().timestamp(), 1_795_161_600);
/// assert_eq!(parse_http_date("20 Nov 2026"), None);
/// ```
#[must_use]
pub fn parse_http_date(text: &str) -> Option<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(text.trim(), FORMAT).ok().map(|instant| instant.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_9_two_digits_of_a_day() {
        for (instant, text) in [
            ("2026-11-20T08:00:00.9Z", "Fri, 20 Nov 2026 08:00:00 GMT"),
            ("2026-11-01T08:00:00Z", "Sun, 01 Nov 2026 08:00:00 GMT"),
        ] {
            assert_eq!(print_http_date(instant.parse().unwrap()), text);
            assert_eq!(
                parse_http_date(text).unwrap().timestamp(),
                instant.parse::<DateTime<Utc>>().unwrap().timestamp()
            );
        }
        assert_eq!(parse_http_date("20"), None);
    }
}
