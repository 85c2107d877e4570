//! Events of the engine, for log subscribers. A subscriber is application code: it may panic, for example because a full disk has no room for its file.

use tracing::Span;
use tracing::span::EnteredSpan;

use crate::waker::contain;

/// Emits an event with the given level and fields. A panic in the subscriber is reported by the panic hook, and the engine continues.
macro_rules! event {
    ($level:ident, $($field:tt)*) => {
        crate::waker::contain(|| tracing::$level!(target: "table_core::engine", $($field)*))
    };
}

pub(crate) use event;

/// A span entered by this thread. Dropping the value exits the span.
#[derive(Debug)]
pub(crate) struct Entered(Option<EnteredSpan>);

impl Drop for Entered {
    fn drop(&mut self) {
        let span = self.0.take();
        contain(|| drop(span));
    }
}

/// Creates a span and enters it. After a panic in the subscriber, the thread continues without the span.
pub(crate) fn entered(span: impl FnOnce() -> Span) -> Entered {
    let mut entered = None;
    contain(|| entered = Some(span().entered()));
    Entered(entered)
}
