//! Log stamps. A stamp consists of the inverted ticks of a timestamp, `_`, and an inverted tiebreaker as 16 hexadecimal digits. The newest stamps sort first.

use table_core::ticks;

use crate::keys::instant::{show, ticks_of};

/// The name of the stamp codec in stored schemas.
pub(super) const CODEC: &str = "logstamp";

/// Parses a stamp and returns its timestamp. A nonzero tiebreaker is appended after `_`. Returns `None` if `text` is not a valid stamp.
#[must_use]
pub(super) fn decode(text: &str) -> Option<String> {
    let (inverted, tie) = text.split_once('_')?;
    let instant = show(ticks::to_datetime(ticks::invert(inverted.parse().ok()?)?)?);
    match !u64::from_str_radix(tie, 16).ok()? {
        0 => Some(instant),
        tie => Some(format!("{instant}_{tie}")),
    }
}

/// Encodes a value in the format returned by [`decode`]. If the value has no tiebreaker, 0 is used.
#[must_use]
pub(super) fn encode(value: &str) -> Option<String> {
    let (instant, tie) = match value.split_once('_') {
        Some((instant, tie)) => (instant, tie.parse().ok()?),
        None => (value, 0_u64),
    };
    Some(format!("{}{:016x}", beginning(instant)?, !tie))
}

/// Returns the common prefix of all stamps with the given timestamp.
#[must_use]
pub(super) fn beginning(instant: &str) -> Option<String> {
    Some(format!("{:019}_", ticks::invert(ticks_of(instant)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_shown_as_an_instant_and_read_back() {
        for (text, value) in [
            ("2519936321678765432_ffffffffffffffff", "2014-08-22T00:50:32.123456700Z"),
            ("2519936321678765432_fffffffffffffffe", "2014-08-22T00:50:32.123456700Z_1"),
            ("2519936321678765432_0000000000000000", "2014-08-22T00:50:32.123456700Z_18446744073709551615"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(value));
            assert_eq!(encode(value).as_deref(), Some(text));
        }
        assert_eq!(beginning("2014-08-22").as_deref(), Some("2519936351999999999_"));
        assert_eq!((decode("abc_def"), encode("yesterday"), decode("")), (None, None, None));
    }
}
