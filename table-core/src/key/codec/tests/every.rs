//! Tests of every codec: alone, in compound keys, and reversed where possible. A codec that is missing from the list fails the test.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use chrono::{Datelike, NaiveTime, TimeDelta, TimeZone, Timelike};

use super::*;
use crate::key::codec::compound::{Piece, Splitter, fault};
use crate::key::text::first_illegal;

const LONG_MAX: u64 = 9_223_372_036_854_775_807;
const MAX_TICKS_AND_ONE: u64 = 3_155_378_976_000_000_000;

type Day = Pattern<{ pattern("yyyy-MM-dd") }>;
type American = Pattern<{ pattern("MMddyyyy") }>;
type Month = Pattern<{ pattern("yyyyMM") }>;
type Minute = Pattern<{ pattern("yyyyMMddTHHmm") }>;
type Iso = Pattern<{ pattern("yyyy-MM-ddTHH:mm:ss.fffffffZ") }>;
type Clock = Pattern<{ pattern("HH:mm:ss.fff") }>;
type Time = <NaiveTime as KeyPart>::Codec;

/// Seeds for values of all types.
struct Seeds {
    numbers: Vec<u128>,
    texts: Vec<String>,
}

/// A type with values derived from seeds, including its extreme values.
trait Sampled: Sized {
    fn of(seeds: &Seeds) -> Vec<Self>;
}

macro_rules! sampled_integers {
    ($($type:ident),*) => {$(
        impl Sampled for $type {
            #[expect(clippy::allow_attributes, reason = "not every integer is cut")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "any value will do")]
            fn of(seeds: &Seeds) -> Vec<Self> {
                let edges = [$type::MIN, $type::MAX, 0, 1, 9, 10, 15, 16, 99, 100];
                seeds.numbers.iter().map(|number| *number as $type).chain(edges).collect()
            }
        }
    )*};
}

sampled_integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl Sampled for String {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let of_ulids = u128::of(seeds).iter().map(text_of::<Ulid, u128>).collect::<Vec<_>>();
        seeds.texts.iter().cloned().chain([Self::new(), "a".to_owned()]).chain(of_ulids).collect()
    }
}

impl Sampled for DateTime<Utc> {
    /// Returns values without truncation, and values truncated to the second, the minute, the hour, the week and the month.
    fn of(seeds: &Seeds) -> Vec<Self> {
        let (first, after) = (-62_167_219_200_i64, 253_402_300_800_i64);
        let span = u128::from((after - first).unsigned_abs());
        let mut instants = vec![DateTime::UNIX_EPOCH, tick_count::to_datetime(tick_count::MAX).unwrap()];
        for number in &seeds.numbers {
            let seconds = first + i64::try_from(number % span).unwrap();
            let nanos = [0, 1, 100, 1_000_000, 250_000_000][usize::try_from((number >> 64) % 5).unwrap()];
            let at = Utc.timestamp_opt(seconds, nanos).unwrap();
            let hour = at.with_nanosecond(0).unwrap().with_second(0).unwrap().with_minute(0).unwrap();
            instants.extend([
                at,
                at.with_nanosecond(0).unwrap(),
                hour.with_minute(at.minute()).unwrap(),
                hour,
            ]);
            let day = hour.with_hour(0).unwrap();
            let monday = day - TimeDelta::days(day.weekday().num_days_from_monday().into());
            instants.extend([day.with_day(1).unwrap(), monday]);
        }
        instants
    }
}

impl Sampled for NaiveDate {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let edges = [(0, 1, 1), (2012, 2, 29), (9999, 12, 31)];
        let edges = edges.map(|(year, month, day)| Self::from_ymd_opt(year, month, day).unwrap());
        DateTime::of(seeds).iter().map(DateTime::date_naive).chain(edges).collect()
    }
}

impl Sampled for NaiveTime {
    fn of(seeds: &Seeds) -> Vec<Self> {
        DateTime::of(seeds).iter().map(DateTime::time).collect()
    }
}

impl Sampled for Duration {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let edges = [Self::ZERO, Self::MAX, Self::from_nanos(i64::MAX.cast_unsigned())];
        u64::of(seeds).into_iter().map(Self::from_nanos).chain(edges).collect()
    }
}

impl Sampled for TimeDelta {
    fn of(seeds: &Seeds) -> Vec<Self> {
        i64::of(seeds).into_iter().map(Self::nanoseconds).chain([Self::MIN, Self::MAX]).collect()
    }
}

impl Sampled for Ipv4Addr {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u32::of(seeds).into_iter().map(Self::from_bits).collect()
    }
}

impl Sampled for Ipv6Addr {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u128::of(seeds).into_iter().map(Self::from_bits).collect()
    }
}

impl Sampled for IpAddr {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let (older, newer) = (Ipv4Addr::of(seeds), Ipv6Addr::of(seeds));
        older.into_iter().map(Self::V4).chain(newer.into_iter().map(Self::V6)).collect()
    }
}

impl Sampled for Uuid {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u128::of(seeds).into_iter().map(Self::from_u128).collect()
    }
}

impl Sampled for char {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let edges = ['\0', '\u{D7FF}', '\u{E000}', char::MAX];
        seeds.texts.iter().flat_map(|text| text.chars()).chain(edges).collect()
    }
}

