//! The laws on the codecs of other programs' layouts, alone, reversed and in compound keys; and literal keys of public projects.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, TimeZone, Timelike, Utc};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ErrorCode;
use crate::key::codec::compound::{Piece, Splitter, fault};

const MAX_TICKS_AND_ONE: u64 = 3_155_378_976_000_000_000;
const LONG_MAX: u64 = 9_223_372_036_854_775_807;

type Day = Pattern<{ pattern("yyyy-MM-dd") }>;
type American = Pattern<{ pattern("MMddyyyy") }>;
type Month = Pattern<{ pattern("yyyyMM") }>;
type Minute = Pattern<{ pattern("yyyyMMddTHHmm") }>;
type Iso = Pattern<{ pattern("yyyy-MM-ddTHH:mm:ss.fffffffZ") }>;
type Clock = Pattern<{ pattern("HH:mm:ss.fff") }>;

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Holds a codec to the laws where another part stands before it, and after it where the pieces are sound.
fn compound<C: KeyCodec<T>, T: std::fmt::Debug + PartialEq>(values: &[T]) -> Result<(), TestCaseError> {
    const TEXT: Form = <Text as KeyCodec<String>>::FORM;
    let (part, text) = (Piece::Part(C::FORM), Piece::Part(TEXT));
    let layouts = [
        vec![part],
        vec![Piece::Literal("p"), part],
        vec![text, Piece::Literal("|"), part],
        vec![part, Piece::Literal("|"), text],
        vec![part, Piece::Literal("|"), part],
    ];
    for pieces in layouts.iter().filter(|pieces| fault(pieces).is_none()) {
        for value in values {
            let mut texts = Vec::new();
            let mut key = String::new();
            for piece in pieces {
                match piece {
                    Piece::Literal(literal) => key.push_str(literal),
                    Piece::Part(form) => {
                        let mut written = String::new();
                        if *form == TEXT && *form != C::FORM {
                            written.push_str("a|_x7");
                        } else if C::encode(value, &mut written).is_err() {
                            return Ok(());
                        }
                        key.push_str(&written);
                        texts.push(written);
                    }
                }
            }
            let mut parts = Splitter::new(pieces, &key);
            for expected in &texts {
                prop_assert_eq!(parts.next_part().unwrap(), expected, "{} in {:?}", C::NAME, pieces);
            }
            parts.finish().unwrap();
        }
    }
    Ok(())
}

/// The laws alone, and in compound keys.
fn held<C: KeyCodec<T>, T: Ord + std::fmt::Debug>(values: &[T]) -> Result<(), TestCaseError> {
    checked::<C, T>(values)?;
    compound::<C, T>(values)
}

proptest! {
    #[test]
    fn k1_to_k4_hexadecimal_and_unpadded_integers(
        mut values in prop::collection::vec((any::<u64>(), 0..64u32), 1..24)
            .prop_map(|values| values.into_iter().map(|(value, shift)| value >> shift).collect::<Vec<_>>()),
    ) {
        values.extend([0, 1, 9, 10, 15, 16, u64::MAX]);
        held::<Hex<16>, u64>(&values)?;
        held::<Hex<2>, u64>(&values)?;
        held::<Hex<16, true>, u64>(&values)?;
        held::<Desc<Hex<16>>, u64>(&values)?;
        held::<Desc<Hex<3, true>>, u64>(&values)?;
        held::<Unpadded, u64>(&values)?;
        held::<Inverted<Padded, LONG_MAX>, u64>(&values)?;
        let signed: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
        held::<Unpadded, i64>(&signed)?;
        let wide: Vec<u128> = values.iter().map(|value| u128::from(*value) << 64 | u128::from(*value)).collect();
        held::<Hex<32>, u128>(&wide)?;
        held::<Desc<Hex<32>>, u128>(&wide)?;
        held::<Ulid, u128>(&wide)?;
        held::<Desc<Ulid>, u128>(&wide)?;
        let guids: Vec<Uuid> = wide.iter().map(|value| Uuid::from_u128(*value)).collect();
        held::<Ulid, Uuid>(&guids)?;
        held::<GuidAs<'n'>, Uuid>(&guids)?;
        held::<GuidAs<'N'>, Uuid>(&guids)?;
        held::<GuidAs<'D'>, Uuid>(&guids)?;
        held::<GuidAs<'b'>, Uuid>(&guids)?;
        held::<Desc<GuidAs<'B'>>, Uuid>(&guids)?;
        let ulids: Vec<String> = wide.iter().map(text_of::<Ulid, u128>).chain([String::new(), "01h2xcejqtf2nbrgxs3vqjhp41".to_owned()]).collect();
        held::<Ulid, String>(&ulids)?;
    }

    #[test]
    fn k1_to_k4_instants_and_days_by_pattern(
        steps in prop::collection::vec((-62_167_219_200i64..253_402_300_800, prop::sample::select(vec![0u32, 100, 1_000_000, 250_000_000])), 1..24),
    ) {
        let mut instants: Vec<DateTime<Utc>> = Vec::new();
        for (seconds, nanos) in steps {
            let at = Utc.timestamp_opt(seconds, nanos).unwrap();
            let minute = at.with_second(0).unwrap().with_nanosecond(0).unwrap();
            let month = minute.with_day(1).unwrap().with_hour(0).unwrap().with_minute(0).unwrap();
            instants.extend([at, at.with_nanosecond(0).unwrap(), minute, month]);
        }
        instants.extend([instant("0000-01-01T00:00:00Z"), instant("9999-12-31T23:59:59.999Z"), DateTime::<Utc>::MAX_UTC]);
        held::<Iso, _>(&instants)?;
        held::<Desc<Iso>, _>(&instants)?;
        held::<Minute, _>(&instants)?;
        held::<Desc<Minute>, _>(&instants)?;
        held::<Month, _>(&instants)?;
        let from_1970: Vec<DateTime<Utc>> = instants.iter().filter(|at| at.year() >= 1970).copied().chain([DateTime::UNIX_EPOCH]).collect();
        held::<Unix<true>, _>(&from_1970)?;
        held::<Unix<false>, _>(&from_1970)?;
        held::<Desc<Unix<true>>, _>(&from_1970)?;
        held::<Inverted<Unix<true>, LONG_MAX>, _>(&from_1970)?;
        held::<Inverted<Ticks, MAX_TICKS_AND_ONE>, _>(&from_1970)?;
        let days: Vec<NaiveDate> = instants.iter().map(DateTime::date_naive).collect();
        held::<Day, _>(&days)?;
        held::<Desc<Day>, _>(&days)?;
        held::<American, _>(&days)?;
        let times: Vec<NaiveTime> = instants.iter().map(DateTime::time).collect();
        held::<Clock, _>(&times)?;
        // A cut value is never later than the value, and its text never sorts after that of a later one.
        for at in &from_1970 {
            let cut = <Minute as Truncates<DateTime<Utc>>>::truncate(at);
            prop_assert!(cut.is_none_or(|cut| cut <= *at && text_of::<Minute, _>(&cut).len() == 13));
        }
    }

    #[test]
    fn k1_to_k4_escapes_of_others(mut values in prop::collection::vec(awkward_text(), 1..24)) {
        values.push(String::new());
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        laws::check_texts::<Caret>(&values).map_err(TestCaseError::fail)?;
        laws::check_texts::<Percent>(&values).map_err(TestCaseError::fail)?;
        let owned: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        compound::<Caret, _>(&owned)?;
        compound::<Percent, _>(&owned)?;
        for value in values {
            prop_assert!(Caret::encode_str(value, &mut String::new()).is_ok(), "nothing short is refused");
            prop_assert!(Percent::encode_str(value, &mut String::new()).is_ok(), "nothing short is refused");
        }
    }
}

