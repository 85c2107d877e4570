//! Tests that the results of comparing two layouts are correct for every key that matches them.

use proptest::prelude::*;

use super::*;
use crate::key::codec::{Date, Digits, Escaped, KeyCodec, Padded, Text, Without};

const fn field(form: Form) -> KeyPiece {
    KeyPiece::Field { field: "field", codec: "codec", form }
}

const fn literal(text: &'static str) -> KeyPiece {
    KeyPiece::Literal(text)
}

const ID: KeyPiece = field(<Digits<6> as KeyCodec<u32>>::FORM);
const YEAR: KeyPiece = field(<Digits<4> as KeyCodec<u16>>::FORM);
const DAY: KeyPiece = field(<Date as KeyCodec<chrono::NaiveDate>>::FORM);
const TEXT: KeyPiece = field(<Text as KeyCodec<String>>::FORM);
const NAME: KeyPiece = field(<Without<'_'> as KeyCodec<String>>::FORM);
const ESCAPED: KeyPiece = field(<Escaped as KeyCodec<String>>::FORM);
const SIGNED: KeyPiece = field(<Padded as KeyCodec<i8>>::FORM);

const EMPLOYEE: &[KeyPiece] = &[literal("empid_"), ID];
const REVIEW: &[KeyPiece] = &[literal("empid_"), ID, literal("_"), YEAR];

fn both_ways(a: &[KeyPiece], b: &[KeyPiece]) -> bool {
    assert_eq!(disjoint(a, b), disjoint(b, a), "{a:?} {b:?}");
    disjoint(a, b)
}

#[test]
fn pat_het_1_disjointness_is_proven_where_possible() {
    let proven: [(&[KeyPiece], &[KeyPiece]); 12] = [
        (&[literal("EMPLOYEE_"), ID], &[literal("DEPARTMENT_"), TEXT]),
        (EMPLOYEE, REVIEW),
        (&[literal("é"), TEXT], &[literal("è"), TEXT]),
        (&[NAME], &[NAME, literal("_"), ID]),
        (&[literal("a_"), NAME], &[literal("a_"), NAME, literal("_"), TEXT]),
        (&[NAME, literal("_")], &[NAME, literal("_to_"), NAME]),
        (&[literal("a_"), ID], &[literal("a_"), DAY]),
        (&[literal("a_"), ID], &[literal("a_x"), TEXT]),
        (&[TEXT, literal("a")], &[TEXT, literal("b")]),
        (&[ID, literal("_"), TEXT], &[YEAR, literal("_"), TEXT]),
        (&[literal("")], &[literal("a"), TEXT]),
        (&[ESCAPED], &[ESCAPED, literal("!"), ID]),
    ];
    for (a, b) in proven {
        assert!(both_ways(a, b), "{a:?} {b:?}");
    }
    let not_proven: [(&[KeyPiece], &[KeyPiece]); 5] = [
        (EMPLOYEE, EMPLOYEE),
        (&[literal("empid_"), TEXT], REVIEW),
        (&[TEXT], &[literal("a")]),
        (&[literal("a"), NAME], &[literal("ab"), NAME]),
        (&[SIGNED], &[field(Form::fixed(4, true, Alphabet::LEGAL))]),
    ];
    for (a, b) in not_proven {
        assert!(!both_ways(a, b), "{a:?} {b:?}");
    }
}

#[test]
fn pat_ck_1_a_layout_begins_with_its_owners() {
    assert!(begins(EMPLOYEE, EMPLOYEE) && begins(EMPLOYEE, REVIEW) && !begins(REVIEW, EMPLOYEE));
    assert!(begins(&[literal("empid_")], EMPLOYEE) && begins(&[literal("emp")], EMPLOYEE));
    assert!(begins(&[NAME, literal("_")], &[NAME, literal("_"), ID]));
    let suffixed = [TEXT, literal("_"), ID];
    assert!(!begins(&suffixed, &suffixed), "'a_000001' is the beginning of a longer text, too");
    assert!(fits(&suffixed, "a_b_000001") && !fits(&suffixed, "a_b_0000x1"));
    assert!(!begins(&[NAME], &[NAME, literal("_"), ID]), "'Al' is the beginning of 'Alfred', too");
    assert!(!begins(&[literal("empid_"), YEAR], REVIEW), "other digits");
    assert!(!begins(&[literal("empid_"), literal("a")], EMPLOYEE) && !begins(&[], EMPLOYEE));
}

#[test]
fn a_text_fits_a_layout_only_as_a_whole() {
    for (text, employee, review) in [
        ("empid_000123", true, false),
        ("empid_000123_2012", false, true),
        ("empid_00012", false, false),
        ("empid_00012x", false, false),
        ("empid_0001234", false, false),
        ("Empid_000123", false, false),
        ("", false, false),
    ] {
        assert_eq!((fits(EMPLOYEE, text), fits(REVIEW, text)), (employee, review), "{text}");
    }
    assert!(fits(&[NAME, literal("_"), TEXT], "_a_b") && !fits(&[NAME, literal("_"), TEXT], "ab"));
    assert!(fits(&[field(Form::fixed(2, false, Alphabet::LEGAL))], "\u{1F600}"), "UTF-16 code units");
}

