//! `Inverted`: a constant minus the value. Other programs write keys in this form to sort them in descending order.

use std::fmt::Write;
use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::name::{Name, named};
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec};

/// A codec that writes a value as the decimal text of a number. [`Inverted`] requires such a codec, and subtracts the number from a constant.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Counted, Ticks};
///
/// let at: DateTime<Utc> = "2014-04-23T09:00:00Z".parse()?;
/// assert_eq!(Ticks::count(&at)?, 635_338_404_000_000_000);
/// assert_eq!(Ticks::of_count(635_338_404_000_000_000), Some(at));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T031] `inverted` cannot count down the output of `{Self}`",
    label = "expected a number or an instant",
    note = "unsigned integers, `digits(6, id)`, ticks, `unix(millis, at)` and `pattern(\"yyyyMMdd\", day)` can be inverted; for other parts of \
            fixed width use `desc`"
)]
pub trait Counted<T>: KeyCodec<T> {
    /// The reason [`Inverted`] cannot use this codec, or `None` if it can use it; see [`Facts::fault`].
    #[doc(hidden)]
    const COUNT_FAULT: Option<&'static str> = None;

    /// Returns the number written by the codec for a value.
    ///
    /// # Errors
    /// `KeyEncoding` as in [`KeyCodec::encode`].
    fn count(value: &T) -> Result<u64>;

    /// Returns the value whose number is `count`, or `None` if no such value exists.
    fn of_count(count: u64) -> Option<T>;
}

/// A codec that writes `FROM` minus the number written by `C`, with as many digits as `FROM`. Examples are `long.MaxValue - millis` and `MaxTicks + 1 - ticks`.
///
/// Fixed width, descending. A number greater than `FROM` is rejected (`KeyEncoding`). Prefer [`Desc`](crate::key::codec::Desc) in new schemas.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Inverted, KeyCodec, Unix};
///
/// let at: DateTime<Utc> = "2014-04-23T09:00:00.250Z".parse()?;
/// let mut key = String::new();
/// Inverted::<Unix<true>, 9_223_372_036_854_775_807>::encode(&at, &mut key)?;
/// assert_eq!(key, "9223370638611175557");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Inverted<C, const FROM: u64>(PhantomData<C>);

struct Named<C, T, const FROM: u64>(PhantomData<(C, T)>);

impl<T, C: Counted<T>, const FROM: u64> Named<C, T, FROM> {
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        Name::EMPTY.with("inverted(").with_u64(FROM).with(",").with(C::NAME).with(")")
    }

    named!();
}

const fn digits(number: u64) -> usize {
    if number < 10 { 1 } else { 1 + digits(number / 10) }
}

impl<T, C: Counted<T>, const FROM: u64> KeyCodec<T> for Inverted<C, FROM> {
    const NAME: &'static str = Named::<C, T, FROM>::NAMED;
    const FORM: Form = Form::fixed(digits(FROM), true, Alphabet::DIGITS);
    const FACTS: Facts = Facts {
        descending: true,
        cardinality: None,
        follows_time: C::FACTS.follows_time,
        finer_than_property: C::FACTS.finer_than_property,
        verbatim: false,
        fault: if C::FACTS.fault.is_some() { C::FACTS.fault } else { C::COUNT_FAULT },
    };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        let count = C::count(value)?;
        let rest = FROM.checked_sub(count).ok_or_else(|| {
            refused(format!(
                "{count} is greater than {FROM}, the number this key part counts down from; check the value"
            ))
        })?;
        let _ = write!(out, "{rest:0width$}", width = digits(FROM));
        Ok(())
    }

    fn decode(text: &str) -> Result<T> {
        let all = text.len() == digits(FROM) && text.bytes().all(|byte| byte.is_ascii_digit());
        let rest: Option<u64> = Some(text).filter(|_| all).and_then(|text| text.parse().ok());
        let value = rest.and_then(|rest| FROM.checked_sub(rest)).and_then(C::of_count);
        value.ok_or_else(|| mismatch(text, Named::<C, T, FROM>::NAMED))
    }
}
