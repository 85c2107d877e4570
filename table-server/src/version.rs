//! Service API versions.

use chrono::NaiveDate;

/// The protocol version applied to every request and stated in every response, regardless of the version in the request.
pub(crate) const VERSION: &str = "2026-06-06";

/// Returns `true` if the text is a service API version, which is a date.
pub(crate) fn is_version(text: &[u8]) -> bool {
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u32::from(*digit - b'0'))
        })
    };
    let [year @ .., b'-', m1, m2, b'-', d1, d2] = text else { return false };
    // A longer number could overflow.
    let Ok(year) = <[u8; 4]>::try_from(year) else { return false };
    let (Some(year), Some(month), Some(day)) = (number(&year), number(&[*m1, *m2]), number(&[*d1, *d2]))
    else {
        return false;
    };
    i32::try_from(year).is_ok_and(|year| NaiveDate::from_ymd_opt(year, month, day).is_some())
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn a_version_is_a_date_in_ten_characters() {
        for version in ["2019-02-02", "2024-02-29", "0001-12-31"] {
            assert!(is_version(version.as_bytes()), "{version}");
        }
        for other in [
            "",
            "2019-02-2",
            "2023-02-29",
            "2019-13-01",
            "2019-00-01",
            "+201-02-02",
            "2019/02/02",
            "12019-02-02",
            "9999999999-01-01",
            "99999999999999999999-01-01",
            "-01-01",
            "2019-02-0\u{e9}",
        ] {
            assert!(!is_version(other.as_bytes()), "{other}");
        }
    }
}
