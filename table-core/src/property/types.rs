//! Implementations of `Property` for common types.

use std::fmt::{Debug, Display};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, TimeDelta, Timelike, Utc};
use table_store::{EdmType, Error, Result, ValueRef, edm_ticks};
use uuid::Uuid;

use crate::property::fault::PropertyFault;
use crate::property::{Property, PropertyFacts, mismatch};
use crate::row::{RowReader, RowWriter};
use crate::ticks;

macro_rules! property {
    ($($type:ty, $edm:ident, |$this:ident, $name:ident| $to:expr, { $($pattern:pat => $from:expr),+ }, $(|$row:ident, $next:ident| $stored:expr $(, over $over:path)?)?;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Property for $type {
            const EDM: EdmType = EdmType::$edm;

            #[inline]
            fn write_to(&self, $name: &str, row: &mut RowWriter) -> Result<()> {
                let $this = self;
                row.property($name, ValueRef::$edm($to));
                Ok(())
            }

            #[inline]
            fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
                match value {
                    $(Some($pattern) => $from,)+
                    other => Err(mismatch(Self::EDM, other)),
                }
            }

            $(
                #[inline]
                fn from_next($row: &mut RowReader<'_>, $next: &str) -> Option<Self> {
                    $stored
                }

                $(
                    #[inline]
                    fn next_again(&mut self, $row: &mut RowReader<'_>, $next: &str) -> bool {
                        $over(self, $row, $next)
                    }
                )?
            )?
        }
    )*};
}

property! {
    String, String, |this, name| this, { ValueRef::String(text) => Ok(text.to_owned()) }, |row, name| row.text(name).map(str::to_owned), over text_over;
    bool, Boolean, |this, name| *this, { ValueRef::Boolean(flag) => Ok(flag) }, |row, name| match row.fixed(name, Self::EDM)? {
        [flag @ (0 | 1)] => Some(flag == 1),
        _ => None,
    };
    i8, Int32, |this, name| i32::from(*this), { ValueRef::Int32(number) => narrow(number) },;
    i16, Int32, |this, name| i32::from(*this), { ValueRef::Int32(number) => narrow(number) },;
    i32, Int32, |this, name| *this, { ValueRef::Int32(number) => Ok(number) }, |row, name| row.fixed(name, Self::EDM).map(i32::from_le_bytes);
    u8, Int32, |this, name| i32::from(*this), { ValueRef::Int32(number) => narrow(number) },;
    u16, Int32, |this, name| i32::from(*this), { ValueRef::Int32(number) => narrow(number) },;
    u32, Int64, |this, name| i64::from(*this), {
        ValueRef::Int64(number) => narrow(number),
        ValueRef::Int32(number) => narrow(number)
    },;
    i64, Int64, |this, name| *this, {
        ValueRef::Int64(number) => Ok(number),
        ValueRef::Int32(number) => Ok(i64::from(number))
    }, |row, name| row.fixed(name, Self::EDM).map(i64::from_le_bytes);
    u64, Int64, |this, name| signed(name, *this)?, {
        ValueRef::Int64(number) => narrow(number),
        ValueRef::Int32(number) => narrow(number)
    },;
    f32, Double, |this, name| f64::from(*this), {
        ValueRef::Double(number) => exact(number),
        ValueRef::Int32(number) => exact(f64::from(number))
    },;
    f64, Double, |this, name| *this, {
        ValueRef::Double(number) => Ok(number),
        ValueRef::Int32(number) => Ok(f64::from(number))
    }, |row, name| row.fixed(name, Self::EDM).map(f64::from_le_bytes);
    Uuid, Guid, |this, name| *this, { ValueRef::Guid(guid) => Ok(guid) }, |row, name| row.fixed(name, Self::EDM).map(Uuid::from_bytes);
    Vec<u8>, Binary, |this, name| this, { ValueRef::Binary(bytes) => Ok(bytes.to_vec()) }, |row, name| row.bytes(name, Self::EDM).map(<[u8]>::to_vec), over bytes_over;
    DateTime<Utc>, DateTime, |this, name| edm_ticks(name, *this)?, {
        ValueRef::DateTime(count) => ticks::to_datetime(count).ok_or_else(|| Error::of(PropertyFault::Tick(count)))
    }, |row, name| row.fixed(name, Self::EDM).map(u64::from_le_bytes).and_then(ticks::to_datetime);
    NaiveDate, String, |this, name| &day(name, *this)?, { ValueRef::String(text) => read_text(text, day_of, "a day such as 2014-04-23") },;
    NaiveTime, String, |this, name| &time(name, *this)?, { ValueRef::String(text) => read_text(text, time_of, "a time such as 09:05:00") },;
    IpAddr, String, |this, name| &this.to_string(), { ValueRef::String(text) => read_text(text, |text| text.parse().ok(), "an IP address") },;
    Ipv4Addr, String, |this, name| &this.to_string(), { ValueRef::String(text) => read_text(text, |text| text.parse().ok(), "an IPv4 address") },;
    Ipv6Addr, String, |this, name| &this.to_string(), { ValueRef::String(text) => read_text(text, |text| text.parse().ok(), "an IPv6 address") },;
    u128, String, |this, name| &wide(*this), { ValueRef::String(text) => read_text(text, wide_of, "a number of 39 digits") },;
    Duration, Int64, |this, name| nanoseconds(name, i64::try_from(this.as_nanos()).ok(), this)?, {
        ValueRef::Int64(number) => narrow(number).map(Self::from_nanos),
        ValueRef::Int32(number) => narrow(number).map(Self::from_nanos)
    },;
    TimeDelta, Int64, |this, name| nanoseconds(name, this.num_nanoseconds(), this)?, {
        ValueRef::Int64(number) => Ok(Self::nanoseconds(number)),
        ValueRef::Int32(number) => Ok(Self::nanoseconds(number.into()))
    },;
}

