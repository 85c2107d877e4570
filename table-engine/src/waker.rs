//! Calls to the callers' wakers on the engine's threads. If a waker panics, only its own caller is affected.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// A wrapper that catches the panics of a caller's waker. Waking or dropping the waker runs the caller's code on one of the engine's threads.
struct Contained(Option<Waker>);

/// Runs a caller's code. If it panics, the panic hook reports the panic, and other callers are not affected.
pub(crate) fn contain(run: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        // Dropping the payload could cause a second panic.
        mem::forget(payload);
    }
}

impl Wake for Contained {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(waker) = &self.0 {
            contain(|| waker.wake_by_ref());
        }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        let waker = self.0.take();
        contain(|| drop(waker));
    }
}

/// Polls a future with wrapped wakers, which catch panics. The engine never holds a caller's waker directly.
pub(crate) async fn contained<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let waker = Waker::from(Arc::new(Contained(Some(context.waker().clone()))));
        future.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker panics");
        }
    }

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("a waker panics when dropped");
        }
    }

    #[test]
    fn a_waker_panic_does_not_reach_the_caller_that_wakes_it() {
        let (sender, receiver) = futures_channel::oneshot::channel::<()>();
        let mut future = Box::pin(contained(receiver));
        // The test's own handle to the waker is leaked, because dropping it would panic here.
        let waker = mem::ManuallyDrop::new(Waker::from(Arc::new(Panics)));
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        sender.send(()).unwrap();
        let done = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(done, Poll::Ready(Ok(())));
    }
}
