//! The state shared by all handles to a store that only one process can use.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The state shared by all handles to a store that only their process can use. Clones share the state, and two values are equal if they share it.
///
/// For each stored schema, the state counts how often a handle has begun to use it, so the other handles in the process notice a new schema without a
/// request. A process that gives other processes access to the store must call [`share`](Self::share).
///
/// ```
/// use table_core::Engine;
/// use table_core::store::TableStore;
///
/// let (one, other) = (Engine::in_memory(), Engine::in_memory());
/// assert_eq!(one.capabilities().exclusive, one.clone().capabilities().exclusive);
/// assert_ne!(one.capabilities().exclusive, other.capabilities().exclusive);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exclusive(Arc<State>);

#[derive(Debug, Default)]
struct State {
    schemas: Mutex<Schemas>,
    shared: AtomicBool,
}

/// The counts of the schemas for which handles exist. The keys are the table, in lower case, and the entity type.
#[derive(Debug, Default)]
struct Schemas {
    counts: HashMap<(String, String), Weak<AtomicU64>>,
    /// The number of counts at which those without a handle are removed.
    limit: usize,
}

/// The number of times that handles in the process have begun to use the stored schema of one entity type.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct SchemaNotes(Arc<AtomicU64>);

impl SchemaNotes {
    /// Records that the stored schema may differ from the one that other handles have read. Returns how often this was recorded before.
    #[expect(
        clippy::must_use_candidate,
        reason = "callers without a handle of their own need only the effect"
    )]
    pub fn note(&self) -> u64 {
        self.0.fetch_add(1, Ordering::AcqRel)
    }

    /// Returns how often [`note`](Self::note) was called.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Exclusive {
    /// Records that programs in other processes, such as the clients of a server, write through this process. Those programs do not notice new schemas
    /// immediately.
    pub fn share(&self) {
        self.0.shared.store(true, Ordering::Release);
    }

    /// Returns `true` if programs in other processes write through this process.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.shared.load(Ordering::Acquire)
    }

    /// Returns the count for the stored schema of an entity type. All handles of the type share it.
    #[doc(hidden)]
    #[must_use]
    pub fn schema_notes(&self, table: &str, entity: &str) -> SchemaNotes {
        let mut schemas = self.0.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        if schemas.counts.len() >= schemas.limit {
            schemas.counts.retain(|_, count| count.strong_count() > 0);
            schemas.limit = schemas.counts.len().saturating_mul(2).max(64);
        }
        let place = schemas.counts.entry((table.to_ascii_lowercase(), entity.to_owned())).or_default();
        let count = place.upgrade().unwrap_or_default();
        *place = Arc::downgrade(&count);
        SchemaNotes(count)
    }
}

impl PartialEq for Exclusive {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Exclusive {}
