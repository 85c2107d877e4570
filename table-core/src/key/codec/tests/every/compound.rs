//! Tests that an encoded part can be extracted from compound keys, with different literals and parts around it.

use super::*;
use crate::key::codec::compound::{Piece, Splitter, fault};

/// A position in a compound key.
#[derive(Clone, Copy)]
enum Place {
    Literal(&'static str),
    /// The part whose codec is under test.
    Own,
    /// A string next to the part.
    Neighbour,
}

use Place::{Literal, Neighbour, Own};

const LAYOUTS: [&[Place]; 7] = [
    &[Own],
    &[Literal("p"), Own],
    &[Own, Literal("s")],
    &[Neighbour, Literal("|"), Own],
    &[Own, Literal("|"), Neighbour],
    &[Own, Literal("|"), Own],
    &[Own, Literal("|"), Own, Literal("|"), Neighbour],
];

/// Checks that each encoded value of a part can be extracted from every valid compound key that contains it.
pub(super) fn compound(name: &str, form: Form, texts: &[String]) -> Result<(), TestCaseError> {
    const NEIGHBOUR: &str = "a|_x7";
    let mut sound = 0;
    for layout in LAYOUTS {
        let piece = |place: &Place| match place {
            Literal(literal) => Piece::Literal(literal),
            Own => Piece::Part(form),
            Neighbour => Piece::Part(<Text as KeyCodec<String>>::FORM),
        };
        let pieces: Vec<Piece> = layout.iter().map(piece).collect();
        if fault(&pieces).is_some() {
            continue;
        }
        sound += 1;
        for (at, text) in texts.iter().enumerate() {
            // If a key contains the tested part twice, the two values differ.
            let mut own = [text, texts.get(at + 1).unwrap_or(text)].into_iter();
            let written: Vec<(&Place, &str)> = layout
                .iter()
                .map(|place| match place {
                    Literal(literal) => (place, *literal),
                    Own => (place, own.next().map_or("", String::as_str)),
                    Neighbour => (place, NEIGHBOUR),
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
