//! Tests the codecs for keys written by other programs. The keys are from public projects, and some values must be rejected.

use chrono::{DateTime, NaiveDate, TimeZone, Utc};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ErrorCode;
use crate::property::{Property, read};
use crate::row::RowWriter;

const MAX_TICKS_AND_ONE: u64 = 3_155_378_976_000_000_000;
const LONG_MAX: u64 = 9_223_372_036_854_775_807;

type American = Pattern<{ pattern("MMddyyyy") }>;
type Month = Pattern<{ pattern("yyyyMM") }>;
type Minute = Pattern<{ pattern("yyyyMMddTHHmm") }>;
type Iso = Pattern<{ pattern("yyyy-MM-ddTHH:mm:ss.fffffffZ") }>;

type Eight = Pattern<{ pattern("yyyy-MM-ddTHH:mm:ss.ffffffff") }>;
type Nine = Pattern<{ pattern("yyyyMMddHHmmssfffffffff") }>;

fn is_part_of_property<P: DerivedPart<DateTime<Utc>>>(at: DateTime<Utc>) -> Result<(), TestCaseError> {
    let mut row = RowWriter::new();
    if at.write_to("At", &mut row).is_ok() {
        let stored = read::<DateTime<Utc>>(row.finish().view(), "At", &mut 0).unwrap();
        let mut text = String::new();
        P::encode(&at, &mut text).unwrap();
        let checked = P::check(&stored, &text);
        prop_assert!(checked.is_ok(), "{}: {checked:?}", P::NAME);
    }
    Ok(())
}

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

proptest! {
    /// Tests that a truncated value is never later than the original value, and that its text has the length of the pattern.
    #[test]
    fn a_truncated_value_is_never_later(steps in prop::collection::vec((0i64..253_402_300_800, 0..1_000_000_000_u32), 1..24)) {
        for (seconds, nanos) in steps {
            let at = Utc.timestamp_opt(seconds, nanos).unwrap();
            let cut = <Minute as Truncates<DateTime<Utc>>>::truncate(&at);
            prop_assert!(cut.is_none_or(|cut| cut <= at && text_of::<Minute, _>(&cut).len() == 13));
        }
    }

    /// Tests that a key part computed from a timestamp equals the part computed from its stored property, even for fractions below a tick and for leap seconds.
    /// Reading an entity compares these two parts.
    #[test]
    fn a_derived_part_of_an_instant_is_the_part_of_its_stored_property(minute in 0i64..166_666_666, nanos in 0..2_000_000_000_u32) {
        let at = DateTime::from_timestamp(minute * 60 + 59, nanos).unwrap();
        is_part_of_property::<Truncated<Hour>>(at)?;
        is_part_of_property::<Truncated<Week>>(at)?;
        is_part_of_property::<Truncated<Unix<false>>>(at)?;
        is_part_of_property::<Truncated<Minute>>(at)?;
        is_part_of_property::<Truncated<Eight>>(at)?;
        is_part_of_property::<Digest<Nine, Crc32, 8>>(at)?;
        is_part_of_property::<Digest<Truncated<Nine>, Crc32, 8>>(at)?;
        is_part_of_property::<Bucket<Nine, 16>>(at)?;
    }

    #[test]
    fn escapes_accept_every_short_text(value in awkward_text()) {
        prop_assert!(Caret::encode_str(&value, &mut String::new()).is_ok());
        prop_assert!(Percent::encode_str(&value, &mut String::new()).is_ok());
    }
}

