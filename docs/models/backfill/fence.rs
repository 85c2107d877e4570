//! The fence of a backfill, which waits until older programs are refused.

use crate::backfill::conditions::{
    CHECKS_AGAIN, DECLARED, FIRST_RUN, GENERATION, REFUSED_FIRST, SEEN_FIRST, SEEN_POSITION, TOKEN, UNIQUE,
};
use crate::backfill::store::Index;
use crate::backfill::world::{LAST_REQUESTS, World};
use crate::interleave::give_way;

/// The schema that a run has read.
#[derive(Clone, Copy)]
struct Seen {
    release: usize,
    generation: u64,
}

impl World {
    /// Changes the state of the index if `next` returns a state. Returns the resulting state, or `None` if another schema is stored.
    ///
    /// If the protocol includes `condition`, the state changes only while the schema that the run has seen is still stored.
    async fn note(
        &self,
        (seen, condition): (Seen, usize),
        next: impl Fn(Index) -> Option<Index>,
    ) -> Option<Index> {
        give_way().await;
        let mut store = self.store.borrow_mut();
        let is_seen =
            store.schema == seen.release && (store.generation == seen.generation || !self.holds(GENERATION));
        if !is_seen && self.holds(condition) {
            return None;
        }
        if let Some(next) = next(store.index) {
            store.index = next;
        }
        Some(store.index)
    }

    /// Returns the store's time, and the later of the last sighting and the last expiry of a grant. Reads the time first.
    async fn sightings(&self) -> (i64, i64) {
        give_way().await;
        let now = self.store.borrow().now;
        give_way().await;
        let seen = self.store.borrow().sighting;
        give_way().await;
        (now, seen.max(self.store.borrow().granted))
    }

    /// Returns the number of the pass, and the position at which this run may begin or continue it. Returns `None` if the run must wait.
    pub(super) async fn fence(&self, release: usize) -> Option<(u64, usize)> {
        give_way().await;
        if self.schema() != release && self.holds(DECLARED) {
            return None;
        }
        let schema = Seen { release, generation: self.store.borrow().generation };
        let index = self.index();
        let pass = self.store.borrow_mut().version();
        let (token, first) = match index {
            Index::Building(pass, position) => return Some((pass, position)),
            Index::Closing(token, _) if !self.holds(CHECKS_AGAIN) => {
                return self
                    .begin(schema, pass, |now| matches!(now, Index::Closing(known, _) if known == token))
                    .await;
            }
            Index::Closing(token, first) => (token, first),
            Index::Announced(first) => {
                let (now, seen) = self.sightings().await;
                let Some(first) = first else {
                    let wait =
                        |index| (index == Index::Announced(None)).then_some(Index::Announced(Some(now)));
                    self.note((schema, SEEN_FIRST), wait).await;
                    return None;
                };
                let is_over = now - first >= LAST_REQUESTS || !self.holds(FIRST_RUN);
                if !is_over || now - seen < LAST_REQUESTS {
                    return None;
                }
                if !self.holds(REFUSED_FIRST) {
                    return self.begin(schema, pass, |now| now == index).await;
                }
                // The time alone does not identify a refusal, because two backfills can read the same time.
                let number = i64::try_from(self.store.borrow_mut().version()).unwrap_or_default();
                let token = if self.holds(UNIQUE) { number } else { now };
                let close = |now| (now == index).then_some(Index::Closing(token, first));
                if self.note((schema, SEEN_POSITION), close).await? != Index::Closing(token, first) {
                    return None;
                }
                (token, first)
            }
            _ => return None,
        };
        let is_ours = |index| match index {
            Index::Closing(number, _) => number == token || !self.holds(TOKEN),
            _ => false,
        };
        let (now, seen) = self.sightings().await;
        if now - seen < LAST_REQUESTS {
            let reopen = |index| is_ours(index).then_some(Index::Announced(Some(first)));
            self.note((schema, SEEN_POSITION), reopen).await;
            return None;
        }
        self.begin(schema, pass, is_ours).await
    }

    /// Begins a pass if `is_expected` accepts the state of the index. Returns the number and the position of the pass that is then recorded, if any.
    async fn begin(
        &self,
        seen: Seen,
        pass: u64,
        is_expected: impl Fn(Index) -> bool,
    ) -> Option<(u64, usize)> {
        let begin = |index| is_expected(index).then_some(Index::Building(pass, 0));
        match self.note((seen, SEEN_POSITION), begin).await? {
            Index::Building(pass, position) => Some((pass, position)),
            _ => None,
        }
    }
}
