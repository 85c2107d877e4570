//! Settles records in insertion order, although their transactions may complete in a different order.

use std::collections::VecDeque;

use table_inspect::record::Rejected;

/// The state of one record.
enum Slot {
    Pending,
    Written,
    Rejected(Rejected),
}

/// The records accepted by the writer. A record is settled when it and all records before it have been written or rejected.
#[derive(Default)]
pub(super) struct Settlement {
    /// The number of settled records.
    settled: u64,
    /// The states of the records after the settled records.
    slots: VecDeque<Slot>,
    /// The settled rejections that have not been taken yet.
    rejected: Vec<Rejected>,
    /// `true` if rejected records are settled like written records. Otherwise, settlement ends before the first rejected record.
    pub(super) is_tolerant: bool,
    /// `true` if settlement has ended at a rejected record.
    has_ended: bool,
}

impl Settlement {
    /// Adds a record, and returns its number. Numbers start at 0.
    pub(super) fn add(&mut self) -> u64 {
        self.slots.push_back(Slot::Pending);
        self.settled + self.slots.len() as u64 - 1
    }

    /// Marks a record as written.
    pub(super) fn written(&mut self, number: u64) {
        self.set(number, Slot::Written);
    }

    /// Marks a record as rejected.
    pub(super) fn reject(&mut self, number: u64, rejected: Rejected) {
        self.set(number, Slot::Rejected(rejected));
    }

    fn set(&mut self, number: u64, slot: Slot) {
        let at = number.checked_sub(self.settled).and_then(|at| usize::try_from(at).ok());
        if let Some(found) = at.and_then(|at| self.slots.get_mut(at)) {
            *found = slot;
        }
        self.advance();
    }

    fn advance(&mut self) {
        while let Some(slot) = self.slots.front_mut().filter(|_| !self.has_ended) {
            match std::mem::replace(slot, Slot::Pending) {
                Slot::Pending => return,
                Slot::Written => {}
                Slot::Rejected(rejected) => self.rejected.push(rejected),
            }
            // IMPORTANT: a transfer that ends at a rejected record must resume with this record, not after it.
            if !self.is_tolerant && !self.rejected.is_empty() {
                self.has_ended = true;
                return;
            }
            self.slots.pop_front();
            self.settled += 1;
        }
    }

    /// Returns the number of settled records: those before the first unsettled record.
    pub(super) const fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns the number of records from the first unsettled record onwards.
    pub(super) fn open(&self) -> usize {
        self.slots.len()
    }

    /// Takes the settled rejections in record order.
    pub(super) fn take_rejected(&mut self) -> Vec<Rejected> {
        std::mem::take(&mut self.rejected)
    }
}