#[test]
fn literal_keys_of_public_projects() {
    let guid = Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
    let day = NaiveDate::from_ymd_opt(2014, 4, 23).unwrap();
    let at = instant("2000-01-20T11:25:42Z");
    let texts = [
        // `DurableTask.AzureStorage`: `KeySanitation.EscapePartitionKey`. The history rows are `{sequence:X16}`.
        (text_of::<Caret, _>(&"!@#$%^&*()_+=-0987654321d".to_owned()), "!@^2$%^^&*()_+=-0987654321d"),
        (text_of::<Caret, _>(&"\u{1F}\u{7F}\u{9F}".to_owned()), "^\u{DF}^\u{13F}^\u{15F}"),
        (text_of::<Hex<16, true>, _>(&0x2A_u64), "000000000000002A"),
        // `Akka.Persistence.Azure`: a sequence number with 19 digits, and the row `highestSequenceNr`.
        (text_of::<Digits<19>, _>(&7u64), "0000000000000000007"),
        // Azure Diagnostics logs: `0` followed by ticks. The `0` is a literal in the key.
        (text_of::<Ticks, _>(&at), "0630839643420000000"),
        // The guest book of the Windows Azure training kit: `MMddyyyy`, and inverted ticks.
        (text_of::<American, _>(&day), "04232014"),
        (text_of::<Desc<Ticks>, _>(&at), "2524539332579999999"),
        (text_of::<Inverted<Ticks, MAX_TICKS_AND_ONE>, _>(&at), "2524539332580000000"),
        // A common format in Java: `Long.MAX_VALUE - System.currentTimeMillis()`.
        (text_of::<Inverted<Unix<true>, LONG_MAX>, _>(&at), "9223371088487233807"),
        (text_of::<Desc<Unix<true>>, _>(&at), "9051632457999"),
        // .NET: `Guid.ToString("N")`, `("B")` in upper case, `Uri.EscapeDataString`, `DateTime.ToString("o")`.
        (text_of::<GuidAs<'n'>, _>(&guid), "0123456789abcdef0123456789abcdef"),
        (text_of::<GuidAs<'B'>, _>(&guid), "{01234567-89AB-CDEF-0123-456789ABCDEF}"),
        (text_of::<Percent, _>(&"a b/é".to_owned()), "a%20b%2F%C3%A9"),
        (text_of::<Iso, _>(&instant("2014-04-23T09:05:07.1234567Z")), "2014-04-23T09:05:07.1234567Z"),
        // The example in the ULID specification.
        (text_of::<Ulid, _>(&0x0156_3E3A_B5D3_D676_4C61_EFB9_9302_BD5B_u128), "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ];
    for (text, golden) in texts {
        assert_eq!(text, golden);
    }
}

#[test]
fn too_precise_and_out_of_range_values_are_refused_with_advice() {
    let fine = instant("2014-04-23T09:05:07Z");
    let error = <Minute as KeyCodec<_>>::encode(&fine, &mut String::new()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::KeyEncoding);
    assert!(error.to_string().contains("finer than `pattern(yyyyMMddTHHmm)`"), "{error}");
    for wrong in ["20140423T0960", "20140423 0905", "20140423T090", "20140423T09055", "2014０423T090"] {
        assert!(<Minute as KeyCodec<DateTime<Utc>>>::decode(wrong).is_err(), "{wrong}");
    }
    assert!(Unix::<true>::encode(&instant("1969-12-31T23:59:59Z"), &mut String::new()).is_err());
    assert!(<Inverted<Padded, 99> as KeyCodec<u32>>::encode(&100, &mut String::new()).is_err());
    for wrong in ["^", "^4", "^A", "a/b", "^\u{C0}^"] {
        assert!(Caret::decode(wrong).is_err(), "{wrong}");
    }
    for wrong in ["%", "%4", "%41", "%2f", "%+1", "%FF", "a b", "%é1"] {
        assert!(Percent::decode(wrong).is_err(), "{wrong}");
    }
    for wrong in ["007", "-0", "-", "", "+1", "256"] {
        assert!(<Unpadded as KeyCodec<u8>>::decode(wrong).is_err(), "{wrong}");
    }
}

/// Tests that any string can be hashed. The key does not contain the string, so the string may contain illegal characters or be longer than a key.
#[test]
fn a_hash_takes_any_text() {
    let url = format!("https://contoso.com/?q={}#top", "x".repeat(600));
    let (mut digits, mut bucket) = (String::new(), String::new());
    <Digest<Text, Crc32, 8> as DerivedPart<String>>::encode(&url, &mut digits).unwrap();
    <Bucket<Text, 16> as DerivedPart<String>>::encode(&url, &mut bucket).unwrap();
    assert_eq!((digits.len(), bucket.len()), (8, 2));
    let mut folded = String::new();
    <Digest<Folded<Text, false>, Crc32, 8> as DerivedPart<String>>::encode(&url.to_uppercase(), &mut folded)
        .unwrap();
    assert_eq!(folded, digits);
    assert!(Folded::<Text, false>::encode(&url, &mut String::new()).is_err(), "this text is in the key");
}

#[test]
fn derived_parts_are_checked_against_their_property() {
    let at = instant("2014-04-23T09:41:07Z");
    let mut out = String::new();
    Truncated::<Hour>::encode(&at, &mut out).unwrap();
    assert_eq!((out.as_str(), Truncated::<Hour>::check(&at, "2014042309").is_ok()), ("2014042309", true));
    assert_eq!(Truncated::<Hour>::check(&at, "2014042310").unwrap_err().code(), ErrorCode::EntityMismatch);
    assert_eq!(<Truncated<Month> as DerivedPart<DateTime<Utc>>>::NAME, "truncate(pattern(yyyyMM))");
    assert_eq!(<Digest<Padded, Crc32, 4> as DerivedPart<u32>>::NAME, "hash(crc32,4,padded:10)");
    assert_eq!(<Replaced<Text, '/', '_'> as DerivedPart<String>>::NAME, "replaced(/,_,text)");
    assert_eq!(
        <Digest<Folded<Text, false>, Crc32, 8, 'X'> as DerivedPart<String>>::NAME,
        "hash(crc32,8,upper,folded(lower,text))"
    );
    assert_eq!(
        <Inverted<Ticks, MAX_TICKS_AND_ONE> as KeyCodec<_>>::NAME,
        "inverted(3155378976000000000,ticks)"
    );
    assert!(Folded::<Text, true>::check(&"Ada".to_owned(), "ADA").is_ok());
    const { assert!(!<Folded<Text, true> as DerivedPart<String>>::FORM.ordered) };
    const { assert!(<Truncated<Month> as DerivedPart<DateTime<Utc>>>::FORM.ordered) };
}