#[test]
fn literal_keys_of_public_projects() {
    let guid = Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
    let day = NaiveDate::from_ymd_opt(2014, 4, 23).unwrap();
    let at = instant("2000-01-20T11:25:42Z");
    let texts = [
        // `DurableTask.AzureStorage`: `KeySanitation.EscapePartitionKey`; rows of history are `{sequence:X16}`.
        (text_of::<Caret, _>(&"!@#$%^&*()_+=-0987654321d".to_owned()), "!@^2$%^^&*()_+=-0987654321d"),
        (text_of::<Caret, _>(&"\u{1F}\u{7F}\u{9F}".to_owned()), "^\u{DF}^\u{13F}^\u{15F}"),
        (text_of::<Hex<16, true>, _>(&0x2A_u64), "000000000000002A"),
        // `Akka.Persistence.Azure`: a sequence number of 19 digits beside `highestSequenceNr`.
        (text_of::<Digits<19>, _>(&7u64), "0000000000000000007"),
        // Logs of Azure Diagnostics: `0` and ticks, the literal in the key.
        (text_of::<Ticks, _>(&at), "0630839643420000000"),
        // The guest book of the Windows Azure training kit: `MMddyyyy`, and inverted ticks.
        (text_of::<American, _>(&day), "04232014"),
        (text_of::<Desc<Ticks>, _>(&at), "2524539332579999999"),
        (text_of::<Inverted<Ticks, MAX_TICKS_AND_ONE>, _>(&at), "2524539332580000000"),
        // Java's habit: `Long.MAX_VALUE - System.currentTimeMillis()`.
        (text_of::<Inverted<Unix<true>, LONG_MAX>, _>(&at), "9223371088487233807"),
        (text_of::<Desc<Unix<true>>, _>(&at), "9051632457999"),
        // .NET: `Guid.ToString("N")`, `("B")` in capitals, `Uri.EscapeDataString`, `DateTime.ToString("o")`.
        (text_of::<GuidAs<'n'>, _>(&guid), "0123456789abcdef0123456789abcdef"),
        (text_of::<GuidAs<'B'>, _>(&guid), "{01234567-89AB-CDEF-0123-456789ABCDEF}"),
        (text_of::<Percent, _>(&"a b/é".to_owned()), "a%20b%2F%C3%A9"),
        (text_of::<Iso, _>(&instant("2014-04-23T09:05:07.1234567Z")), "2014-04-23T09:05:07.1234567Z"),
        // The specification of ULID.
        (text_of::<Ulid, _>(&0x0156_3E3A_B5D3_D676_4C61_EFB9_9302_BD5B_u128), "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ];
    for (text, golden) in texts {
        assert_eq!(text, golden);
    }
}

#[test]
fn what_is_finer_or_outside_is_refused_with_advice() {
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
        <Inverted<Ticks, MAX_TICKS_AND_ONE> as KeyCodec<_>>::NAME,
        "inverted(3155378976000000000,ticks)"
    );
    assert!(Folded::<Text, true>::check(&"Ada".to_owned(), "ADA").is_ok());
    const { assert!(!<Folded<Text, true> as DerivedPart<String>>::FORM.ordered) };
    const { assert!(<Truncated<Month> as DerivedPart<DateTime<Utc>>>::FORM.ordered) };
}
