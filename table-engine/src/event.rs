//! Events of the engine, for log subscribers. A subscriber is application code: it may panic, for example because a full disk has no room for its file.

use std::mem;

use tracing::Span;

use crate::waker::contain;

/// Emits an event with the given level and fields. A panic in the subscriber is reported by the panic hook, and the engine continues.
macro_rules! event {
    ($level:ident, $($field:tt)*) => {
        crate::waker::contain(|| tracing::$level!(target: "table_core::engine", $($field)*))
    };
}

pub(crate) use event;

/// A span entered by this thread. Dropping the value exits and closes the span.
#[derive(Debug)]
pub(crate) struct Entered(Span);

impl Drop for Entered {
    fn drop(&mut self) {
        contain(|| {
            self.0.with_subscriber(|(id, dispatch)| dispatch.exit(id));
        });
        let span = mem::replace(&mut self.0, Span::none());
        contain(|| drop(span));
    }
}

/// Creates a span and enters it. After a panic of the subscriber, the thread continues.
///
/// Each call of the subscriber is contained separately. An [`EnteredSpan`](tracing::span::EnteredSpan) would close the span while a panic of its exit unwinds,
/// and a second panic would then abort the process.
pub(crate) fn entered(span: impl FnOnce() -> Span) -> Entered {
    let mut entered = Entered(Span::none());
    contain(|| entered.0 = span());
    contain(|| {
        entered.0.with_subscriber(|(id, dispatch)| dispatch.enter(id));
    });
    entered
}
