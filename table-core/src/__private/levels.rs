//! Runtime of `within`: prefixes of a hierarchical partition key, and their checks.

use crate::error::Result;
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

/// What ends every level. It sorts before every character of an escaped text, so that a level may be any text and keep its order.
const END: &str = "!";

/// So many values are too few to begin a partition key with.
const FEW: usize = 8;

/// The first levels of a partition key, each with its end.
#[derive(Clone, Debug)]
pub struct LevelsOf(KeyText);

impl LevelsOf {
    /// No level.
    #[must_use]
    pub fn new() -> Self {
        Self(KeyText::new())
    }

    /// Gives the next level, by the codec's `encode`.
    #[must_use]
    pub fn level<T>(self, field: &'static str, value: &impl KeyArg<T>, encode: Encode<T>) -> Self {
        Self(self.0.part(field, value, encode).literal(END))
    }

    /// The partitions that begin so: from the text to the text with its last `!` replaced by `"`, which follows `!`.
    ///
    /// # Errors
    /// Those of the values given.
    pub fn ranges(self) -> Result<Vec<KeyRange>> {
        ranges(self.0, |begin| Ok(TextRange::prefix(&begin)))
    }

    /// The one partition: every level is given.
    pub fn select_partition<E>(self) -> Selection<E, Partition> {
        partition(self.0)
    }

    /// The partitions whose next level begins with a prefix.
    pub fn prefix<E, P>(
        self,
        field: &'static str,
        prefix: &P,
        encode: Encode<P>,
    ) -> Selection<E, PartitionRange> {
        partitions_with(self.0, field, prefix, encode)
    }

    /// The partitions whose next level lies in a range. Its order is checked to be kept before this compiles (K3).
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

/// Refuses to compile levels that could hold their own end, and then what [`require_key`] refuses.
///
/// # Panics
/// While the declaration is compiled, if the levels make no key.
pub const fn require_levels<const N: usize>(of: &KeyOf<N>, entity: &str) {
    let KeyOf { pieces, forms } = of;
    let mut at = 0;
    while at < N {
        if let (Piece::Part(form), KeyPiece::Field { field, .. }) = (forms[at], pieces[at])
            && form.alphabet.contains('!')
        {
            let message = Message::new().with("[T042] the level `").with(field).with("` of `").with(entity).with(
                "` is written by a codec whose texts may hold `!`, which ends a level: take a codec that cannot hold it, such \
                 as `escaped` for text, or put a literal between the fields and have no levels",
            );
            panic!("{}", message.as_str());
        }
        at += 1;
    }
    require_key(of, "PartitionKey", entity);
}

/// Refuses to compile a partition key that begins with one of few values (HPK-9, HPK-19).
///
/// # Panics
/// While the declaration is compiled, if there are few.
pub const fn require_cardinality(values: Option<usize>, field: &str, entity: &str) {
    if let Some(values) = values
        && values <= FEW
    {
        let message = Message::new().with("[T044] the PartitionKey of `").with(entity).with("` begins with `").with(field).with(
            "`, a `bool` or an enum of at most 8 variants, so that few places take all writes (HPK-9): begin with a field of \
             thousands of values, or join several by literals into one key (HPK-19), such as `(a, \"_\", b)`; if it is meant, \
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
    fn levels_that_cannot_hold_their_end_pass() {
        require_levels(&KeyOf::new([level::<Escaped>(), ENDED, level::<Without<'!'>>(), ENDED]), "Event");
        require_cardinality(None, "tenant", "Event");
        require_cardinality(Some(FEW + 1), "tenant", "Event");
    }

    #[test]
    #[should_panic(expected = "the level `tenant` of `Event` is written by a codec whose texts may hold `!`")]
    fn a_level_that_can_hold_its_end_is_named() {
        require_levels(&KeyOf::new([level::<Escaped>(), ENDED, level::<Text>(), ENDED]), "Event");
    }

    #[test]
    #[should_panic(expected = "the PartitionKey of `Event` begins with `stage`")]
    fn hpk_9_a_first_level_of_few_values_is_refused() {
        require_cardinality(Some(FEW), "stage", "Event");
    }
}
