//! Tests every codec: alone, in compound keys and, if supported, in reverse order. A test fails if a codec is missing from the list.

mod compound;
mod implementors;
mod sampled;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use chrono::{NaiveTime, TimeDelta};

use super::*;
use crate::key::text::first_illegal;
use compound::compound;
use implementors::implementors;
use sampled::{Sampled, Seeds};

const LONG_MAX: u64 = 9_223_372_036_854_775_807;
const MAX_TICKS_AND_ONE: u64 = 3_155_378_976_000_000_000;

type Day = Pattern<{ pattern("yyyy-MM-dd") }>;
type American = Pattern<{ pattern("MMddyyyy") }>;
type Month = Pattern<{ pattern("yyyyMM") }>;
type Minute = Pattern<{ pattern("yyyyMMddTHHmm") }>;
type Iso = Pattern<{ pattern("yyyy-MM-ddTHH:mm:ss.fffffffZ") }>;
type Clock = Pattern<{ pattern("HH:mm:ss.fff") }>;
type Time = <NaiveTime as KeyPart>::Codec;

fn codec<C: KeyCodec<T>, T: Sampled + Ord + std::fmt::Debug>(seeds: &Seeds) -> Result<(), TestCaseError> {
    let values = T::of(seeds);
    checked::<C, T>(&values)?;
    compound(C::NAME, C::FORM, &written(&values, C::encode))
}

fn text<C: TextCodec>(seeds: &Seeds) -> Result<(), TestCaseError> {
    let values = String::of(seeds);
    let borrowed: Vec<&str> = values.iter().map(String::as_str).collect();
    laws::check_texts::<C>(&borrowed)
        .map_err(|fault| TestCaseError::fail(format!("{}: {fault}", C::NAME)))?;
    compound(C::NAME, C::FORM, &written(&values, C::encode))
}

fn derived<C: DerivedPart<T>, T: Sampled + Ord + std::fmt::Debug>(
    seeds: &Seeds,
) -> Result<(), TestCaseError> {
    let values = T::of(seeds);
    laws::check_derived::<C, T>(&values)
        .map_err(|fault| TestCaseError::fail(format!("{}: {fault}", C::NAME)))?;
    compound(C::NAME, C::FORM, &written(&values, C::encode))
}

/// Checks a codec inside `truncate`: on its own, and as the source of other derived parts.
fn truncated<C: Truncates<T>, T: Sampled + Ord + std::fmt::Debug>(seeds: &Seeds) -> Result<(), TestCaseError>
where
    Truncated<C>: PartSource<T>,
{
    laws::check_truncation::<C, T>(&T::of(seeds))
        .map_err(|fault| TestCaseError::fail(format!("{}: {fault}", C::NAME)))?;
    derived::<Truncated<C>, T>(seeds)?;
    derived::<Digest<Truncated<C>, Crc32, 8>, T>(seeds)?;
    derived::<Bucket<Truncated<C>, 16>, T>(seeds)
}

/// Returns the encodings of the values that can be encoded.
fn written<T>(values: &[T], encode: fn(&T, &mut String) -> Result<(), crate::Error>) -> Vec<String> {
    let text = |value| {
        let mut out = String::new();
        encode(value, &mut out).is_ok().then_some(out)
    };
    values.iter().filter_map(text).collect()
}

/// Generates a test that checks each listed codec against the laws, and a constant with the names of the codecs.
macro_rules! every {
    ($($kind:ident { $($codec:ty: $($type:ty),*;)* })*) => {
        const LISTED: &[&str] = &[$($(stringify!($codec)),*),*];

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(24))]
            #[test]
            fn k1_to_k4_every_codec_alone_and_in_compound_keys(
                numbers in prop::collection::vec((any::<u128>(), 0..128_u32), 1..12),
                texts in prop::collection::vec(awkward_text(), 1..12),
            ) {
                let numbers = numbers.into_iter().map(|(number, shift)| number >> shift).collect();
                let seeds = Seeds { numbers, texts };
                $($(every!(@ $kind, seeds, $codec $(, $type)*);)*)*
            }
        }
    };
    (@ text, $seeds:ident, $codec:ty) => { text::<$codec>(&$seeds)? };
    (@ $kind:ident, $seeds:ident, $codec:ty $(, $type:ty)*) => { $($kind::<$codec, $type>(&$seeds)?;)* };
}

