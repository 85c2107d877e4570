//! Support for ranges of partitions, which are selected by a prefix and the next part of the `PartitionKey`.

use std::ops::Bound;

use table_store::{Error, ErrorCode, Result};

use crate::key::codec::Form;
use crate::query::{KeyRange, TextRange};
use crate::selection::{Class, KeyBounds, Selection};

use super::bucket::KeyTexts;
use super::part::{self, Place, values};
use super::property::Encode;

/// Selects the partitions whose keys start with a prefix and whose next part is in a range of values. The compiler checks that encoded parts sort like their
/// values (K3).
pub fn partitions_in<E, T, C: Class, F>(
    begin: impl Into<KeyTexts>,
    field: &'static str,
    range: &impl KeyBounds<T>,
    encode: Encode<T>,
    place: Place,
) -> Selection<E, C, F> {
    Selection::new(ranges(begin, |begin| part::range(&begin, field, range, encode, place)))
}

/// Selects the partitions whose keys start with a prefix and whose next part starts with the given string.
pub fn partitions_with<E, P, C: Class, F>(
    begin: impl Into<KeyTexts>,
    field: &'static str,
    prefix: &P,
    encode: Encode<P>,
) -> Selection<E, C, F> {
    Selection::new(ranges(begin, |begin| part::prefix(begin, field, |text| encode(prefix, text))))
}

/// Selects one of `of` shares of the partitions whose keys consist of a prefix and a hash. The shares cover hash ranges of equal size, and `share` is the
/// number of the selected one, starting from 0.
pub fn partitions_share<E, C: Class, F>(
    begin: impl Into<KeyTexts>,
    form: Form,
    share: u32,
    of: u32,
) -> Selection<E, C, F> {
    Selection::new(ranges(begin, |begin| {
        if share >= of {
            let message = format!("share {share} of {of} does not exist; shares are numbered from 0");
            return Err(Error::new(ErrorCode::OutOfRangeInput, message));
        }
        let all = values(&begin, form);
        let bound = |share| bound(&begin, form, share, of);
        Ok(TextRange {
            lower: bound(share).map_or(all.lower, Bound::Included),
            upper: bound(share + 1).map_or(all.upper, Bound::Excluded),
        })
    }))
}

/// Returns the key at the start of a share, or `None` if no bound is needed there. No bound is needed for the first share, and for the end of the last one
/// (`share` equals `of`).
fn bound(begin: &str, form: Form, share: u32, of: u32) -> Option<String> {
    // The characters are sorted in key order, which differs from their order as base64 and base32 digits. In either order, each hash belongs to exactly one
    // share.
    let characters: Vec<char> =
        ('\0'..'\u{80}').filter(|character| form.alphabet.contains(*character)).collect();
    let bits = characters.len().checked_ilog2().filter(|bits| *bits > 0)?;
    // The bounds are long enough for every share to contain some hashes, and short enough for the product to fit into a `u128`.
    let places = u32::try_from(form.max).unwrap_or(u32::MAX).min(80 / bits);
    let least = (1_u128 << (bits * places)) * u128::from(share) / u128::from(of);
    let character = |place| {
        let digit = (least >> (bits * place)) & ((1 << bits) - 1);
        usize::try_from(digit).ok().and_then(|digit| characters.get(digit))
    };
    let bound = || {
        (0..places)
            .rev()
            .filter_map(character)
            .fold(begin.to_owned(), |text, next| text + next.encode_utf8(&mut [0; 4]))
    };
    (0 < share && share < of).then(bound)
}

/// Computes the key ranges of all rows in ranges of partitions. `partitions` computes a range of partitions from each prefix.
///
/// # Errors
/// `KeyEncoding` if a value cannot be encoded in the key.
pub(super) fn ranges(
    begin: impl Into<KeyTexts>,
    partitions: impl Fn(String) -> Result<TextRange>,
) -> Result<Vec<KeyRange>> {
    let begins = begin.into().0?.into_iter();
    begins.map(|begin| Ok(KeyRange { partition_key: partitions(begin)?, row_key: TextRange::ALL })).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::codec::{Crc32, DerivedPart, Digest, Fnv1a, KeyPart};
    use crate::selection::PartitionRange;

    type Of<H, const N: usize, const FORM: char = 'x'> = Digest<<String as KeyPart>::Codec, H, N, FORM>;

    fn share<C: DerivedPart<String>>(share: u32, of: u32) -> TextRange {
        let selection: Selection<(), PartitionRange> =
            partitions_share(super::super::text::KeyText::new().literal("u_"), C::FORM, share, of);
        selection.into_ranges().unwrap().remove(0).partition_key
    }

    fn text<C: DerivedPart<String>>(value: &str) -> String {
        let mut text = "u_".to_owned();
        C::encode(&value.to_owned(), &mut text).unwrap();
        text
    }

    proptest! {
        #[test]
        fn every_hash_is_in_one_share(value in "[a-zA-Z0-9]{0,8}", of in 1..40_u32) {
            let (long, short) = (text::<Of<Fnv1a, 16>>(&value), text::<Of<Crc32, 1>>(&value));
            let upper = text::<Of<Fnv1a, 16, 'X'>>(&value);
            let (base64, base32) = (text::<Of<Fnv1a, 11, 'u'>>(&value), text::<Of<Fnv1a, 2, 'b'>>(&value));
            let count = |holds: &dyn Fn(u32) -> bool| (0..of).filter(|&share| holds(share)).count();
            prop_assert_eq!(count(&|part| share::<Of<Fnv1a, 16>>(part, of).contains(&long)), 1);
            prop_assert_eq!(count(&|part| share::<Of<Crc32, 1>>(part, of).contains(&short)), 1);
            prop_assert_eq!(count(&|part| share::<Of<Fnv1a, 16, 'X'>>(part, of).contains(&upper)), 1);
            prop_assert_eq!(count(&|part| share::<Of<Fnv1a, 11, 'u'>>(part, of).contains(&base64)), 1);
            prop_assert_eq!(count(&|part| share::<Of<Fnv1a, 2, 'b'>>(part, of).contains(&base32)), 1);
        }
    }

    #[test]
    fn shares_contain_only_hashes_and_have_a_last_one() {
        let (first, last) = (share::<Of<Crc32, 8>>(0, 2), share::<Of<Crc32, 8>>(1, 2));
        assert!(
            first.contains("u_00000000") && first.contains("u_7fffffff") && !first.contains("u_80000000")
        );
        assert!(last.contains("u_ffffffff") && !last.contains("u_g") && !last.contains("v"));
        let (first, last) = (share::<Of<Crc32, 6, 'u'>>(0, 2), share::<Of<Crc32, 6, 'u'>>(1, 2));
        assert!(first.contains("u_------") && first.contains("u_Uzzzzz") && !first.contains("u_V-----"));
        assert!(last.contains("u_V-----") && last.contains("u_zzzzzz") && !last.contains("u_{"));
        let none: Selection<(), PartitionRange> =
            partitions_share(super::super::text::KeyText::new(), Of::<Crc32, 8>::FORM, 2, 2);
        assert_eq!(none.into_ranges().unwrap_err().code(), ErrorCode::OutOfRangeInput);
    }
}