impl Sampled for bool {
    fn of(_: &Seeds) -> Vec<Self> {
        vec![false, true]
    }
}

impl Sampled for EmployeeId {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u32::of(seeds).into_iter().map(Self).collect()
    }
}

impl Sampled for Ascending {
    fn of(_: &Seeds) -> Vec<Self> {
        (0..5).filter_map(Self::from_index).collect()
    }
}

impl Sampled for Mixed {
    fn of(_: &Seeds) -> Vec<Self> {
        (0..3).filter_map(Self::from_index).collect()
    }
}

/// A position in a compound key.
#[derive(Clone, Copy)]
enum Place {
    Literal(&'static str),
    /// The part under test.
    Own,
    /// A text next to the part.
    Beside,
}

use Place::{Beside, Literal, Own};

const LAYOUTS: [&[Place]; 7] = [
    &[Own],
    &[Literal("p"), Own],
    &[Own, Literal("s")],
    &[Beside, Literal("|"), Own],
    &[Own, Literal("|"), Beside],
    &[Own, Literal("|"), Own],
    &[Own, Literal("|"), Own, Literal("|"), Beside],
];

/// Checks that the encodings of a part can be read back from every compound key whose pieces are valid.
fn compound(name: &str, form: Form, texts: &[String]) -> Result<(), TestCaseError> {
    const BESIDE: &str = "a|_x7";
    let mut sound = 0;
    for layout in LAYOUTS {
        let piece = |place: &Place| match place {
            Literal(literal) => Piece::Literal(literal),
            Own => Piece::Part(form),
            Beside => Piece::Part(<Text as KeyCodec<String>>::FORM),
        };
        let pieces: Vec<Piece> = layout.iter().map(piece).collect();
        if fault(&pieces).is_some() {
            continue;
        }
        sound += 1;
        for (at, text) in texts.iter().enumerate() {
            // Two parts of one kind are of two values.
            let mut own = [text, texts.get(at + 1).unwrap_or(text)].into_iter();
            let written: Vec<(&Place, &str)> = layout
                .iter()
                .map(|place| match place {
                    Literal(literal) => (place, *literal),
                    Own => (place, own.next().map_or("", String::as_str)),
                    Beside => (place, BESIDE),
                })
                .collect();
            let key: String = written.iter().map(|(_, text)| *text).collect();
            let mut parts = Splitter::new(&pieces, &key);
            for (_, expected) in written.iter().filter(|(place, _)| !matches!(place, Literal(_))) {
                prop_assert_eq!(parts.next_part().unwrap(), *expected, "{} in {:?}", name, pieces);
            }
            parts.finish().unwrap();
        }
    }
    prop_assert!(sound >= 3, "{} is sound in {} keys only", name, sound);
    Ok(())
}

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

fn truncated<C: Truncates<T>, T: Sampled + Ord + std::fmt::Debug>(
    seeds: &Seeds,
) -> Result<(), TestCaseError> {
    laws::check_truncation::<C, T>(&T::of(seeds))
        .map_err(|fault| TestCaseError::fail(format!("{}: {fault}", C::NAME)))
}

/// Returns the encodings of the values that have one.
fn written<T>(values: &[T], encode: fn(&T, &mut String) -> Result<(), crate::Error>) -> Vec<String> {
    let text = |value| {
        let mut out = String::new();
        encode(value, &mut out).is_ok().then_some(out)
    };
    values.iter().filter_map(text).collect()
}

/// Generates a test that checks each line against the laws, and a list of the lines as strings.
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
        Address: Ipv4Addr, Ipv6Addr, IpAddr;
        Desc<Address>: Ipv4Addr, Ipv6Addr;
        Guid: Uuid;
        Desc<Guid>: Uuid;
        GuidAs<'n'>: Uuid;
        GuidAs<'N'>: Uuid;
        GuidAs<'D'>: Uuid;
        GuidAs<'b'>: Uuid;
        Desc<GuidAs<'B'>>: Uuid;
        Ulid: u128, Uuid, String;
        Desc<Ulid>: u128, Uuid;
        CodePoint: char;
        Desc<CodePoint>: char;
        Flag: bool;
        Desc<Flag>: bool;
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
        Bars: ;
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

/// Returns the name of the trait in `impl<T, C: KeyCodec<T>> Trait<T>`.
fn trait_of(head: &str) -> &str {
    let mut depth = 0_i32;
    let after = head.trim_start_matches("impl").find(|letter: char| {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        depth == 0
    });
    let rest = head.get("impl".len() + after.unwrap_or_default()..).unwrap_or_default();
    rest.trim_start_matches(['>', ' ']).split('<').next().unwrap_or_default()
}

/// Returns the types that implement a trait in the files of this folder, without tests.
fn implementors(of: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/key/codec");
    let mut folders = vec![folder];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
            for line in code.map(str::trim_start).filter(|line| line.starts_with("impl")) {
                let Some((before, after)) = line.rsplit_once(" for ") else { continue };
                if trait_of(before) == of {
                    found.insert(after.split(['<', ' ', '{']).next().unwrap().to_owned());
                }
            }
        }
    }
    found
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