every! {
    codec {
        Padded: u8, u16, u32, u64, u128, i8, i16, i32, i64, i128;
        Desc<Padded>: u8, u64, i8, i64, i128;
        Digits<1>: u8, u64;
        Digits<6>: u32, u64;
        Digits<19, NonNegative>: i64, i128;
        Digits<6, NonNegative>: i32;
        Digits<1, Signed>: i8, i64;
        Digits<6, Signed>: i32, i64, i128;
        Desc<Digits<6>>: u32, u64;
        Desc<Digits<6, NonNegative>>: i32, i64;
        Desc<Digits<6, Signed>>: i32, i64, i128;
        Hex<2>: u64, u128;
        Hex<16, true>: u64;
        Desc<Hex<16>>: u64, u128;
        Unpadded: u8, i8, u64, i64, i128;
        Ticks: DateTime<Utc>;
        Desc<Ticks>: DateTime<Utc>;
        Hour: DateTime<Utc>;
        Desc<Hour>: DateTime<Utc>;
        Date: NaiveDate;
        Desc<Date>: NaiveDate;
        Day: NaiveDate;
        Pattern<{ pattern("ddMMyyyy") }>: NaiveDate;
        American: NaiveDate;
        Month: DateTime<Utc>;
        Minute: DateTime<Utc>;
        Iso: DateTime<Utc>;
        Clock: NaiveTime;
        Desc<Pattern<{ pattern("yyyyMMddHHmmss") }>>: DateTime<Utc>;
        Desc<Day>: NaiveDate;
        Desc<Clock>: NaiveTime;
        Unix<true>: DateTime<Utc>;
        Unix<false>: DateTime<Utc>;
        Desc<Unix<true>>: DateTime<Utc>;
        Inverted<Padded, LONG_MAX>: u8, u64;
        Inverted<Digits<8>, 99_999_999>: u32, u64;
        Inverted<Digits<8, NonNegative>, 30_000_000>: i32, i64;
        Inverted<Pattern<{ pattern("yyyyMMdd") }>, 30_000_000>: NaiveDate, DateTime<Utc>;
        Inverted<Pattern<{ pattern("yyyyMMddHHmmss") }>, LONG_MAX>: DateTime<Utc>;
        Pattern<{ pattern("yyyy-MM-ddTHH:mm:00") }>: DateTime<Utc>;
        Inverted<Unix<true>, LONG_MAX>: DateTime<Utc>;
        Inverted<Ticks, MAX_TICKS_AND_ONE>: DateTime<Utc>;
        Week: NaiveDate, DateTime<Utc>;
        Time: NaiveTime;
        Desc<Time>: NaiveTime;
        Nanoseconds: Duration, TimeDelta;
        Desc<Nanoseconds>: Duration, TimeDelta;
        IpAddress: Ipv4Addr, Ipv6Addr, IpAddr;
        Desc<IpAddress>: Ipv4Addr, Ipv6Addr;
        Guid: Uuid;
        Desc<Guid>: Uuid;
        GuidAs<'n'>: Uuid;
        GuidAs<'N'>: Uuid;
        GuidAs<'D'>: Uuid;
        GuidAs<'b'>: Uuid;
        Desc<GuidAs<'B'>>: Uuid;
        Ulid: u128, Uuid, String;
        Base64: String;
        Bars: String;
        Desc<Ulid>: u128, Uuid;
        CodePoint: char;
        Desc<CodePoint>: char;
        Boolean: bool;
        Desc<Boolean>: bool;
        Variant: Ascending, Mixed;
        Newtype<Digits<6>>: EmployeeId;
        Newtype<Desc<Padded>>: EmployeeId;
        Desc<Newtype<Digits<6>>>: EmployeeId;
    }
    truncated {
        Hour: DateTime<Utc>;
        Month: DateTime<Utc>, NaiveDate;
        Minute: DateTime<Utc>;
        Day: DateTime<Utc>, NaiveDate;
        Pattern<{ pattern("HH") }>: NaiveTime;
        Clock: NaiveTime;
        Time: NaiveTime;
        Unix<true>: DateTime<Utc>;
        Unix<false>: DateTime<Utc>;
        Week: NaiveDate, DateTime<Utc>;
    }
    text {
        Text: ;
        Escaped: ;
        Without<'_'>: ;
        Without<' '>: ;
        Caret: ;
        Percent: ;
    }
    derived {
        Bucket<Padded, 16>: u32, i64;
        Bucket<Escaped, 1000>: String;
        Bucket<Ticks, 12>: DateTime<Utc>;
        Digest<Padded, Crc32, 8>: u32;
        Digest<Escaped, Crc32, 4>: String;
        Digest<Guid, Fnv1a, 16>: Uuid;
        Digest<Text, Crc32, 8, 'X'>: String;
        Digest<Text, Crc32, 6, 'u'>: String;
        Digest<Padded, Fnv1a, 5, 'u'>: u64;
        Digest<Guid, Fnv1a, 13, 'b'>: Uuid;
        Digest<Folded<Text, false>, Crc32, 8>: String;
        Digest<Truncated<Month>, Crc32, 2>: DateTime<Utc>;
        Bucket<Folded<Text, true>, 16>: String;
        Truncated<Hour>: DateTime<Utc>;
        Truncated<Month>: DateTime<Utc>;
        Truncated<Minute>: DateTime<Utc>;
        Truncated<Unix<false>>: DateTime<Utc>;
        Truncated<Week>: NaiveDate, DateTime<Utc>;
        Truncated<Pattern<{ pattern("yyyyMM") }>>: NaiveDate;
        Truncated<American>: DateTime<Utc>;
        Truncated<Pattern<{ pattern("dd HH:mm:ss.fff") }>>: DateTime<Utc>;
        Truncated<Pattern<{ pattern("MMdd") }>>: NaiveDate;
        Folded<Text, true>: String;
        Folded<Escaped, false>: String;
        Folded<Without<'_'>, false>: String;
        Replaced<Text, '/', '_'>: String;
        Replaced<Percent, '!', '-'>: String;
        Replaced<Replaced<Replaced<Text, '#', '_'>, '?', '_'>, '/', '_'>: String;
        Folded<Replaced<Text, '/', '_'>, false>: String;
        First<Folded<Text, false>, 1>: String;
        Digest<First<Text, 2>, Crc32, 4>: String;
    }
}

