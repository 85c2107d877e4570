//! Tallies. A tally contains the number of entries in a set and a checksum that does not depend on their order.
//!
//! The tally of a block is recorded when the block is written. A merge compares the tallies of the entries that it reads, writes and omits. A lost, added or
//! changed row is therefore detected before the result is published.

use table_store::row::RowView;

use crate::base::filter;

/// The multiplier of the checksum, an odd number with well-mixed bits.
const MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;
/// The number that is hashed for a tombstone instead of a Timestamp. No row has this Timestamp.
const DELETION: u64 = u64::MAX;

/// The number of entries and tombstones, and a checksum over the keys and versions of the entries. The checksum does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The number of rows and tombstones.
    pub(crate) entries: u64,
    /// The number of tombstones among the entries.
    pub(crate) deletions: u64,
    /// The sum of the hashes of all entries, modulo 2⁶⁴.
    pub(crate) sum: u64,
}

fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(MULTIPLIER);
    (word ^ word >> 32).wrapping_mul(MULTIPLIER)
}

impl Tally {
    /// Adds an entry with the given key to the tally.
    pub(super) fn add(&mut self, key: &[u8], row: Option<RowView<'_>>) {
        self.add_hashed(filter::hash(key), row);
    }

    /// Adds an entry to the tally, given the hash of its key.
    pub(super) fn add_hashed(&mut self, hash: u64, row: Option<RowView<'_>>) {
        let version = row.map_or(DELETION, |row| row.timestamp() ^ (row.bytes() as u64).rotate_left(40));
        self.entries += 1;
        self.deletions += u64::from(row.is_none());
        self.sum = self.sum.wrapping_add(mix(hash ^ mix(version)));
    }

    /// Returns the combined tally of two sets of entries.
    #[must_use]
    pub(super) const fn with(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            deletions: self.deletions + other.deletions,
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Self::with)
    }
}

#[cfg(test)]
mod tests {
    use table_store::row::RowWriter;

    use super::*;

    fn tally(entries: &[(&str, Option<u64>)]) -> Tally {
        let mut tally = Tally::default();
        for (key, ticks) in entries {
            let row = ticks.map(|ticks| RowWriter::new().finish().with_timestamp(ticks));
            tally.add(key.as_bytes(), row.as_ref().map(table_store::row::Row::view));
        }
        tally
    }

    #[test]
    fn a_tally_ignores_order_and_differs_for_other_entries() {
        let all = [("a", Some(1)), ("b", Some(2)), ("c", None)];
        let [a, b, c] = all;
        assert_eq!(tally(&all), tally(&[c, a, b]));
        assert_eq!(tally(&all), tally(&[a]).with(tally(&[b, c])));
        for others in [
            &[a, b][..],
            &[a, b, ("c", Some(3))],
            &[a, b, ("d", None)],
            &[("a", Some(2)), ("b", Some(1)), c],
            &[a, b, c, c],
        ] {
            assert_ne!(tally(&all), tally(others), "{others:?}");
        }
    }

    #[test]
    fn golden_sums() {
        let sums = [tally(&[("a", Some(1))]).sum, tally(&[("a", None)]).sum];
        assert_eq!(sums, [0xF3FE_DA6A_8BD2_52B8, 0xECE7_DD3C_9BB0_8B74]);
        assert_eq!(Tally::default().sum, 0);
    }
}
