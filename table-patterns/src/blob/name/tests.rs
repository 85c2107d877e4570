use proptest::prelude::*;

use super::*;
use crate::blob::BlobKind;

/// A kind of blob whose names contain complete keys.
const COMPLETE: BlobKind = BlobKind { folder: "blobs", row_in: None };
/// A kind of blob whose names contain a hash of a long key.
const HASHES: BlobKind = BlobKind { folder: "lists", row_in: Some(|_| unreachable!()) };

proptest! {
    #[test]
    fn every_text_has_one_segment(text: String) {
        let segment = encode(&text);
        prop_assert!(object_store::path::Path::parse(&segment).is_ok_and(|path| path.as_ref() == segment));
        prop_assert!(!segment.is_empty() && !segment.contains('/'));
        prop_assert!(!segment.contains(|letter: char| letter.is_ascii_uppercase()) || segment.contains('='));
        prop_assert_eq!(COMPLETE.decode(&segment), Some(text));
    }

    #[test]
    fn pat_ix_7_every_text_has_one_segment_even_if_case_is_ignored(
        texts in prop::collection::btree_set("[aAeE=2/ .é]{0,4}|[aAé]{28,70}", 2..40),
    ) {
        let mut folded = std::collections::BTreeSet::new();
        for text in &texts {
            let segment = encode_caseless(text);
            prop_assert!(object_store::path::Path::parse(&segment).is_ok_and(|path| path.as_ref() == segment));
            prop_assert!(segment.len() <= LONGEST && !segment.contains('/'), "{segment}");
            match HASHES.decode(&segment) {
                Some(read) => prop_assert!(read == *text && !is_hashed(&segment)),
                None => prop_assert!(is_hashed(&segment)),
            }
            prop_assert!(folded.insert(segment.to_ascii_lowercase()));
        }
    }

    #[test]
    fn only_segments_that_can_be_written_are_read(segment in "[=0-9A-Fa-f.]{0,8}") {
        if let Some(text) = COMPLETE.decode(&segment) {
            prop_assert_eq!(encode(&text), segment);
        }
    }
}

#[test]
fn segments_can_be_read() {
    assert_eq!(encode("jonesj@contoso.com"), "jonesj=40contoso=2Ecom");
    assert_eq!(encode(".."), "=2E=2E");
    assert_eq!(encode_caseless("Jones"), "=4Aones");
    assert_eq!(encode_caseless(""), "=");
}