/// Returns the number as an `Edm.Int64`. If it does not fit, the error contains the name of the property.
fn signed(name: &str, number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| Error::of(PropertyFault::Unsigned(number)).with_property(name))
}

/// Returns the `number` of nanoseconds in `duration`. If `number` is `None`, returns an error that contains the name of the property.
fn nanoseconds(name: &str, number: Option<i64>, duration: &dyn Debug) -> Result<i64> {
    number.ok_or_else(|| Error::of(PropertyFault::Duration(format!("{duration:?}"))).with_property(name))
}

/// Returns a number as 39 digits. These strings sort like the numbers.
pub(crate) fn wide(number: u128) -> String {
    format!("{number:0WIDE$}")
}

/// The number of digits in `u128::MAX`.
const WIDE: usize = 39;

fn wide_of(text: &str) -> Option<u128> {
    let is_whole = text.len() == WIDE && text.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| text.parse().ok())?
}

/// Returns a day as `yyyy-MM-dd`. Days outside the years 0 to 9999 cause an error that contains the name of the property.
pub(crate) fn day(name: &str, day: NaiveDate) -> Result<String> {
    let text = day.format("%Y-%m-%d").to_string();
    if text.len() == "yyyy-MM-dd".len() && (0..=9_999).contains(&day.year()) {
        return Ok(text);
    }
    Err(Error::of(PropertyFault::Day(day)).with_property(name))
}

fn day_of(text: &str) -> Option<NaiveDate> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    (text.len() == "yyyy-MM-dd".len()).then_some(day)
}

