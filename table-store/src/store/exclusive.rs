//! `Exclusive`: shared state for all handles to a store that only one process can use.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::etag::ETag;

/// The state shared by all handles to a store that only this process can use. Clones share the state, and two values are equal if they share it.
///
/// For each entity type, the state counts the schema changes that handles in the process have noticed. Comparing this count, other handles notice a new schema
/// without sending a request. A process that gives other processes access to the store must call [`share`](Self::share).
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

/// The counters of schema changes, keyed by lower-case table name and entity type. A counter exists while at least one handle uses it.
#[derive(Debug, Default)]
struct Schemas {
    counts: HashMap<(String, String), Weak<Count>>,
    /// The number of counters at which unused counters are evicted.
    limit: usize,
}

#[derive(Debug, Default)]
struct Count {
    changes: AtomicU64,
    /// The most recently recorded schema version, or `None` if it is unknown.
    last: Mutex<Option<ETag>>,
}

/// The number of times the stored schema of one entity type has changed, as recorded by handles in the process.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct SchemaNotes(Arc<Count>);

impl SchemaNotes {
    /// Records the version of the stored schema that a handle starts to use. Pass `None` if a schema of unknown version may have been stored.
    ///
    /// Increments the count and returns its previous value. If this version is already the most recently recorded one, the count stays the same and the
    /// function returns `None`.
    pub fn note(&self, version: Option<&ETag>) -> Option<u64> {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if version.is_some() && last.as_ref() == version {
            return None;
        }
        *last = version.cloned();
        Some(self.0.changes.fetch_add(1, Ordering::AcqRel))
    }

    /// Returns the count.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }
}

impl Exclusive {
    /// Records that programs in other processes write through this process, such as the clients of a server. These programs do not notice a new schema
    /// immediately.
    pub fn share(&self) {
        self.0.shared.store(true, Ordering::Release);
    }

    /// Returns `true` if programs in other processes write through this process.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.shared.load(Ordering::Acquire)
    }

    /// Returns the counter for the stored schema of an entity type. All handles for that type share it.
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
