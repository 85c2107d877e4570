//! `Variant`: a fieldless enum, written as the name of its variant.

use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::name::{LONGEST_NAME, Name};
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec};
use crate::key::order;
use crate::key::text::legal_units;

/// A fieldless enum that can be a key part, with a name for each variant. `#[derive(KeyPart)]` implements this trait.
pub trait KeyEnum: Sized + 'static {
    /// The names of the variants, in declaration order. They must be distinct and legal in keys (KEY-3). They must never change once rows have been stored.
    const VARIANTS: &'static [&'static str];

    /// Returns the index of this variant in [`VARIANTS`](Self::VARIANTS).
    fn index(&self) -> usize;

    /// Returns the variant at an index in [`VARIANTS`](Self::VARIANTS), or `None` if the index is out of range.
    fn from_index(index: usize) -> Option<Self>;
}

/// A codec that writes the variant name of a fieldless enum. The default codec for an enum with `#[derive(KeyPart)]`.
///
/// - Fixed width if all names have the same length. Ordered if the declaration lists the names in ascending order, because a derived `Ord` uses the declaration
///   order. Otherwise, range queries are not available.
/// - Duplicate names, names illegal in keys, and names that begin with U+FFFC do not compile.
///
/// ```
/// use table_core::key::codec::{KeyCodec, KeyEnum, Variant};
///
/// enum Stage { Draft, Final }
///
/// impl KeyEnum for Stage {
///     const VARIANTS: &'static [&'static str] = &["draft", "final"];
///     fn index(&self) -> usize {
///         match self { Self::Draft => 0, Self::Final => 1 }
///     }
///     fn from_index(index: usize) -> Option<Self> {
///         [Self::Draft, Self::Final].into_iter().nth(index)
///     }
/// }
///
/// let mut key = String::new();
/// Variant::encode(&Stage::Final, &mut key)?;
/// assert_eq!(key, "final");
/// assert!(<Variant as KeyCodec<Stage>>::FORM.ordered);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Variant {}

/// Returns the form of a codec for these names.
const fn form_of(names: &[&str]) -> Form {
    assert!(!names.is_empty(), "[T034] an enum in a key must have variants");
    let mut form = Form { min: usize::MAX, max: 0, ordered: true, alphabet: Alphabet::EMPTY };
    let mut at = 0;
    while at < names.len() {
        let name = names[at];
        assert!(
            legal_units(name).is_some(),
            "[T024] the name of a variant contains a character that keys cannot contain; rename it"
        );
        assert!(
            !is_reserved(name),
            "[T024] the name of a variant begins with U+FFFC, which begins the keys of rows that are reserved for patterns; rename it"
        );
        let units = order::units(name);
        form.min = if units < form.min { units } else { form.min };
        form.max = if units > form.max { units } else { form.max };
        form.alphabet = form.alphabet.union(Alphabet::of(name));
        let mut earlier = 0;
        while earlier < at {
            assert!(
                order::is_before(names[earlier], name) || order::is_before(name, names[earlier]),
                "[T035] two variants have one name; rename one of them"
            );
            earlier += 1;
        }
        if at > 0 && !order::is_before(names[at - 1], name) {
            form.ordered = false;
        }
        at += 1;
    }
    form
}

/// Returns `true` if a text begins with U+FFFC ([`RESERVED`](crate::key::text::RESERVED)).
const fn is_reserved(text: &str) -> bool {
    matches!(text.as_bytes(), [0xEF, 0xBF, 0xBC, ..])
}

struct Named<T>(T);

impl<T: KeyEnum> Named<T> {
    const NAME: &'static Name<LONGEST_NAME> = &{
        let mut name = Name::EMPTY.with("one_of(");
        let mut at = 0;
        while at < T::VARIANTS.len() {
            name = name.with(if at == 0 { "" } else { "|" }).with(T::VARIANTS[at]);
            at += 1;
        }
        let name = name.with(")");
        assert!(
            name.is_whole(),
            "[T034] the names of the variants of an enum in a key have at most 4,088 bytes, with one byte between two names; rename some of them"
        );
        name
    };
}

impl<T: KeyEnum> KeyCodec<T> for Variant {
    const NAME: &'static str = Named::<T>::NAME.as_str();
    const FORM: Form = form_of(T::VARIANTS);
    const FACTS: Facts = Facts { cardinality: Some(T::VARIANTS.len()), ..Facts::NONE };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        let name = T::VARIANTS.get(value.index()).ok_or_else(|| {
            refused("the variant has no name: `KeyEnum::index` is not a position in `KeyEnum::VARIANTS`")
        })?;
        out.push_str(name);
        Ok(())
    }

    fn decode(text: &str) -> Result<T> {
        T::VARIANTS
            .iter()
            .position(|name| *name == text)
            .and_then(T::from_index)
            .ok_or_else(|| mismatch(text, <Self as KeyCodec<T>>::NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::text::RESERVED;

    /// An enum whose names have 4,088 bytes: 40 names of 99 bytes and one of 88.
    enum Shelf {}

    impl KeyEnum for Shelf {
        const VARIANTS: &'static [&'static str] = &{
            let mut names = [""; 41];
            let mut at = 0;
            while at < 41 {
                names[at] = DIGITS.split_at(at).1.split_at(if at < 40 { 99 } else { 88 }).0;
                at += 1;
            }
            names
        };

        fn index(&self) -> usize {
            match *self {}
        }

        fn from_index(_: usize) -> Option<Self> {
            None
        }
    }

    const DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_0123456789\
                          abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_0123456789abcdefghijk";

    #[test]
    fn an_enum_with_the_longest_names_may_be_in_each_part() {
        use crate::key::codec::{Bucket, Crc32, DerivedPart, Digest};

        let name = <Variant as KeyCodec<Shelf>>::NAME;
        assert_eq!(name.len(), LONGEST_NAME);
        assert_eq!(<Bucket<Variant, 16> as DerivedPart<Shelf>>::NAME, format!("bucket({name},16)"));
        assert_eq!(<Digest<Variant, Crc32, 8> as DerivedPart<Shelf>>::NAME, format!("hash(crc32,8,{name})"));
    }

    #[test]
    fn only_u_fffc_at_the_start_of_a_name_is_reserved() {
        for character in ['a', '\u{FFFB}', RESERVED, '\u{FFFD}'] {
            assert_eq!(is_reserved(&format!("{character}x")), character == RESERVED, "{character:?}");
        }
        assert!(!is_reserved("") && !is_reserved("a\u{FFFC}"));
    }

    #[test]
    #[should_panic(expected = "[T024] the name of a variant begins with U+FFFC")]
    fn pat_ec_8_a_variant_with_a_reserved_name_is_refused() {
        form_of(&["draft", "\u{FFFC}final"]);
    }
}
