//! Compile-time checks of a schema.

use crate::key::codec::compound::{self, Fault};
use crate::key::codec::{Facts, Form};
use crate::limits;
use crate::schema::{KeyPiece, is_same_text};

use super::key::KeyOf;
use super::message::Message;

/// Returns the form (length and alphabet) of a part. Fails if the codec is unsuitable for the field. `fault` is the codec's `Facts::fault`.
///
/// # Panics
/// Panics at compile time with the text of `fault`, if it is `Some`.
#[must_use]
pub const fn require_sound(fault: Option<&str>, field: &str, form: Form) -> Form {
    match fault {
        None => form,
        Some(fault) => panic!("{}", Message::new().with_field(fault, field).as_str()),
    }
}

const FINER: &str = "[T008] this part writes more digits than the property of the field stores, so the key would differ from the property; the property of an \
                     instant stores seven fractional digits: write at most seven `f`";

/// Returns the form of a part whose field is also stored as a property. Rejects a codec that is unsuitable for the field, or that writes more digits than the
/// property stores.
///
/// # Panics
/// Panics at compile time if the codec is rejected.
#[must_use]
pub const fn require_stored(facts: Facts, field: &str, form: Form) -> Form {
    match facts.fault {
        None if facts.finer_than_property => panic!("{}", Message::new().with(FINER).as_str()),
        fault => require_sound(fault, field, form),
    }
}

/// Fails if the pieces do not form a valid key. The message names the entity and the piece (K2, KEY-3, KEY-7).
///
/// # Panics
/// Panics at compile time if the pieces do not form a valid key.
pub const fn require_key<const N: usize>(of: &KeyOf<N>, key: &str, entity: &str) {
    let KeyOf { pieces, forms } = of;
    let Some(fault) = compound::fault(forms) else { return };
    let number = match fault {
        Fault::Empty => "[T021] the ",
        Fault::IllegalLiteral { .. } => "[T024] the ",
        Fault::Ambiguous { .. } => "[T027] the ",
        Fault::TooLong { .. } => "[T028] the ",
    };
    let message = Message::new().with(number).with(key).with(" of `").with(entity).with("`");
    let message = match fault {
        Fault::Ambiguous { part } | Fault::IllegalLiteral { piece: part } => match pieces[part] {
            KeyPiece::Literal(literal) => message.with(", literal '").with(literal).with("'"),
            KeyPiece::Field { field, .. } => message.with(", field `").with(field).with("`"),
        },
        Fault::Empty | Fault::TooLong { .. } => message,
    };
    let message = match fault {
        Fault::Ambiguous { part } => with_separator(message, pieces, part),
        _ => message.with(": ").with(fault.message()),
    };
    panic!("{}", message.as_str());
}

/// Appends the reason a part is ambiguous, and how to make it unambiguous.
const fn with_separator(message: Message, pieces: &[KeyPiece], part: usize) -> Message {
    let KeyPiece::Field { field, codec, .. } = pieces[part] else { return message };
    let fault = Fault::Ambiguous { part };
    if !is_same_text(codec, "text") || part + 1 >= pieces.len() {
        return message.with(": ").with(fault.message());
    }
    let message = message
        .with(
            ": this part has no fixed width and could contain the text after it, so two different values would have one key \
             (PAT-CK-2); write `without('",
        )
        .with(match pieces[part + 1] {
            KeyPiece::Literal(literal) => first_character(literal),
            KeyPiece::Field { .. } => "_",
        })
        .with("', ")
        .with(field);
    let message = match pieces[part + 1] {
        KeyPiece::Literal(_) => message.with(")`, which refuses values with this character"),
        KeyPiece::Field { .. } => message.with("), \"_\"`, which refuses values with this character"),
    };
    message.with("; or `escaped(").with(field).with("), \"!\"`, which writes any text; or put it last")
}

/// Returns the first character of a string.
const fn first_character(text: &str) -> &str {
    let mut end = 1;
    while end < text.len() && !text.is_char_boundary(end) {
        end += 1;
    }
    if text.is_empty() { "_" } else { text.split_at(end).0 }
}