proptest! {
    #[test]
    fn k1_to_k4_beginnings_of_texts(texts in prop::collection::vec(awkward_text(), 1..12)) {
        let legal: Vec<String> = texts.iter().filter(|text| first_illegal(text).is_none()).cloned().collect();
        prop_assert_eq!(laws::check_derived_texts::<First<Text, 3>>(&legal), Ok(()));
        prop_assert_eq!(laws::check_derived_texts::<First<Escaped, 2>>(&texts), Ok(()));
    }
}

#[cfg(feature = "hashes")]
proptest! {
    #[test]
    fn k1_to_k4_hashes_of_the_feature(texts in prop::collection::vec(awkward_text(), 1..12)) {
        let seeds = Seeds { numbers: Vec::new(), texts };
        derived::<Digest<Text, Sha256, 64>, String>(&seeds)?;
        derived::<Digest<Escaped, Md5, 4>, String>(&seeds)?;
        derived::<Digest<Escaped, Sha256, 43, 'u'>, String>(&seeds)?;
        derived::<Digest<Text, Md5, 26, 'b'>, String>(&seeds)?;
    }
}

#[test]
fn each_codec_is_in_the_list() {
    let words = |text: &str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect()
    };
    let listed: BTreeSet<String> = LISTED.iter().flat_map(|codec| words(codec)).collect();
    let reversed: BTreeSet<String> = LISTED
        .iter()
        .filter_map(|codec| codec.strip_prefix("Desc<").or_else(|| codec.strip_prefix("Desc <")))
        .flat_map(words)
        .collect();
    for (of, list, fewest) in [
        ("KeyCodec", &listed, 20),
        ("TextCodec", &listed, 5),
        ("DerivedPart", &listed, 5),
        ("Reversible", &reversed, 10),
    ] {
        let types = implementors(of);
        assert!(types.len() >= fewest, "only {types:?} implement `{of}`");
        let missing: Vec<_> = types.difference(list).collect();
        assert!(missing.is_empty(), "{missing:?} implement `{of}`, and are not in the list of this file");
    }
}
