//! Support for `within`, which selects partitions by the first levels of a hierarchical partition key. Also checks such keys at compile time.

use std::fmt;

use table_store::Result;

use crate::key::codec::Form;
use crate::key::codec::compound::Piece;
use crate::query::{KeyRange, TextRange};
use crate::schema::KeyPiece;
use crate::selection::{KeyArg, KeyBounds, Partition, PartitionRange, Selection};

use super::key::KeyOf;
use super::message::Message;
use super::part::Place;
use super::partitions::{partitions_in, partitions_with, ranges};
use super::property::Encode;
use super::require::require_key;
use super::text::{KeyText, partition};

/// The character that ends a level. It sorts before every character of an escaped string. As a result, the levels of escaped strings sort like the strings
/// themselves.
const END: &str = "!";

/// A field with at most this many possible values is rejected as the first field of a partition key.
const FEW: usize = 8;

/// The first levels of a partition key, each with its terminator.
#[derive(Clone, Debug)]
pub struct LevelsOf(KeyText);

impl LevelsOf {
    /// Implements `Clone` for a generated type. Generated code compiles faster if it calls an inherent function instead of a trait method.
    #[must_use]
    pub fn copy(&self) -> Self {
        self.clone()
    }

    /// Implements `Debug` for a generated type with this name.
    ///
    /// # Errors
    /// Any error from the formatter.
    pub fn debug(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        f.debug_tuple(name).field(self).finish()
    }

    /// Creates an empty prefix.
    #[must_use]
    pub fn new() -> Self {
        Self(KeyText::new())
    }

    /// Appends the next level, using the codec's `encode`.
    #[must_use]
    pub fn level<T>(self, field: &'static str, value: &impl KeyArg<T>, encode: Encode<T>) -> Self {
        Self(self.0.part(field, value, encode).literal(END))
    }

    /// Returns the range of partitions with this prefix. The range ends before the prefix in which the last `!` is replaced by the next character, `"`.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    pub fn ranges(self) -> Result<Vec<KeyRange>> {
        ranges(self.0, |begin| Ok(TextRange::prefix(&begin)))
    }

    /// Selects a single partition. Called if every level is specified.
    pub fn select_partition<E>(self) -> Selection<E, Partition> {
        partition(self.0)
    }

    /// Selects the partitions whose next level starts with the given string.
    pub fn prefix<E, P>(
        self,
        field: &'static str,
        prefix: &P,
        encode: Encode<P>,
    ) -> Selection<E, PartitionRange> {
        partitions_with(self.0, field, prefix, encode)
    }

    /// Selects the partitions whose next level is in a range of values. The compiler checks that encoded levels sort like their values (K3).
    pub fn range<E, T>(
        self,
        field: &'static str,
        range: &impl KeyBounds<T>,
        encode: Encode<T>,
        descending: bool,
        form: Form,
    ) -> Selection<E, PartitionRange> {
        let place = Place { literal: END, end: false, descending, form, cut: false };
        partitions_in(self.0, field, range, encode, place)
    }
}

impl Default for LevelsOf {
    fn default() -> Self {
        Self::new()
    }
}

/// Fails if a level could contain the terminator, or if [`require_key`] rejects the key.
///
/// # Panics
/// Panics at compile time if the parts do not form a key with levels.
pub const fn require_levels<const N: usize>(of: &KeyOf<N>, entity: &str) {
    let KeyOf { pieces, forms } = of;
    let mut at = 0;
    while at < N {
        if let (Piece::Part(form), KeyPiece::Field { field, .. }) = (forms[at], pieces[at])
            && form.alphabet.contains('!')
        {
            let message = Message::new().with("[T042] the level `").with(field).with("` of `").with(entity).with(
                "` uses a codec whose texts may contain `!`, which terminates a level; use a codec without it, such \
                 as `escaped` for text, or put a literal between the fields, which makes one key without levels",
            );
            panic!("{}", message.as_str());
        }
        at += 1;
    }
    require_key(of, "PartitionKey", entity);
}

/// Fails if a partition key starts with a field that has few values (HPK-9, HPK-19).
///
/// # Panics
/// Panics at compile time if the field has few values.
pub const fn require_cardinality(values: Option<usize>, field: &str, entity: &str) {
    if let Some(values) = values
        && values <= FEW
    {
        let message = Message::new().with("[T044] the PartitionKey of `").with(entity).with("` starts with `").with(field).with(
            "`, a `bool` or an enum of at most 8 variants, so a few partitions receive all writes (HPK-9); start with a field of \
             thousands of values, or join several fields by literals (HPK-19), such as `(a, \"_\", b)`; if it is intended, \
             `#[entity(allow(low_cardinality, reason = \"…\"))]`",
        );
        panic!("{}", message.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::{Escaped, KeyCodec, Text, Without};

    const fn level<C: KeyCodec<String>>() -> KeyPiece {
        KeyPiece::Field { field: "tenant", codec: C::NAME, form: C::FORM }
    }
    const ENDED: KeyPiece = KeyPiece::Literal(END);

    #[test]
    fn levels_that_cannot_contain_their_terminator_are_accepted() {
        require_levels(&KeyOf::new([level::<Escaped>(), ENDED, level::<Without<'!'>>(), ENDED]), "Event");
        require_cardinality(None, "tenant", "Event");
        require_cardinality(Some(FEW + 1), "tenant", "Event");
    }

    #[test]
    #[should_panic(expected = "the level `tenant` of `Event` uses a codec whose texts may contain `!`")]
    fn a_level_that_can_contain_its_terminator_is_named() {
        require_levels(&KeyOf::new([level::<Escaped>(), ENDED, level::<Text>(), ENDED]), "Event");
    }

    #[test]
    #[should_panic(expected = "the PartitionKey of `Event` starts with `stage`")]
    fn hpk_9_a_first_level_of_few_values_is_refused() {
        require_cardinality(Some(FEW), "stage", "Event");
    }
}
