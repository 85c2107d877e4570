//! Tests that compound keys satisfy K2 and K3. All values in small domains, and random pieces, are checked against the computed properties.

use proptest::prelude::*;

use super::*;
use crate::key::codec::tests::{Ascending, Mixed};
use crate::key::codec::{
    Alphabet, Boolean, Date, Desc, Digits, Escaped, KeyCodec, KeyEnum, Padded, Signed, Text, TextCodec,
    Variant, Without,
};
use crate::key::order::compare;

/// The rank of a value. Ranks are ordered like the values of the type.
type Rank = Vec<u32>;

/// Sample values for a codec, each with its rank and its encoding.
#[derive(Clone, Debug)]
struct Sample {
    form: Form,
    values: Vec<(Rank, String)>,
}

fn sample<C: KeyCodec<T>, T>(values: impl IntoIterator<Item = T>, rank: impl Fn(&T) -> Rank) -> Sample {
    let encoded = |value: &T| {
        let mut text = String::new();
        C::encode(value, &mut text).ok().map(|()| text)
    };
    let mut values: Vec<_> =
        values.into_iter().filter_map(|value| encoded(&value).map(|text| (rank(&value), text))).collect();
    if C::FACTS.descending {
        for (rank, _) in &mut values {
            for place in rank {
                *place = u32::MAX - *place;
            }
        }
    }
    Sample { form: C::FORM, values }
}

/// Returns sample strings: some contain separators, some are prefixes of others, and some contain characters that sort differently in UTF-8 and UTF-16.
fn texts<C: TextCodec>() -> Sample {
    const TEXTS: [&str; 22] = [
        "",
        "_",
        "!",
        " ",
        "a",
        "a_",
        "_a",
        "a_a",
        "a a",
        "a!",
        "a!a",
        "ab",
        "b",
        "/",
        "a/",
        "0",
        "00",
        "_0",
        "~",
        "é",
        "\u{FF21}",
        "\u{1F600}",
    ];
    sample::<C, String>(TEXTS.map(str::to_owned), |text| text.encode_utf16().map(u32::from).collect())
}

fn number(value: i32) -> Rank {
    vec![u32::try_from(value + 1_000_000).unwrap()]
}

fn samples() -> Vec<Sample> {
    let place = |index: usize| vec![u32::try_from(index).unwrap()];
    vec![
        sample::<Padded, u8>([0, 1, 9, 10, 255], |value| number((*value).into())),
        sample::<Padded, i8>([-128, -10, -1, 0, 1, 127], |value| number((*value).into())),
        sample::<Digits<2>, u32>([0, 1, 10, 99], |value| number((*value).try_into().unwrap())),
        sample::<Digits<1, Signed>, i32>([-9, -1, 0, 1, 9], |value| number(*value)),
        sample::<Desc<Digits<2>>, u32>([0, 1, 10, 99], |value| number((*value).try_into().unwrap())),
        sample::<Date, _>([chrono::NaiveDate::MIN, chrono::NaiveDate::default()], |_| place(0)),
        sample::<Boolean, _>([false, true], |value| place(usize::from(*value))),
        sample::<Variant, Ascending>((0..5).filter_map(Ascending::from_index), |value| place(value.index())),
        sample::<Variant, Mixed>((0..3).filter_map(Mixed::from_index), |value| place(value.index())),
        texts::<Text>(),
        texts::<Without<'_'>>(),
        texts::<Without<' '>>(),
        texts::<Escaped>(),
    ]
}

const LITERALS: [&str; 9] = ["", "_", " ", "!", "-", "0", "a", "_x", "é"];

/// A key with one value for each part.
#[derive(Debug)]
struct Key<'a> {
    ranks: Vec<&'a Rank>,
    texts: Vec<&'a str>,
    text: String,
}

fn key<'a>(pieces: &[Piece], values: &[&'a (Rank, String)]) -> Key<'a> {
    let mut parts = values.iter();
    let text = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Literal(literal) => literal,
            Piece::Part(_) => parts.next().unwrap().1.as_str(),
        })
        .collect();
    Key {
        ranks: values.iter().map(|value| &value.0).collect(),
        texts: values.iter().map(|value| value.1.as_str()).collect(),
        text,
    }
}

