//! `Nanoseconds`: a duration as a number of nanoseconds.

use std::time::Duration;

use chrono::TimeDelta;
use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Digits, Form, KeyCodec, NonNegative, Reversible, Signed};

/// A codec that writes a duration as a number of nanoseconds, in 19 digits. The default codec for `std::time::Duration` and `chrono::TimeDelta`.
///
/// - A `Duration` is written without a sign. A `TimeDelta` is written with a sign before the digits, as in [`Padded`](crate::key::codec::Padded).
/// - Fixed width, ordered, exact. A duration of more than 292 years is rejected (`KeyEncoding`).
///
/// ```
/// use std::time::Duration;
/// use table_core::key::codec::{KeyCodec, Nanoseconds};
///
/// let mut key = String::new();
/// Nanoseconds::encode(&Duration::from_millis(1_500), &mut key)?;
/// assert_eq!(key, "0000000001500000000");
/// assert!(Nanoseconds::encode(&Duration::MAX, &mut key).is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Nanoseconds {}

const NAME: &str = "nanoseconds";

/// A duration that can be converted to and from a number of nanoseconds.
trait InNanoseconds: Sized + std::fmt::Debug {
    /// The codec for the number of nanoseconds.
    type Digits: Reversible<i64>;

    fn number(&self) -> Option<i64>;
    fn of(number: i64) -> Option<Self>;
}

impl InNanoseconds for Duration {
    type Digits = Digits<19, NonNegative>;

    fn number(&self) -> Option<i64> {
        i64::try_from(self.as_nanos()).ok()
    }

    fn of(number: i64) -> Option<Self> {
        u64::try_from(number).ok().map(Self::from_nanos)
    }
}

impl InNanoseconds for TimeDelta {
    type Digits = Digits<19, Signed>;

    fn number(&self) -> Option<i64> {
        self.num_nanoseconds()
    }

    fn of(number: i64) -> Option<Self> {
        Some(Self::nanoseconds(number))
    }
}

fn count<T: InNanoseconds>(value: &T) -> Result<i64> {
    value.number().ok_or_else(|| {
        refused(format!(
            "{value:?} has more than 9223372036854775807 nanoseconds, 292 years; check the value"
        ))
    })
}

macro_rules! durations {
    ($($type:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl KeyCodec<$type> for Nanoseconds {
            const NAME: &'static str = NAME;
            const FORM: Form = <<$type as InNanoseconds>::Digits as KeyCodec<i64>>::FORM;

            fn encode(value: &$type, out: &mut String) -> Result<()> {
                <$type as InNanoseconds>::Digits::encode(&count(value)?, out)
            }

            fn decode(text: &str) -> Result<$type> {
                let number = <$type as InNanoseconds>::Digits::decode(text).ok();
                number.and_then(InNanoseconds::of).ok_or_else(|| mismatch(text, NAME))
            }
        }

        #[diagnostic::do_not_recommend]
        impl Reversible<$type> for Nanoseconds {
            fn encode_reversed(value: &$type, out: &mut String) -> Result<()> {
                <$type as InNanoseconds>::Digits::encode_reversed(&count(value)?, out)
            }

            fn decode_reversed(text: &str) -> Result<$type> {
                let number = <$type as InNanoseconds>::Digits::decode_reversed(text).ok();
                number.and_then(InNanoseconds::of).ok_or_else(|| mismatch(text, "desc(nanoseconds)"))
            }
        }
    )+};
}

durations!(Duration, TimeDelta);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    #[test]
    fn a_duration_that_is_too_long_is_refused() {
        let long = Duration::from_nanos(i64::MAX.cast_unsigned() + 1);
        let error = Nanoseconds::encode(&long, &mut String::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::KeyEncoding);
        for delta in [TimeDelta::MIN, TimeDelta::MAX] {
            assert!(Nanoseconds::encode(&delta, &mut String::new()).is_err(), "{delta:?}");
        }
        assert!(<Nanoseconds as KeyCodec<Duration>>::decode("9999999999999999999").is_err());
    }

    #[test]
    fn a_time_delta_has_a_sign() {
        let text = |delta: TimeDelta| {
            let mut text = String::new();
            Nanoseconds::encode(&delta, &mut text).map(|()| text).unwrap()
        };
        assert_eq!(text(TimeDelta::nanoseconds(7)), "00000000000000000007");
        assert_eq!(text(TimeDelta::nanoseconds(-7)), "-9999999999999999992");
    }
}