/// Fails if a key that is declared as ambiguous could be decoded. An ambiguous key is never decoded, because different values may have the same text.
///
/// # Panics
/// Panics at compile time if the pieces do not form a valid key, or if the key is not ambiguous.
pub const fn require_ambiguous<const N: usize>(of: &KeyOf<N>, key: &str, entity: &str) {
    match compound::fault(&of.forms) {
        Some(Fault::Ambiguous { .. }) => {}
        Some(_) => require_key(of, key, entity),
        None => {
            let message = Message::new()
                .with("[T176] the ")
                .with(key)
                .with(" of `")
                .with(entity)
                .with("` is not ambiguous; its fields are read back from it, so remove the waiver");
            panic!("{}", message.as_str());
        }
    }
    if compound::shortest(&of.forms) > limits::KEY_UNITS_PORTABLE {
        let message = Message::new().with("[T028] the ").with(key).with(" of `").with(entity);
        panic!("{}", message.with("`: ").with(Fault::TooLong { units: 0 }.message()).as_str());
    }
}

/// Fails if looking up a value in an index would also read copies with other values. Every part given in a lookup must be self-delimiting, which means that its
/// text shows where it ends.
///
/// # Panics
/// Panics at compile time if one of the first `pinned` pieces is not self-delimiting.
pub const fn require_told_apart<const N: usize>(of: &KeyOf<N>, pinned: usize, index: &str, entity: &str) {
    let mut at = 0;
    while at < pinned && at < N {
        if let KeyPiece::Field { field, .. } = of.pieces[at]
            && !compound::is_self_delimiting(&of.forms, at)
        {
            let message = Message::new()
                .with("[T027] the RowKey of the index `")
                .with(index)
                .with("` of `")
                .with(entity);
            let message = message.with("`, field `").with(field).with(
                "`: a lookup would also find longer values with the same start; make it `without('_')` followed by a literal that starts with '_', \
                 or `escaped` followed by \"!\"",
            );
            panic!("{}", message.as_str());
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::{Alphabet, Form};

    const TEXT: KeyPiece = KeyPiece::Field {
        field: "name",
        codec: "text",
        form: Form { min: 0, max: 512, ordered: true, alphabet: Alphabet::LEGAL },
    };

    #[test]
    fn a_valid_key_is_accepted() {
        require_key(&KeyOf::new([KeyPiece::Literal("a_"), TEXT]), "RowKey", "Employee");
    }

    #[test]
    #[should_panic(expected = "[T008] this part writes more digits than the property of the field stores")]
    fn a_part_that_is_finer_than_its_property_is_refused() {
        use crate::key::codec::{KeyCodec, Pattern, pattern};
        use chrono::{DateTime, NaiveTime, Utc};

        const SEVEN: u128 = pattern("yyyy-MM-ddTHH:mm:ss.fffffff");
        const EIGHT: u128 = pattern("yyyy-MM-ddTHH:mm:ss.ffffffff");
        fn require<C: KeyCodec<T>, T>() {
            let _ = require_stored(C::FACTS, "", C::FORM);
        }
        require::<Pattern<SEVEN>, DateTime<Utc>>();
        // A property stores a time of day as text, with all digits.
        require::<Pattern<{ pattern("HH:mm:ss.fffffffff") }>, NaiveTime>();
        require::<Pattern<EIGHT>, DateTime<Utc>>();
    }

    #[test]
    #[should_panic(
        expected = "write `without('_', name)`, which refuses values with this character; or `escaped(name), \"!\"`"
    )]
    fn k2_an_ambiguous_part_is_named() {
        require_key(&KeyOf::new([TEXT, KeyPiece::Literal("_"), TEXT]), "RowKey", "Employee");
    }

    #[test]
    #[should_panic(expected = "the RowKey of the index `ByName` of `Employee`, field `name`: a lookup")]
    fn a_lookup_that_finds_more_than_its_value_is_refused() {
        let id =
            KeyPiece::Field { field: "id", codec: "digits(6)", form: Form::fixed(6, true, Alphabet::DIGITS) };
        require_told_apart(&KeyOf::new([TEXT, KeyPiece::Literal("_"), id]), 1, "ByName", "Employee");
    }

    #[test]
    #[should_panic(expected = "the PartitionKey of `Employee`, literal 'a/b': ")]
    fn key_3_an_illegal_literal_is_named() {
        require_key(&KeyOf::new([KeyPiece::Literal("a/b")]), "PartitionKey", "Employee");
    }
}