/// Checks two keys against the properties computed from their pieces, such as the order. The pieces must form a valid key.
fn kept(pieces: &[Piece], left: &Key<'_>, right: &Key<'_>) -> Result<(), String> {
    let fault = |law: &str| Err(format!("{law}: {pieces:?} makes {left:?} and {right:?}"));
    if (left.ranks == right.ranks) != (left.text == right.text) {
        return fault("K2");
    }
    let texts = compare(&left.text, &right.text);
    if tuple_ordered(pieces) && left.ranks.cmp(&right.ranks) != texts {
        return fault("K3 of tuples");
    }
    let parts = pieces.iter().enumerate().filter(|(_, piece)| matches!(piece, Piece::Part(_)));
    for ((place, _), (a, b)) in parts.zip(left.ranks.iter().zip(&right.ranks)) {
        if a != b {
            if keeps_order(pieces, place) && a.cmp(b) != texts {
                return fault("K3 of a part");
            }
            let pinned = begin(pieces, left, place);
            if is_self_delimiting(pieces, place) && pinned != left.text && right.text.starts_with(&pinned) {
                return fault("what is told");
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the text of a key up to a part, including the literals after the part. All keys with the same values up to this part start with the returned text.
fn begin(pieces: &[Piece], key: &Key<'_>, part: usize) -> String {
    let mut texts = key.texts.iter();
    let mut begin = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(literal) => begin.push_str(literal),
            Piece::Part(_) if at > part => break,
            Piece::Part(_) => begin.push_str(texts.next().unwrap()),
        }
    }
    begin
}

fn split(pieces: &[Piece], key: &Key<'_>) -> crate::Result<()> {
    let mut parts = Splitter::new(pieces, &key.text);
    for text in &key.texts {
        assert_eq!(parts.next_part()?, *text, "{pieces:?} of '{}'", key.text);
    }
    assert!(parts.clone().next_part().is_err(), "no part is left");
    parts.finish()
}

#[test]
fn k2_and_k3_every_pair_of_codecs_and_separator_on_every_value() {
    let samples = samples();
    let (mut sound, mut ordered) = (0, 0);
    for first in &samples {
        for second in &samples {
            for literal in LITERALS {
                let pieces = [Piece::Part(first.form), Piece::Literal(literal), Piece::Part(second.form)];
                if fault(&pieces).is_some() {
                    continue;
                }
                sound += 1;
                ordered += usize::from(tuple_ordered(&pieces));
                let mut keys: Vec<Key<'_>> = first
                    .values
                    .iter()
                    .flat_map(|a| second.values.iter().map(move |b| (a, b)))
                    .map(|(a, b)| key(&pieces, &[a, b]))
                    .collect();
                for key in &keys {
                    split(&pieces, key).unwrap();
                    let units = key.text.encode_utf16().count();
                    assert!((shortest(&pieces)..=longest(&pieces)).contains(&units));
                }
                // Sorting makes equal keys, and keys in the wrong order, adjacent.
                keys.sort_by(|a, b| compare(&a.text, &b.text));
                for pair in keys.windows(2) {
                    let [a, b] = pair else { panic!("windows of two") };
                    kept(&pieces, a, b).unwrap();
                }
            }
        }
    }
    assert!(sound > 1_000 && ordered > 700, "most pieces are sound ({sound}) and many ordered ({ordered})");
}

/// Searches for counterexamples. The first result is `true` if two different combinations of values have the same key (K2). The second is `true` if the order
/// of two keys contradicts the order of their first parts (K3).
fn counterexamples(first: &Sample, literal: &'static str, second: &Sample) -> (bool, bool) {
    let pieces = [Piece::Part(first.form), Piece::Literal(literal), Piece::Part(second.form)];
    let pairs = || first.values.iter().flat_map(|a| second.values.iter().map(move |b| [a, b]));
    let keys: Vec<Key<'_>> = pairs().map(|values| key(&pieces, &values)).collect();
    let any = |broken: fn(&Key<'_>, &Key<'_>) -> bool| keys.iter().any(|a| keys.iter().any(|b| broken(a, b)));
    (
        any(|a, b| a.ranks != b.ranks && a.text == b.text),
        any(|a, b| a.ranks.first() < b.ranks.first() && compare(&a.text, &b.text).is_gt()),
    )
}

#[test]
fn pat_ck_2_and_4_refused_keys_have_counterexamples() {
    let id = sample::<Digits<2>, u32>([0, 10, 99], |value| number((*value).try_into().unwrap()));
    assert_eq!(counterexamples(&texts::<Text>(), "_", &texts::<Text>()), (true, true));
    assert_eq!(counterexamples(&texts::<Text>(), "", &id), (false, true));
    assert_eq!(counterexamples(&texts::<Text>(), "", &texts::<Text>()), (true, true));
    assert_eq!(counterexamples(&texts::<Without<'_'>>(), "_", &id), (false, true));
    assert_eq!(counterexamples(&texts::<Without<' '>>(), " ", &id), (false, false));
    assert_eq!(counterexamples(&texts::<Escaped>(), "!", &id), (false, false));
    let mixed = sample::<Variant, Mixed>((0..3).filter_map(Mixed::from_index), |value| {
        vec![u32::try_from(value.index()).unwrap()]
    });
    assert_eq!(counterexamples(&mixed, "_", &id), (false, true));
}

/// Generates up to six pieces and, for each part, the index of its sample.
fn random_pieces() -> impl Strategy<Value = (Vec<Piece>, Vec<usize>)> {
    let samples = samples();
    let literal = prop::sample::select(LITERALS.to_vec()).prop_map(|literal| (Piece::Literal(literal), None));
    let part = (0..samples.len()).prop_map(move |index| (Piece::Part(samples[index].form), Some(index)));
    prop::collection::vec(prop_oneof![literal, part], 1..7).prop_map(|pieces| {
        let parts = pieces.iter().filter_map(|(_, index)| *index).collect();
        (pieces.into_iter().map(|(piece, _)| piece).collect(), parts)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn k2_and_k3_random_pieces_satisfy_what_is_predicted(
        (pieces, parts) in random_pieces().prop_filter("sound", |(pieces, _)| fault(pieces).is_none()),
        choices in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 6), 2..12),
    ) {
        let samples = samples();
        let keys: Vec<Key<'_>> = choices
            .iter()
            .map(|choice| {
                let values: Vec<_> = parts.iter().zip(choice).map(|(part, index)| index.get(&samples[*part].values)).collect();
                key(&pieces, &values)
            })
            .collect();
        for a in &keys {
            prop_assert!(split(&pieces, a).is_ok());
            for b in &keys {
                kept(&pieces, a, b).map_err(TestCaseError::fail)?;
            }
        }
    }

    #[test]
    fn splitting_any_text_by_any_pieces_never_panics((pieces, parts) in random_pieces(), text in "[a_0!é\u{1F600} -]{0,12}") {
        let mut splitter = Splitter::new(&pieces, &text);
        let found: crate::Result<Vec<&str>> = parts.iter().map(|_| splitter.next_part()).collect();
        if let (Ok(found), Ok(())) = (found, splitter.finish()) {
            let rebuilt: Vec<(Rank, String)> = found.into_iter().map(|text| (Vec::new(), text.to_owned())).collect();
            prop_assert_eq!(key(&pieces, &rebuilt.iter().collect::<Vec<_>>()).text, text);
        }
    }
}

const TEXT: Piece = Piece::Part(<Text as KeyCodec<String>>::FORM);
const ID: Piece = Piece::Part(<Digits<6> as KeyCodec<u32>>::FORM);
const UNPADDED: Piece = Piece::Part(Form { min: 1, max: 10, ordered: false, alphabet: Alphabet::DIGITS });
const YEAR: Piece = Piece::Part(<Digits<4> as KeyCodec<u16>>::FORM);
const REVIEW: &[Piece] = &[Piece::Literal("empid_"), ID, Piece::Literal("_"), YEAR];

#[test]
fn faults_name_the_piece() {
    let long = Piece::Part(Form { min: 0, max: 300, ..<Text as KeyCodec<String>>::FORM });
    let cases: [(&[Piece], Option<Fault>); 18] = [
        (&[], Some(Fault::Empty)),
        (&[Piece::Literal("")], None),
        (&[Piece::Literal("Sales é\u{A0}")], None),
        (&[ID, Piece::Literal("a/b")], Some(Fault::IllegalLiteral { piece: 1 })),
        (&[Piece::Literal("\u{85}")], Some(Fault::IllegalLiteral { piece: 0 })),
        (&[TEXT, ID], None),
        (&[TEXT, Piece::Literal(""), TEXT], Some(Fault::Ambiguous { part: 0 })),
        (&[TEXT, Piece::Literal("_"), UNPADDED], None),
        (&[TEXT, UNPADDED], Some(Fault::Ambiguous { part: 0 })),
        (&[TEXT, Piece::Literal("0"), UNPADDED], Some(Fault::Ambiguous { part: 0 })),
        (&[UNPADDED, Piece::Literal("0"), ID, UNPADDED], Some(Fault::Ambiguous { part: 0 })),
        (&[TEXT, Piece::Literal(""), Piece::Literal("")], None),
        (&[ID, TEXT, Piece::Literal("é")], None),
        (&[ID, TEXT], None),
        (&[ID, YEAR, ID], None),
        (&[long, Piece::Literal("_"), long], Some(Fault::Ambiguous { part: 0 })),
        (&[ID, Piece::Part(Form::fixed(507, true, Alphabet::DIGITS))], Some(Fault::TooLong { units: 513 })),
        (&[ID, Piece::Part(Form::fixed(506, true, Alphabet::DIGITS)), TEXT], None),
    ];
    for (pieces, expected) in cases {
        assert_eq!(fault(pieces), expected, "{pieces:?}");
    }
    for fault in [
        Fault::Empty,
        Fault::IllegalLiteral { piece: 0 },
        Fault::Ambiguous { part: 0 },
        Fault::TooLong { units: 1 },
    ] {
        assert!(fault.message().contains([':', ';']), "a remedy: {}", fault.message());
    }
}

#[test]
fn lengths_are_those_of_the_pieces() {
    const _: () = assert!(fault(REVIEW).is_none() && tuple_ordered(REVIEW));
    assert_eq!((shortest(REVIEW), longest(REVIEW)), (17, 17));
    assert_eq!((shortest(&[ID, TEXT]), longest(&[ID, TEXT])), (6, 512));
    assert!(!keeps_order(REVIEW, 0) && keeps_order(REVIEW, 1) && !keeps_order(REVIEW, 9));
}

#[test]
fn pat_intra_and_pat_ck_layouts() {
    fn made(write: impl FnOnce(&mut String) -> crate::Result<()>) -> String {
        let mut key = "empid_".to_owned();
        write(&mut key).unwrap();
        key
    }
    assert_eq!(made(|key| Digits::<6>::encode(&223u32, key)), "empid_000223");
    let review = made(|key| {
        Digits::<6>::encode(&123u32, key)?;
        key.push('_');
        Digits::<4>::encode(&2012u16, key)
    });
    assert_eq!(review, "empid_000123_2012");

    let mut parts = Splitter::new(REVIEW, &review);
    let id: u32 = Digits::<6>::decode(parts.next_part().unwrap()).unwrap();
    let year: u16 = Digits::<4>::decode(parts.next_part().unwrap()).unwrap();
    parts.finish().unwrap();
    assert_eq!((id, year), (123, 2012));
}

#[test]
fn a_key_of_another_design_is_a_mismatch_that_names_the_piece() {
    const NAMED: &[Piece] = &[Piece::Part(<Without<'_'> as KeyCodec<String>>::FORM), Piece::Literal("_"), ID];
    let fault = |pieces: &[Piece], text: &str| {
        let mut parts = Splitter::new(pieces, text);
        let error =
            parts.next_part().and_then(|_| parts.next_part()).and_then(|_| parts.finish()).unwrap_err();
        assert_eq!(error.code(), crate::ErrorCode::EntityMismatch);
        error.to_string()
    };
    assert!(fault(REVIEW, "email_a").contains("found 'email_a' at its start, expected 'empid_'"));
    assert!(fault(REVIEW, "empid_000223").contains("found its end after 'empid_000223', expected '_'"));
    assert!(
        fault(REVIEW, "empid_000223_20")
            .contains("found '20' after 'empid_000223_', expected a part of 4 UTF-16 code units")
    );
    assert!(
        fault(REVIEW, "empid_000223_20123")
            .contains("found '3' after 'empid_000223_2012', expected the end of the key")
    );
    assert!(fault(NAMED, "Jones").contains("expected a part followed by '_'"));
}

#[test]
fn pat_ck_2_keys_are_read_from_the_right_if_one_part_takes_the_rest() {
    fn read<'a>(pieces: &'a [Piece], text: &'a str) -> Vec<&'a str> {
        let mut parts = Splitter::new(pieces, text);
        let found: Vec<&str> = std::iter::from_fn(|| parts.next_part().ok()).collect();
        parts.finish().unwrap();
        found
    }
    assert_eq!(read(&[TEXT, ID], "a_é000007"), ["a_é", "000007"]);
    assert_eq!(read(&[TEXT, Piece::Literal("_"), ID], "a_b_000007"), ["a_b", "000007"]);
    assert_eq!(read(&[TEXT, Piece::Literal("_"), UNPADDED], "a_b_7"), ["a_b", "7"]);
    assert_eq!(
        read(&[YEAR, TEXT, Piece::Literal("-x"), ID, Piece::Literal("!")], "2012-x-x000007!"),
        ["2012", "-x", "000007"]
    );
    assert_eq!(read(&[TEXT, Piece::Literal("-head")], "-head-head"), ["-head"]);
    // A missing part is an error, and no text is read twice.
    assert!(Splitter::new(&[TEXT, ID], "00007").next_part().is_err());
    assert!(Splitter::new(&[Piece::Literal("a_"), TEXT, Piece::Literal("_b")], "a_b").next_part().is_err());
    // The keys for 'a' and the keys for 'a_b' both start with 'a_'.
    assert!(
        !is_self_delimiting(&[TEXT, Piece::Literal("_"), ID], 0)
            && is_self_delimiting(&[TEXT, Piece::Literal("_"), ID], 2)
    );
    assert!(is_self_delimiting(&[ID, TEXT], 1) && is_self_delimiting(&[ID, TEXT], 9));
}
