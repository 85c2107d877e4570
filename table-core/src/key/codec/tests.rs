//! Tests of the laws for every codec: property tests and golden strings.

mod every;
mod others;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ticks as tick_count;

/// Generates strings that contain characters of every kind relevant to validity, escaping or order.
pub(super) fn awkward_text() -> impl Strategy<Value = String> {
    let chosen = prop::sample::select(
        "\0\u{1F} !\"#$-./09:>?@AZ[\\]_az}~\u{7F}\u{9F}\u{A0}é\u{D7FF}\u{E000}\u{FF21}\u{FFFF}\u{10000}\u{1F600}\u{10FFFF}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let character = prop_oneof![6 => chosen, 1 => any::<char>(), 3 => prop::sample::select(vec!['a', 'b', '_', '|', 's'])];
    prop::collection::vec(character, 0..5).prop_map(|characters| characters.into_iter().collect())
}

fn checked<C: KeyCodec<T>, T: Ord + std::fmt::Debug>(values: &[T]) -> Result<(), TestCaseError> {
    laws::check::<C, T>(values).map_err(|fault| TestCaseError::fail(format!("{}: {fault}", C::NAME)))
}

fn text_of<C: KeyCodec<T>, T>(value: &T) -> String {
    let mut out = String::new();
    C::encode(value, &mut out).unwrap();
    out
}

macro_rules! integer_laws {
    ($($test:ident: $type:ident, $width:literal, $sign:ident;)*) => {
        proptest! {$(
            #[test]
            fn $test(mut values in prop::collection::vec((any::<$type>(), 0..$type::BITS), 1..24)
                .prop_map(|values| values.into_iter().map(|(value, shift)| value >> shift).collect::<Vec<_>>()))
            {
                values.extend([$type::MIN, $type::MAX, 0, 1, 9, 10, 99, 100]);
                values.extend($type::MIN.checked_add(1));
                values.extend((0 as $type).checked_sub(1));
                checked::<Padded, $type>(&values)?;
                checked::<Desc<Padded>, $type>(&values)?;
                checked::<Digits<1, $sign>, $type>(&values)?;
                checked::<Digits<2, $sign>, $type>(&values)?;
                checked::<Digits<$width, $sign>, $type>(&values)?;
                checked::<Desc<Digits<1, $sign>>, $type>(&values)?;
                checked::<Desc<Digits<2, $sign>>, $type>(&values)?;
                checked::<Desc<Digits<$width, $sign>>, $type>(&values)?;
                prop_assert_eq!(text_of::<Padded, $type>(&$type::MAX).len(), <Padded as KeyCodec<$type>>::FORM.max);
            }
        )*}
    };
}

integer_laws! {
    k1_to_k4_u8: u8, 3, Unsigned;
    k1_to_k4_u16: u16, 5, Unsigned;
    k1_to_k4_u32: u32, 10, Unsigned;
    k1_to_k4_u64: u64, 20, Unsigned;
    k1_to_k4_u128: u128, 39, Unsigned;
    k1_to_k4_i8: i8, 3, Signed;
    k1_to_k4_i16: i16, 5, Signed;
    k1_to_k4_i32: i32, 10, Signed;
    k1_to_k4_i64: i64, 19, Signed;
    k1_to_k4_i128: i128, 39, Signed;
}

#[test]
fn k1_to_k4_every_value_of_a_byte() {
    let unsigned: Vec<u8> = (u8::MIN..=u8::MAX).collect();
    let signed: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    laws::check::<Padded, u8>(&unsigned).unwrap();
    laws::check::<Padded, i8>(&signed).unwrap();
    laws::check::<Desc<Padded>, u8>(&unsigned).unwrap();
    laws::check::<Desc<Padded>, i8>(&signed).unwrap();
    laws::check::<Digits<2, Signed>, i8>(&signed).unwrap();
    laws::check::<Desc<Digits<3, Signed>>, i8>(&signed).unwrap();
}

proptest! {
    #[test]
    fn k1_to_k4_instants(steps in prop::collection::vec((0..=tick_count::MAX, 0..3u64, 0..4i64), 1..24)) {
        // Some timestamps occur twice, some differ by one tick, and some are between two ticks. The codec rejects a timestamp between two ticks.
        let mut instants: Vec<DateTime<Utc>> = Vec::new();
        for (count, near, nanos) in steps {
            let instant = tick_count::to_datetime(count.saturating_sub(near)).unwrap();
            instants.extend([instant, instant + TimeDelta::nanoseconds(nanos)]);
        }
        checked::<Ticks, _>(&instants)?;
        checked::<Desc<Ticks>, _>(&instants)?;
    }

    #[test]
    fn k1_to_k4_hours(steps in prop::collection::vec((-100_000_000..100_000_000i64, 0..2i64), 1..24)) {
        let mut instants: Vec<DateTime<Utc>> = vec!["2014-04-23T09:00:00Z".parse().unwrap()];
        for (hours, seconds) in steps {
            instants.extend(DateTime::from_timestamp(hours * 3_600 + seconds, 0));
        }
        checked::<Hour, _>(&instants)?;
        checked::<Desc<Hour>, _>(&instants)?;
    }

    #[test]
    fn k1_to_k4_dates(days in prop::collection::vec(-800_000..4_000_000i32, 1..24)) {
        let mut dates: Vec<NaiveDate> = days.into_iter().filter_map(NaiveDate::from_num_days_from_ce_opt).collect();
        dates.extend([(0, 1, 1), (2012, 2, 29), (9999, 12, 31)].map(|(y, m, d)| NaiveDate::from_ymd_opt(y, m, d).unwrap()));
        checked::<Date, _>(&dates)?;
        checked::<Desc<Date>, _>(&dates)?;
    }

    #[test]
    fn k1_to_k4_texts(mut values in prop::collection::vec(awkward_text(), 1..24)) {
        values.push(String::new());
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        laws::check_texts::<Text>(&values).map_err(TestCaseError::fail)?;
        laws::check_texts::<Without<'_'>>(&values).map_err(TestCaseError::fail)?;
        laws::check_texts::<Without<' '>>(&values).map_err(TestCaseError::fail)?;
        laws::check_texts::<Escaped>(&values).map_err(TestCaseError::fail)?;
        for value in values {
            prop_assert!(Escaped::encode_str(value, &mut String::new()).is_ok(), "nothing short is refused");
        }
    }

    #[test]
    fn k1_to_k4_characters_flags_and_guids(
        mut characters in prop::collection::vec(any::<char>(), 1..24),
        mut numbers in prop::collection::vec((any::<u128>(), 0..128u32), 1..24),
    ) {
        characters.extend(['\0', '\u{D7FF}', '\u{E000}', char::MAX]);
        numbers.extend([(0, 0), (u128::MAX, 0)]);
        let guids: Vec<Uuid> = numbers.into_iter().map(|(number, shift)| Uuid::from_u128(number << shift)).collect();
        checked::<CodePoint, _>(&characters)?;
        checked::<Desc<CodePoint>, _>(&characters)?;
        checked::<Guid, _>(&guids)?;
        checked::<Desc<Guid>, _>(&guids)?;
        checked::<Boolean, _>(&[false, true])?;
        checked::<Desc<Boolean>, _>(&[false, true])?;
    }
}

macro_rules! key_enum {
    ($name:ident { $($variant:ident = $text:literal),* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum $name { $($variant),* }

        impl KeyEnum for $name {
            const VARIANTS: &'static [&'static str] = &[$($text),*];

            fn index(&self) -> usize {
                *self as usize
            }

            fn from_index(index: usize) -> Option<Self> {
                [$(Self::$variant),*].into_iter().nth(index)
            }
        }
    };
}

key_enum!(Ascending { A = "a", Ab = "ab", B = "b", Wide = "\u{1F600}", Full = "\u{FF21}" });
key_enum!(Mixed { Open = "open", Held = "held", Done = "done" });

#[test]
fn k1_to_k4_enums_and_their_forms() {
    const ASCENDING: Form = <Variant as KeyCodec<Ascending>>::FORM;
    const MIXED: Form = <Variant as KeyCodec<Mixed>>::FORM;

    laws::check::<Variant, _>(&[Ascending::A, Ascending::Ab, Ascending::B, Ascending::Wide, Ascending::Full])
        .unwrap();
    laws::check::<Variant, _>(&[Mixed::Open, Mixed::Held, Mixed::Done]).unwrap();

    assert_eq!((ASCENDING.min, ASCENDING.max, ASCENDING.ordered), (1, 2, true));
    assert!(ASCENDING.alphabet.contains('b') && !ASCENDING.alphabet.contains('c'));
    assert_eq!((MIXED.is_fixed(), MIXED.max, MIXED.ordered), (true, 4, false));
    assert_eq!(<Variant as KeyCodec<Mixed>>::NAME, "one_of(open|held|done)");
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EmployeeId(u32);

impl KeyNewtype for EmployeeId {
    type Inner = u32;

    fn inner(&self) -> &u32 {
        &self.0
    }

    fn from_inner(inner: u32) -> Self {
        Self(inner)
    }
}

#[test]
fn k1_to_k4_newtypes_also_around_and_inside_desc() {
    let ids = [EmployeeId(0), EmployeeId(223), EmployeeId(999_999), EmployeeId(1_000_000)];
    laws::check::<Newtype<Digits<6>>, _>(&ids).unwrap();
    laws::check::<Desc<Newtype<Digits<6>>>, _>(&ids).unwrap();
    laws::check::<Newtype<Desc<Padded>>, _>(&ids).unwrap();
    assert_eq!(text_of::<Newtype<Digits<6>>, _>(&EmployeeId(223)), "000223");
}

#[test]
fn golden_texts_of_every_codec() {
    let guid = Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
    let day = NaiveDate::from_ymd_opt(2014, 4, 23).unwrap();
    let hour: DateTime<Utc> = "2014-04-23T09:00:00Z".parse().unwrap();
    let texts = [
        (text_of::<Padded, _>(&7u8), "007"),
        (text_of::<Padded, _>(&223u32), "0000000223"),
        (text_of::<Padded, _>(&u64::MAX), "18446744073709551615"),
        (text_of::<Padded, _>(&u128::MAX), "340282366920938463463374607431768211455"),
        (text_of::<Padded, _>(&-1i8), "-998"),
        (text_of::<Padded, _>(&i8::MIN), "-871"),
        (text_of::<Padded, _>(&i64::MIN), "-0776627963145224191"),
        (text_of::<Padded, _>(&i128::MIN), "-829858816539530768268312696284115894271"),
        (text_of::<Digits<4, Signed>, _>(&2012i16), "02012"),
        (text_of::<Digits<4, NonNegative>, _>(&2012i16), "2012"),
        (text_of::<Digits<4, Signed>, _>(&-2012i16), "-7987"),
        (text_of::<Desc<Padded>, _>(&7u8), "248"),
        (text_of::<Desc<Padded>, _>(&0i8), "-998"),
        (text_of::<Desc<Digits<6>>, _>(&223u32), "999776"),
        (text_of::<Desc<Digits<4, Signed>>, _>(&2012i16), "-7987"),
        (text_of::<Date, _>(&day), "20140423"),
        (text_of::<Desc<Date>, _>(&day), "79859576"),
        (text_of::<Hour, _>(&hour), "2014042309"),
        (text_of::<Desc<Hour>, _>(&hour), "7985957690"),
        (text_of::<Text, _>(&"jonesj@contoso.com".to_owned()), "jonesj@contoso.com"),
        (
            text_of::<Escaped, _>(&"\0 !\"#./>?[\\~\u{7F}\u{9F}é".to_owned()),
            "\"0\"w\"x\"y\"z.0.1>0>1[0[1~0~1~xé",
        ),
        (text_of::<Boolean, _>(&true), "1"),
        (text_of::<Desc<Boolean>, _>(&true), "0"),
        (text_of::<CodePoint, _>(&'é'), "0000e9"),
        (text_of::<Desc<CodePoint>, _>(&'\0'), "10ffff"),
        (text_of::<Guid, _>(&guid), "01234567-89ab-cdef-0123-456789abcdef"),
        (text_of::<Desc<Guid>, _>(&guid), "fedcba98-7654-3210-fedc-ba9876543210"),
    ];
    for (text, golden) in texts {
        assert_eq!(text, golden);
    }
}

#[test]
fn names_match_the_lock_file() {
    assert_eq!(<Padded as KeyCodec<u8>>::NAME, "padded");
    assert_eq!(<Digits<6> as KeyCodec<u32>>::NAME, "digits(6)");
    assert_eq!(<Desc<Digits<39>> as KeyCodec<u128>>::NAME, "desc(digits(39))");
    assert_eq!(Desc::<Ticks>::NAME, "desc(ticks)");
    assert_eq!(Without::<'_'>::NAME, "without(_)");
    assert_eq!(<Bucket<Padded, 16> as DerivedPart<u32>>::NAME, "bucket(padded:10,16)");
    assert_eq!(<Bucket<Padded, 16> as DerivedPart<i64>>::NAME, "bucket(padded:-20,16)");
    assert_eq!(<Bucket<Without<'_'>, 16> as DerivedPart<String>>::NAME, "bucket(without(_),16)");
    assert_eq!(<Newtype<Digits<6>> as KeyCodec<EmployeeId>>::NAME, "digits(6)");
}

/// Returns the bucket number of a value.
fn bucket_of<P: DerivedPart<T>, T>(value: &T) -> u32 {
    let mut text = String::new();
    P::encode(value, &mut text).unwrap();
    text.parse().unwrap()
}

#[test]
fn buckets_never_change() {
    let bucket = |text: &str| bucket_of::<Bucket<Text, 1_000_000>, String>(&text.to_owned());
    // The expected buckets were computed by another program from the published definitions of FNV-1a and fmix64.
    let golden =
        [("", 514_342), ("a", 828_315), ("Sales", 519_346), ("000223", 977_803), ("é\u{1F600}", 349_419)];
    assert_eq!(golden.map(|(text, _)| bucket(text)), golden.map(|(_, number)| number));
}

#[test]
fn buckets_are_even_and_have_one_text_each() {
    type Part = Bucket<Padded, 12>;
    let mut counts = [0usize; 12];
    for id in 0..12_000u32 {
        let mut key = "p".to_owned();
        Part::encode(&id, &mut key).unwrap();
        let text = key.strip_prefix('p').unwrap();
        Part::check(&id, text).unwrap();
        counts[text.parse::<usize>().unwrap()] += 1;
    }
    assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");

    for number in 0..Part::COUNT {
        let mut text = String::new();
        Part::encode_bucket(number, &mut text).unwrap();
        assert_eq!(text, format!("{number:02}"));
        assert_eq!(Part::check(&223u32, &text).is_ok(), bucket_of::<Part, u32>(&223) == number);
    }
    assert!(Part::encode_bucket(12, &mut String::new()).is_err());
    for text in ["12", "1", "001", "+1", ""] {
        assert!(Part::check(&223u32, text).is_err(), "{text:?}");
    }
    assert_eq!(<Bucket<Padded, 1> as DerivedPart<u8>>::FORM.max, 1);
    assert_eq!(<Bucket<Padded, 10> as DerivedPart<u8>>::FORM.max, 1);
    assert_eq!(<Bucket<Padded, 11> as DerivedPart<u8>>::FORM.max, 2);
}
