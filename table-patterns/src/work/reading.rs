//! A delivery's progress through the outbox rows of its message, which are read in portions.
//!
//! Each commit with an intent sends a message for its partition. A partition with many pending rows therefore receives many messages, and other workers may
//! already have claimed most of the rows. At first, the rows are read in small pages. Once a page contains no free row, the delivery reads large pages that
//! contain only the properties needed to find free rows. It then reads the free rows completely and claims them.

use std::collections::VecDeque;

use table_core::key::{EntityKey, RowKey};
use table_core::query::Continuation;

use crate::outbox::work::Work;

/// A delivery's progress through the outbox rows of its message.
pub(super) struct Reading {
    /// The key of the row after which the queries begin. `None` if they begin with the first row.
    pub(super) start: Option<RowKey>,
    /// The continuation of the current page. `None` for the first page.
    pub(super) from: Option<Continuation>,
    /// The continuation of the next page. `None` if the current page is the last one.
    next: Option<Continuation>,
    /// `true` once the delivery reads large pages.
    pub(super) skims: bool,
    /// `true` if the store returns rows in key order.
    is_ordered: bool,
    /// The keys of the rows in the current large page that are free and not yet claimed.
    pub(super) free: VecDeque<EntityKey>,
    /// The key of the last row in the current page.
    pub(super) last: Option<RowKey>,
    /// The key of the last row in the current portion. Another delivery can continue after it.
    pub(super) after: Option<RowKey>,
    /// The number of rows in the current portion, if it is part of a large page.
    pub(super) portion: usize,
}

impl Reading {
    /// Starts after the row at which an earlier delivery ended. If the store has no key order, starts at the first row.
    pub(super) fn new(work: &Work, is_ordered: bool) -> Self {
        let start = work.progress().after.clone().filter(|_| is_ordered);
        let (last, after, free) = (start.clone(), start.clone(), VecDeque::new());
        Self { start, from: None, next: None, skims: false, is_ordered, free, last, after, portion: 0 }
    }

    /// Moves past the current portion. `had_free` is `true` if the portion contained free rows. Returns `false` if it was the last portion.
    pub(super) fn advance(&mut self, had_free: bool) -> bool {
        self.free.drain(..self.portion.min(self.free.len()));
        self.portion = 0;
        if !self.free.is_empty() {
            return true;
        }
        self.from = self.next.take();
        let is_last = self.from.is_none();
        if !had_free && !self.skims {
            self.skims = true;
            // A continuation token is valid only for a query that selects the same properties. The large pages therefore need a new query.
            self.from = None;
            self.start = self.last.clone().filter(|_| self.is_ordered);
        }
        !is_last
    }

    /// Records that a page has been read.
    pub(super) fn read(&mut self, last: Option<RowKey>, next: Option<Continuation>) {
        self.last = last.or_else(|| self.last.take());
        self.after.clone_from(&self.last);
        self.next = next;
    }
}