/// Returns a time as `HH:mm:ss`, followed by the fractional digits, if any. A leap second is an error that contains the name of the property.
pub(crate) fn time(name: &str, time: NaiveTime) -> Result<String> {
    if time.nanosecond() >= 1_000_000_000 {
        return Err(Error::of(PropertyFault::LeapSecond(time)).with_property(name));
    }
    let text = time.format("%H:%M:%S.%f").to_string();
    Ok(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

fn time_of(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok().filter(|time| time.nanosecond() < 1_000_000_000)
}

fn read_text<T>(text: &str, read: impl FnOnce(&str) -> Option<T>, wanted: &'static str) -> Result<T> {
    read(text).ok_or_else(|| Error::of(PropertyFault::Text { text: text.to_owned(), wanted }))
}

/// Reads a string into an existing `String`, reusing its memory.
#[inline]
fn text_over(value: &mut String, row: &mut RowReader<'_>, name: &str) -> bool {
    let Some(text) = row.text(name) else { return false };
    value.clear();
    value.push_str(text);
    true
}

/// Reads bytes into an existing `Vec`, reusing its memory.
#[inline]
fn bytes_over(value: &mut Vec<u8>, row: &mut RowReader<'_>, name: &str) -> bool {
    let Some(bytes) = row.bytes(name, EdmType::Binary) else { return false };
    value.clear();
    value.extend_from_slice(bytes);
    true
}

fn narrow<N: Copy + Display, T: TryFrom<N>>(number: N) -> Result<T> {
    T::try_from(number).map_err(|_| unfit(number, std::any::type_name::<T>()))
}

fn exact(number: f64) -> Result<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be exact on the next line")]
    let narrowed = number as f32;
    if f64::from(narrowed).to_bits() == number.to_bits() || number.is_nan() {
        Ok(narrowed)
    } else {
        Err(unfit(number, "f32"))
    }
}

fn unfit(number: impl Display, wanted: &'static str) -> Error {
    Error::of(PropertyFault::Number { number: number.to_string(), wanted })
}

#[diagnostic::do_not_recommend]
impl<T: Property> Property for Option<T> {
    const EDM: EdmType = T::EDM;
    const OPTIONAL: bool = true;
    const FACTS: PropertyFacts = PropertyFacts { edm: T::EDM, optional: true, is_option_twice: T::OPTIONAL };

    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.write_to(name, row))
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
        value.map(|value| T::from_value(Some(value))).transpose()
    }

    #[inline]
    fn from_next(row: &mut RowReader<'_>, name: &str) -> Option<Self> {
        T::from_next(row, name).map(Some)
    }

    #[inline]
    fn next_again(&mut self, row: &mut RowReader<'_>, name: &str) -> bool {
        match self {
            Some(value) => value.next_again(row, name),
            None => Self::from_next(row, name).map(|value| *self = value).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::property::read;
    use table_store::ErrorCode;

    fn round_trip<T: Property + PartialEq + Debug>(values: &[T]) {
        for value in values {
            let mut row = RowWriter::new();
            value.write_to("P", &mut row).unwrap();
            let row = row.finish();
            let found = row.view().find("P", &mut 0).unwrap();
            assert!(found.is_none_or(|found| found.edm_type() == T::EDM));
            assert_eq!(read::<T>(row.view(), "P", &mut 0).unwrap(), *value);
        }
    }

    fn code<T: Property + Debug>(value: ValueRef<'_>) -> ErrorCode {
        T::from_value(Some(value)).unwrap_err().code()
    }

    #[test]
    fn type_1_both_ends_of_every_type_round_trip() {
        round_trip(&[i8::MIN, i8::MAX]);
        round_trip(&[u8::MIN, u8::MAX]);
        round_trip(&[i16::MIN, i16::MAX]);
        round_trip(&[u16::MIN, u16::MAX]);
        round_trip(&[i32::MIN, i32::MAX]);
        round_trip(&[u32::MIN, u32::MAX]);
        round_trip(&[i64::MIN, i64::MAX]);
        round_trip(&[0, i64::MAX.cast_unsigned()]);
        round_trip(&["0000-01-01", "2014-04-23", "9999-12-31"].map(|day| day.parse::<NaiveDate>().unwrap()));
        let times = ["00:00:00", "09:05:00.5", "23:59:59.999999999"];
        round_trip(&times.map(|time| time.parse::<NaiveTime>().unwrap()));
        round_trip(&["127.0.0.1", "2001:db8::1"].map(|address| address.parse::<IpAddr>().unwrap()));
        round_trip(&[Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST]);
        round_trip(&[Ipv6Addr::UNSPECIFIED, Ipv6Addr::from_bits(u128::MAX)]);
        round_trip(&[0, 10, u128::MAX]);
        round_trip(&[Duration::ZERO, Duration::new(1, 1), Duration::from_nanos(i64::MAX.cast_unsigned())]);
        round_trip(&[i64::MIN, -1, 0, i64::MAX].map(TimeDelta::nanoseconds));
        round_trip(&[f32::MIN, -0.0, f32::MIN_POSITIVE, f32::INFINITY]);
        round_trip(&[f64::MIN, -0.0, f64::MIN_POSITIVE, f64::NEG_INFINITY]);
        round_trip(&[true, false]);
        round_trip(&[String::new(), "Ada".to_owned()]);
        round_trip(&[Uuid::nil(), Uuid::max()]);
        round_trip(&[Vec::new(), vec![0_u8, 255]]);
        round_trip(&[ticks::EDM_MIN, ticks::MAX].map(|count| ticks::to_datetime(count).unwrap()));
    }

    #[test]
    fn eng_19_nan_round_trips() {
        let mut row = RowWriter::new();
        f64::NAN.write_to("P", &mut row).unwrap();
        let row = row.finish();
        assert!(read::<f64>(row.view(), "P", &mut 0).unwrap().is_nan());
        assert!(read::<f32>(row.view(), "P", &mut 0).unwrap().is_nan());
    }

    #[test]
    fn ent_3_none_is_absent_and_absent_is_none() {
        round_trip(&[Some(1), None]);
        let mut row = RowWriter::new();
        None::<i32>.write_to("P", &mut row).unwrap();
        assert!(row.finish().view().is_empty());
        assert_eq!(i32::from_value(None).unwrap_err().code(), ErrorCode::EntityMismatch);
    }

    #[test]
    fn eng_12_an_int32_is_read_as_a_wider_number() {
        let stored = Some(ValueRef::Int32(-7));
        assert_eq!(i64::from_value(stored).unwrap(), -7);
        assert_eq!(f64::from_value(stored).unwrap().to_string(), "-7");
        assert_eq!(f32::from_value(stored).unwrap().to_string(), "-7");
    }

    #[test]
    fn no_value_is_truncated_silently() {
        let codes = [
            code::<i8>(ValueRef::Int32(128)),
            code::<u8>(ValueRef::Int32(-1)),
            code::<u16>(ValueRef::Int32(65_536)),
            code::<u32>(ValueRef::Int64(1 << 32)),
            code::<u32>(ValueRef::Int32(-1)),
            code::<i32>(ValueRef::Int64(1)),
            code::<i64>(ValueRef::Double(1.0)),
            code::<f32>(ValueRef::Double(0.1)),
            code::<f32>(ValueRef::Int32(16_777_217)),
            code::<String>(ValueRef::Boolean(true)),
        ];
        assert_eq!(codes, [ErrorCode::EntityMismatch; 10]);
    }

    #[test]
    fn a_value_without_a_stored_form_is_refused_on_write_and_named() {
        fn refused<T: Property>(value: &T) {
            let error = value.write_to("P", &mut RowWriter::new()).unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("TYPE-1")));
            assert!(error.to_string().contains("property `P`"), "{error}");
        }
        refused(&(1_u64 << 63));
        refused(&Duration::from_nanos(1 << 63));
        refused(&TimeDelta::MIN);
        refused(&TimeDelta::MAX);
        refused(&NaiveDate::MIN);
        refused(&NaiveDate::MAX);
        let leap = NaiveTime::from_hms_nano_opt(23, 59, 59, 1_000_000_000).unwrap();
        refused(&leap);
        refused(&NaiveDate::default().and_time(leap).and_utc());
    }

    #[test]
    fn a_text_of_the_wrong_format_is_not_read() {
        let codes = [
            code::<NaiveDate>(ValueRef::String("2014-4-23")),
            code::<NaiveDate>(ValueRef::String("2014-02-30")),
            code::<NaiveTime>(ValueRef::String("9 o'clock")),
            code::<IpAddr>(ValueRef::String("localhost")),
            code::<u64>(ValueRef::Int64(-1)),
            code::<Duration>(ValueRef::Int64(-1)),
            code::<u128>(ValueRef::String("7")),
            code::<u128>(ValueRef::String("999999999999999999999999999999999999999")),
            code::<Ipv4Addr>(ValueRef::String("2001:db8::1")),
        ];
        assert_eq!(codes, [ErrorCode::EntityMismatch; 9]);
    }

    #[test]
    fn type_6_an_out_of_range_instant_is_refused_on_write_and_named() {
        let before = ticks::to_datetime(ticks::EDM_MIN - 1).unwrap();
        for instant in [before, DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            let error = instant.write_to("Hired", &mut RowWriter::new()).unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("TYPE-6")));
            assert!(error.to_string().contains("property `Hired`"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn tick_6_an_instant_is_truncated_to_its_tick(seconds in -11_644_473_600_i64..253_402_300_800, nanos in 0_u32..1_000_000_000) {
            let instant = DateTime::from_timestamp(seconds, nanos).unwrap();
            let mut row = RowWriter::new();
            instant.write_to("P", &mut row).unwrap();
            let found = read::<DateTime<Utc>>(row.finish().view(), "P", &mut 0).unwrap();
            prop_assert_eq!(found, ticks::truncate(instant));
        }
    }
}
