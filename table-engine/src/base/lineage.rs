//! The lineage of a version: a list of the folder's sessions, each with the last version recorded in it. A session starts each time the folder is opened.
//!
//! The lineage distinguishes a folder from its copies. A folder and a copy made by another program have the same engine identity. As soon as a version is
//! recorded in either of them, their lineages differ.

use uuid::Uuid;

use crate::bytes::{Reader, Writer};

/// The maximum number of sessions in a lineage. Older sessions are omitted.
const MOST: usize = 256;

/// A session of a folder, and the last version recorded in that session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Opening {
    /// A random identifier of the session.
    identity: Uuid,
    /// The sequence number of the first journal frame that is replayed after the version is loaded.
    sequence: u64,
    /// The number of the next run when the version was recorded.
    next: u64,
}

/// The sessions in which a version was recorded, in order. The list is empty in a new or restored folder, and in folders in earlier formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lineage(Vec<Opening>);

impl Lineage {
    /// Returns `true` if no version has been recorded since the folder was created.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the lineage of the next version, which is recorded in the session `identity`.
    pub(super) fn with(&self, identity: Uuid, sequence: u64, next: u64) -> Self {
        let mut openings = self.0.clone();
        if openings.last().is_some_and(|last| last.identity == identity) {
            openings.pop();
        }
        if openings.len() == MOST {
            openings.remove(0);
        }
        openings.push(Opening { identity, sequence, next });
        Self(openings)
    }

    /// Returns `true` if the version with this lineage is an earlier state of the version with the lineage `later`. Also returns `true` if the relation is
    /// unknown. This is the case if this lineage is empty, or if `later` is full and the lineages share no session.
    ///
    /// A lineage that contains a session also contains all later sessions of the same folder. If `later` does not contain this lineage's last session, but an
    /// earlier one, this lineage belongs to a copy of the folder.
    pub(super) fn is_continued_by(&self, later: &Self) -> bool {
        let Some(last) = self.0.last() else { return true };
        match later.find(last) {
            Some(same) => last.sequence <= same.sequence && last.next <= same.next,
            None => later.0.len() == MOST && self.0.iter().all(|own| later.find(own).is_none()),
        }
    }

    fn find(&self, opening: &Opening) -> Option<&Opening> {
        self.0.iter().find(|own| own.identity == opening.identity)
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.u32(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        for opening in &self.0 {
            out.raw(opening.identity.as_bytes());
            out.u64(opening.sequence);
            out.u64(opening.next);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut openings = Vec::new();
        for _ in 0..reader.u32()? {
            let identity = Uuid::from_bytes(reader.take(16)?.try_into().ok()?);
            openings.push(Opening { identity, sequence: reader.u64()?, next: reader.u64()? });
        }
        Some(Self(openings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn a_version_is_continued_by_its_own_lineage_alone() {
        let common = Lineage::default().with(opening(1), 10, 2).with(opening(1), 20, 4);
        // The folder is copied here. The original stays open, and the copy is opened.
        let original = common.with(opening(1), 30, 6);
        let copy = common.with(opening(2), 90, 40);
        assert!(common.is_continued_by(&original) && common.is_continued_by(&copy));
        assert!(!original.is_continued_by(&copy) && !copy.is_continued_by(&original));
        let reopened = original.with(opening(3), 31, 6);
        assert!(original.is_continued_by(&reopened) && !reopened.is_continued_by(&original));
        assert!(Lineage::default().is_continued_by(&copy), "of an earlier format");
        assert!(!copy.is_continued_by(&Lineage::default()));
    }

    #[test]
    fn a_lineage_is_bounded_and_forgotten_openings_are_unknown() {
        let first = Lineage::default().with(opening(0), 1, 1);
        let mut later = first.clone();
        for number in 1..=300_u64 {
            assert!(first.is_continued_by(&later), "{number}");
            later = later.with(opening(number.into()), number, number);
        }
        assert_eq!(later.0.len(), MOST);
    }

    #[test]
    fn a_diverged_copy_is_recognised_however_often_the_folder_was_opened() {
        for openings in [1, 254, 255, 256, 300_u64] {
            let opened = |lineage: Lineage, number: u64| lineage.with(opening(number.into()), number, number);
            let common = (0..openings).fold(Lineage::default(), opened);
            let original = common.with(opening(1_000), 301, 301);
            let mut copy = common.clone();
            for number in 2_000..2_000 + openings.min(255) {
                copy = opened(copy, number);
                assert!(common.is_continued_by(&copy), "{openings} and {number}");
                assert!(!original.is_continued_by(&copy), "{openings} and {number}");
                assert!(!copy.is_continued_by(&original), "{openings} and {number}");
            }
        }
    }

    #[test]
    fn golden_bytes_of_a_lineage() {
        let lineage = Lineage::default().with(Uuid::from_bytes([0xA1; 16]), 7, 3);
        let mut out = Writer::default();
        lineage.write(&mut out);
        let bytes = out.into_bytes();
        let wanted = [&b"\x01\0\0\0"[..], &[0xA1; 16], b"\x07\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"].concat();
        assert_eq!(bytes, wanted);
        assert_eq!(Lineage::read(&mut Reader::new(&bytes)), Some(lineage));
        for length in 0..bytes.len() {
            assert_eq!(Lineage::read(&mut Reader::new(&bytes[..length])), None, "{length}");
        }
    }
}
