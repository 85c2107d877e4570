//! Log events of the engine. A log subscriber is application code and may panic, for example because the disk is too full for its log file.

use std::mem;

use tracing::Span;

use crate::waker::contain;

/// Emits an event with the given level and fields. If the subscriber panics, the panic hook reports the panic and the engine continues.
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

/// Creates a span and enters it. If the subscriber panics, the thread continues.
///
/// Panics are caught separately for each call to the subscriber. An [`EnteredSpan`](tracing::span::EnteredSpan) would not be safe: a panic on exit would close
/// the span during unwinding, and a second panic would then abort the process.
pub(crate) fn entered(span: impl FnOnce() -> Span) -> Entered {
    let mut entered = Entered(Span::none());
    contain(|| entered.0 = span());
    contain(|| {
        entered.0.with_subscriber(|(id, dispatch)| dispatch.enter(id));
    });
    entered
}
