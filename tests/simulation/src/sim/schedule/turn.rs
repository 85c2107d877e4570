//! Lets threads run one at a time, in turns.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, Thread};

/// The permission of one thread to run. It passes from thread to thread without a shared lock.
#[derive(Default)]
pub(super) struct Turn {
    is_given: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Turn {
    pub(super) fn give(&self) {
        self.is_given.store(true, Ordering::SeqCst);
        // A thread that has not started has no handle here. It finds its turn when it starts.
        fence(Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Waits until it is the current thread's turn.
    pub(super) fn take(&self) {
        if self.thread.get().is_none() {
            let _ = self.thread.set(thread::current());
            fence(Ordering::SeqCst);
        }
        while !self.is_given.swap(false, Ordering::SeqCst) {
            thread::park();
        }
    }
}