const CHARACTERS: [char; 8] = ['a', 'b', '_', '0', '9', '!', 'é', '\u{1F600}'];

fn forms() -> impl Strategy<Value = Form> {
    let alphabet = prop_oneof![
        Just(Alphabet::DIGITS),
        Just(Alphabet::of("ab")),
        Just(Alphabet::of("ab_é")),
        Just(Alphabet::LEGAL),
        Just(Alphabet::LEGAL.without('_')),
    ];
    (0_usize..4, 0_usize..4, any::<bool>(), alphabet).prop_map(|(min, more, is_fixed, alphabet)| Form {
        min,
        max: if is_fixed { min } else { min + more },
        ordered: false,
        alphabet,
    })
}

fn pieces() -> impl Strategy<Value = Vec<KeyPiece>> {
    let literals = prop_oneof![Just(""), Just("a"), Just("ab"), Just("_"), Just("a_"), Just("é"), Just("0")];
    let piece = prop_oneof![literals.prop_map(KeyPiece::Literal), forms().prop_map(field)];
    prop::collection::vec(piece, 1..5)
}

/// Returns a string that matches a layout. `choices` selects the characters of each part from its alphabet.
fn text(pieces: &[KeyPiece], choices: &[usize]) -> String {
    let mut choices = choices.iter().cycle().copied();
    let mut choose = |among: usize| choices.next().unwrap_or(0) % among;
    let mut text = String::new();
    for piece in pieces {
        match piece.piece() {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Part(form) => {
                let allowed: Vec<_> =
                    CHARACTERS.into_iter().filter(|it| form.alphabet.contains(*it)).collect();
                let mut left = form.min + choose(form.max - form.min + 1);
                while left > 0 {
                    let character = allowed[choose(allowed.len())];
                    let character = if character.len_utf16() > left { allowed[0] } else { character };
                    text.push(character);
                    left -= character.len_utf16();
                }
            }
        }
    }
    text
}

/// Returns `true` if a string matches a layout. Tries all splits one after another.
fn has_split(pieces: &[KeyPiece], text: &str) -> bool {
    let Some((piece, after)) = pieces.split_first() else { return text.is_empty() };
    match piece.piece() {
        Piece::Literal(literal) => text.strip_prefix(literal).is_some_and(|rest| has_split(after, rest)),
        Piece::Part(form) => (0..=text.len()).any(|end| {
            text.split_at_checked(end).is_some_and(|(part, rest)| {
                (form.min..=form.max).contains(&part.encode_utf16().count())
                    && part.chars().all(|it| form.alphabet.contains(it))
                    && has_split(after, rest)
            })
        }),
    }
}

#[test]
fn a_key_of_ambiguous_pieces_matches_in_linear_time() {
    let name_and_kind =
        [TEXT, literal("-"), field(Form { min: 3, max: 4, ordered: false, alphabet: Alphabet::of("a-bcd") })];
    assert!(
        fits(&name_and_kind, "x-a-b") && fits(&name_and_kind, "x-y-a-cd") && !fits(&name_and_kind, "x-a-")
    );
    assert!(
        fits(&[TEXT, TEXT], "")
            && fits(&[TEXT, TEXT], &"a".repeat(1024))
            && !fits(&[TEXT, TEXT], &"a".repeat(1025))
    );
    // Trying one split after another would take practically forever here.
    let many = [
        TEXT,
        literal("a"),
        TEXT,
        literal("a"),
        TEXT,
        literal("a"),
        TEXT,
        literal("a"),
        TEXT,
        literal("a"),
        TEXT,
        literal("b"),
    ];
    assert!(!fits(&[&many[..], &[TEXT, literal("c")]].concat(), &"a".repeat(512)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn pat_het_1_no_text_fits_two_disjoint_layouts(
        a in pieces(),
        b in pieces(),
        choices in prop::collection::vec(0_usize..64, 1..16),
    ) {
        let is_disjoint = both_ways(&a, &b);
        for text in [text(&a, &choices), text(&b, &choices)] {
            prop_assert!(!(is_disjoint && fits(&a, &text) && fits(&b, &text)), "'{}'", text);
        }
        // Complete strings generated from disjoint layouts differ.
        prop_assert!(!is_disjoint || text(&a, &choices) != text(&b, &choices));
    }

    #[test]
    fn every_key_matches_its_pieces_even_if_they_are_ambiguous(
        a in pieces(),
        choices in prop::collection::vec(0_usize..64, 1..16),
    ) {
        let text = text(&a, &choices);
        prop_assert!(fits(&a, &text), "'{}'", text);
    }

    #[test]
    fn a_text_matches_if_one_of_all_its_splits_does(
        a in pieces(),
        characters in prop::collection::vec(0_usize..CHARACTERS.len(), 0..8),
    ) {
        let text: String = characters.into_iter().map(|at| CHARACTERS[at]).collect();
        prop_assert_eq!(fits(&a, &text), has_split(&a, &text), "'{}'", text);
    }
}
