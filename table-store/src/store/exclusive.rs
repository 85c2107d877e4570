//! The state shared by all handles to a store that only one process can use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state shared by all handles to a store that only their process can use. Clones share the state, and two values are equal if they share it.
///
/// The state counts how often a handle has begun to use a stored schema, so the other handles in the process notice a new schema without a request. A process
/// that gives other processes access to the store must call [`share`](Self::share).
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
    noted: AtomicU64,
    shared: AtomicBool,
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

    /// Records that the stored schema may differ from the one that other handles have read. Returns how often this was recorded before.
    #[doc(hidden)]
    #[expect(
        clippy::must_use_candidate,
        reason = "callers without a handle of their own need only the effect"
    )]
    pub fn note_schema(&self) -> u64 {
        self.0.noted.fetch_add(1, Ordering::AcqRel)
    }

    /// Returns how often [`note_schema`](Self::note_schema) was called.
    #[doc(hidden)]
    #[must_use]
    pub fn noted_schemas(&self) -> u64 {
        self.0.noted.load(Ordering::Acquire)
    }
}

impl PartialEq for Exclusive {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Exclusive {}
