//! Warns of operations that are dropped without a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The uncommitted operations of a transaction or a unit, shared with its clones.
///
/// If all clones are dropped without a call to `commit`, a warning is emitted, unless the thread is panicking.
#[derive(Clone, Debug, Default)]
pub struct Uncommitted(Arc<Operations>);

#[derive(Debug, Default)]
struct Operations(AtomicUsize);

impl Uncommitted {
    /// Counts one more operation.
    pub fn add(&self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of operations that no commit has included.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.0.0.load(Ordering::Relaxed)
    }

    /// Marks all operations as committed.
    pub fn commit(&self) {
        self.0.0.store(0, Ordering::Relaxed);
    }
}

impl Drop for Operations {
    fn drop(&mut self) {
        let operations = *self.0.get_mut();
        if operations > 0 && !std::thread::panicking() {
            tracing::warn!(
                target: "table_core::table",
                operations,
                "a transaction or unit was dropped without a commit, so nothing was written; call and await `commit`"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// A subscriber that counts the `WARN` events about tables.
    #[derive(Clone, Default)]
    struct Warnings(Arc<AtomicUsize>);

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN && metadata.target() == "table_core::table"
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// Returns the number of warnings emitted by `program`.
    fn warned(program: impl FnOnce()) -> usize {
        let warnings = Warnings::default();
        tracing::subscriber::with_default(warnings.clone(), program);
        warnings.0.load(Ordering::Relaxed)
    }

    fn of_operations(number: usize) -> Uncommitted {
        let uncommitted = Uncommitted::default();
        (0..number).for_each(|_| uncommitted.add());
        uncommitted
    }

    #[test]
    fn operations_that_are_dropped_without_a_commit_are_reported() {
        assert_eq!(warned(|| drop(of_operations(0))), 0);
        assert_eq!(warned(|| drop(of_operations(2))), 1);
        assert_eq!(warned(|| of_operations(2).commit()), 0);
    }

    #[test]
    fn a_clone_is_reported_only_if_none_of_its_transactions_is_committed() {
        let cloned = |end: fn(&Uncommitted, &Uncommitted)| {
            warned(|| {
                let first = of_operations(2);
                let second = first.clone();
                end(&first, &second);
            })
        };
        assert_eq!(cloned(|first, _| first.commit()), 0);
        assert_eq!(cloned(|_, second| second.commit()), 0);
        assert_eq!(cloned(|_, _| {}), 1);
        // An operation added to the clone after the commit is not written.
        assert_eq!(
            cloned(|first, second| {
                first.commit();
                second.add();
            }),
            1
        );
    }
}
