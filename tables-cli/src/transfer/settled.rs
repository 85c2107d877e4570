//! The running checksum of the settled (written or rejected) records of a file. A resumed import compares it with the checksum in the state file.

use std::collections::VecDeque;

use table_inspect::record::Record;

use crate::transfer::checksum::SequenceChecksum;

/// The checksum of the settled records, which have been written or rejected. The most recently read records may not be settled yet.
#[derive(Debug)]
pub(super) struct SettledChecksum {
    /// `true` if a state file needs the checksum.
    is_needed: bool,
    /// The number of settled records.
    settled: u64,
    checksum: SequenceChecksum,
    /// The checksum after each record that has been read but not yet settled.
    later: VecDeque<SequenceChecksum>,
}

impl SettledChecksum {
    /// Creates the checksum of an empty sequence of records.
    pub(super) fn new(is_needed: bool) -> Self {
        Self { is_needed, settled: 0, checksum: SequenceChecksum::default(), later: VecDeque::new() }
    }

    /// Adds a record read from the file.
    pub(super) fn read(&mut self, record: &Record) {
        if self.is_needed {
            let last = self.later.back().copied().unwrap_or(self.checksum);
            self.later.push_back(last.followed_by(record));
        }
    }

    /// Returns the checksum of the first `records` records, which must have been read. `records` must not be smaller than in any earlier call.
    pub(super) fn settle(&mut self, records: u64) -> SequenceChecksum {
        while self.settled < records
            && let Some(next) = self.later.pop_front()
        {
            self.checksum = next;
            self.settled += 1;
        }
        self.checksum
    }
}
