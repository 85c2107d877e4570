//! `Truncated`: a key part less precise than its field, such as the hour of a timestamp.

use std::marker::PhantomData;

use chrono::{DateTime, NaiveDate, NaiveTime, Timelike, Utc};
use table_store::Result;

use crate::key::codec::derived::source;
use crate::key::codec::fault::refused;
use crate::key::codec::inverted::Counted;
use crate::key::codec::name::{Name, named};
use crate::key::codec::{DerivedPart, Facts, Form, Hour, KeyCodec, PartSource, Unix, date};

/// A codec that is less precise than the values of `T`. It can truncate a value to an encodable value.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Hour, Truncates};
///
/// let at: DateTime<Utc> = "2014-04-23T09:41:07Z".parse()?;
/// assert_eq!(Hour::truncate(&at), Some("2014-04-23T09:00:00Z".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T031] `truncate` does not support `{Self}`",
    label = "expected `hour`, a `pattern` or `unix`"
)]
pub trait Truncates<T>: KeyCodec<T> {
    /// The form of the encodings of truncated values. It is ordered only if greater values never have smaller encodings.
    const CUT_FORM: Form = Self::FORM;
    /// The mistake in the codec's arguments if they are invalid inside `truncate`, or `None` if they are valid; see [`Facts::fault`].
    const CUT_FAULT: Option<&'static str> = Self::FACTS.fault;

    /// Returns the greatest encodable value not greater than `value`, or `None` if no such value exists.
    fn truncate(value: &T) -> Option<T>;
}

/// A derived key part that truncates a value and encodes it with `C`. The field is also stored as a property.
///
/// Ordered like `C`. A range of values selects the rows whose truncated values are between the truncated ends of the range, inclusive.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{DerivedPart, Hour, Truncated};
///
/// let at: DateTime<Utc> = "2014-04-23T09:41:07Z".parse()?;
/// let mut key = String::new();
/// Truncated::<Hour>::encode(&at, &mut key)?;
/// assert_eq!(key, "2014042309");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Truncated<C>(PhantomData<C>);

struct Named<C, T>(PhantomData<(C, T)>);

impl<T, C: KeyCodec<T>> Named<C, T> {
    const fn name<const CAPACITY: usize>() -> Name<CAPACITY> {
        Name::EMPTY.with("truncate(").with(C::NAME).with(")")
    }

    named!();
}

impl<T, C: Truncates<T>> DerivedPart<T> for Truncated<C> {
    const NAME: &'static str = Named::<C, T>::NAMED;
    const FORM: Form = C::CUT_FORM;
    const FACTS: Facts = Facts { follows_time: C::FACTS.follows_time, fault: C::CUT_FAULT, ..Facts::NONE };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        let cut = C::truncate(value)
            .ok_or_else(|| refused("the value is outside the range of this key part; check the value"))?;
        C::encode(&cut, out)
    }
}

source! {
    [C: Truncates<DateTime<Utc>>] Truncated<C>, DateTime<Utc>, |value, out| Self::write(value, out);
    [C: Truncates<NaiveDate>] Truncated<C>, NaiveDate, |value, out| Self::write(value, out);
    [C: Truncates<NaiveTime>] Truncated<C>, NaiveTime, |value, out| Self::write(value, out);
}

#[diagnostic::do_not_recommend]
impl Truncates<DateTime<Utc>> for Hour {
    fn truncate(value: &DateTime<Utc>) -> Option<DateTime<Utc>> {
        // The result is computed from calendar fields. chrono's rounding uses an `i64` of nanoseconds, which overflows after the year 2262.
        let day = value.date_naive();
        date::number_of(day)?; // `None` outside the years that the codec can encode.
        Some(day.and_hms_opt(value.hour(), 0, 0)?.and_utc())
    }
}

#[diagnostic::do_not_recommend]
impl<const MILLIS: bool> Truncates<DateTime<Utc>> for Unix<MILLIS> {
    fn truncate(value: &DateTime<Utc>) -> Option<DateTime<Utc>> {
        let count = if MILLIS { value.timestamp_millis() } else { value.timestamp() };
        Self::of_count(u64::try_from(count).ok()?)
    }
}
