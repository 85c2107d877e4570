//! The pass of a backfill over the entries and the entities. Also the repair, which does the same work at any time.

use crate::backfill::conditions::{
    ENTRY_VERSION, JUDGED_AGAIN, MARKED, OWN_COMPLETION, OWN_POSITION, PASS_LAST, RESTORED, VERSIONED,
};
use crate::backfill::store::{ENTITIES, Entry, EntryKey, Index};
use crate::backfill::world::World;
use crate::interleave::give_way;

impl World {
    /// Deletes an entry if no entity requires it.
    ///
    /// The entry is marked first, which changes its version. The entity is then read again. At any time, a tool that is unaware of the index may give the
    /// entity the value of the entry. A pass that runs after the tool finds the entry either before or after it is marked. In the first case, the entity
    /// already has the value when it is read here, so the entry is kept. In the second case, that pass writes the entry again. The version of the entry
    /// changes, so the entry is not deleted until the entity has been read again.
    async fn delete_entry(&self, release: usize, (value, at): EntryKey, mut found: Entry) {
        let key = (value, at);
        let mut is_judged = false;
        loop {
            if !is_judged || self.holds(JUDGED_AGAIN) {
                give_way().await;
                if self.store.borrow().entity(at).0 == Some(value) {
                    return;
                }
                is_judged = true;
            }
            give_way().await;
            let mut store = self.store.borrow_mut();
            let Some(stored) = store.entry(release, key) else { return };
            let is_same = stored == found;
            found = stored;
            if is_same && !stored.is_marked && self.holds(MARKED) {
                found = store.insert(release, key, true);
            } else if is_same || !self.holds(ENTRY_VERSION) {
                store.remove(release, key);
                return;
            } else {
                is_judged = false;
            }
        }
    }

    /// Deletes the entries that no entity requires.
    async fn delete_entries(&self, release: usize) {
        let entries = self.store.borrow().entries(release);
        for (key, entry) in entries {
            self.delete_entry(release, key, entry).await;
        }
    }

    /// Writes the entry of an entity if it is missing or marked.
    async fn insert_entry(&self, release: usize, at: usize) {
        loop {
            give_way().await;
            let (value, version) = self.store.borrow().entity(at);
            let Some(value) = value else { return };
            give_way().await;
            let found = self.store.borrow().entry(release, (value, at));
            if found.is_some_and(|found| !found.is_marked || !self.holds(RESTORED)) {
                return;
            }
            give_way().await;
            let mut store = self.store.borrow_mut();
            if store.entity(at).1 == version || !self.holds(VERSIONED) {
                if self.holds(VERSIONED) {
                    store.put(at, Some(value));
                }
                store.insert(release, (value, at), false);
                return;
            }
        }
    }

    /// Runs one part of the pass. Position 0 deletes the entries that no entity requires. Each later position writes the entry of one entity.
    async fn part(&self, release: usize, position: usize) {
        match position.checked_sub(1) {
            None => self.delete_entries(release).await,
            Some(at) => self.insert_entry(release, at).await,
        }
    }

    /// Repairs the index without the fence and without changing its state.
    pub(super) async fn repair(self, release: usize) {
        give_way().await;
        for position in 0..=ENTITIES {
            self.part(release, position).await;
        }
    }

    /// Runs the backfill of a release once.
    pub(super) async fn backfill(self, release: usize) {
        if !self.holds(PASS_LAST) {
            for position in 0..=ENTITIES {
                self.part(release, position).await;
            }
        }
        let Some((pass, mut position)) = self.fence(release).await else { return };
        if !self.holds(PASS_LAST) {
            position = ENTITIES + 1;
        }
        while position <= ENTITIES {
            self.part(release, position).await;
            position += 1;
            give_way().await;
            let mut store = self.store.borrow_mut();
            match store.index {
                Index::Building(known, _) if known == pass || !self.holds(OWN_POSITION) => {
                    store.index = Index::Building(known, position);
                }
                // Another run has completed the pass.
                Index::Ready => {}
                _ => return,
            }
        }
        give_way().await;
        let mut store = self.store.borrow_mut();
        if matches!(store.index, Index::Building(known, _) if known == pass || !self.holds(OWN_COMPLETION)) {
            store.index = Index::Ready;
        }
    }
}
