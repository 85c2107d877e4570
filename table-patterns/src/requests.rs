//! Helpers that run requests concurrently (IMP-5).
//!
//! The futures are boxed and store their results in shared memory. The large polling code is therefore independent of the result type, and is compiled once in
//! this crate instead of in each program.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use table_core::Result;

/// The default number of concurrent requests.
pub(crate) const CONCURRENCY: usize = 16;

/// Runs reads concurrently. Returns their results in order. The first error cancels the remaining reads.
pub(crate) fn in_order<'a, T: Send + 'a>(
    reads: impl IntoIterator<Item: Future<Output = Result<T>> + Send + 'a, IntoIter: Send + 'a>,
    at_once: usize,
) -> BoxFuture<'a, Result<Vec<T>>> {
    let (mut to_ask, mut answers) = (Some(boxed(reads)), Vec::new());
    let mut rest: Option<BoxFuture<'a, Result<Vec<T>>>> = None;
    // An in-process store answers immediately, so no stream is built until a read has to wait.
    let work = move |context: &mut Context<'_>| {
        while let Some(mut reads) = to_ask.take() {
            let Some(mut read) = reads.next() else { break };
            match read.poll_unpin(context) {
                Poll::Ready(answer) => {
                    answers.push(answer?);
                    to_ask = Some(reads);
                }
                Poll::Pending => {
                    rest = Some(ordered(std::iter::once(read).chain(reads), at_once));
                }
            }
        }
        let rest = rest.as_mut().map_or(Poll::Ready(Ok(Vec::new())), |rest| rest.poll_unpin(context));
        rest.map_ok(|more| {
            answers.extend(more);
            std::mem::take(&mut answers)
        })
    };
    poll_fn(work).boxed()
}

/// Runs writes concurrently. Returns their results in completion order. A failed write does not cancel the others.
pub(crate) fn all<'a, T: Send + 'a>(
    writes: impl IntoIterator<Item: Future<Output = T> + Send + 'a, IntoIter: Send + 'a>,
    at_once: usize,
) -> BoxFuture<'a, Vec<T>> {
    let results = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&results);
    let writes = boxed(writes).map(move |write| {
        let kept = Arc::clone(&kept);
        async move {
            let result = write.await;
            lock(&kept).push(result);
        }
        .boxed()
    });
    let driven = drive_all(Box::new(writes), at_once);
    async move {
        driven.await;
        std::mem::take(&mut *lock(&results))
    }
    .boxed()
}

/// Runs writes concurrently, and waits until all have completed. Returns their results, or one of the errors.
pub(crate) async fn all_done<'a, T: Send + 'a>(
    writes: impl IntoIterator<Item: Future<Output = Result<T>> + Send + 'a, IntoIter: Send + 'a>,
    at_once: usize,
) -> Result<Vec<T>> {
    let writes = all(writes, at_once);
    writes.await.into_iter().collect()
}

/// Runs boxed reads concurrently. Returns their results in the order of the reads.
fn ordered<'a, T: Send + 'a>(
    reads: impl Iterator<Item = BoxFuture<'a, Result<T>>> + Send + 'a,
    at_once: usize,
) -> BoxFuture<'a, Result<Vec<T>>> {
    let results = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&results);
    let reads = reads.enumerate().map(move |(at, read)| {
        let kept = Arc::clone(&kept);
        async move {
            let result = read.await?;
            let mut kept = lock(&kept);
            while kept.len() <= at {
                kept.push(None);
            }
            if let Some(slot) = kept.get_mut(at) {
                *slot = Some(result);
            }
            Ok(())
        }
        .boxed()
    });
    let driven = drive_in_order(Box::new(reads), at_once);
    async move {
        driven.await?;
        Ok(std::mem::take(&mut *lock(&results)).into_iter().flatten().collect())
    }
    .boxed()
}

/// Boxed futures. They store their results in shared memory.
type Requests<'a, T> = Box<dyn Iterator<Item = BoxFuture<'a, T>> + Send + 'a>;

/// Polls reads concurrently. The first error, in read order, cancels the remaining reads.
fn drive_in_order(reads: Requests<'_, Result<()>>, at_once: usize) -> BoxFuture<'_, Result<()>> {
    stream::iter(reads).buffered(at_once).try_collect().boxed()
}

/// Polls all writes concurrently until they have completed.
fn drive_all(writes: Requests<'_, ()>, at_once: usize) -> BoxFuture<'_, ()> {
    stream::iter(writes).buffer_unordered(at_once).collect().boxed()
}

/// Locks the shared results. Poisoning can be ignored, because no code panics while it holds the lock.
fn lock<T>(results: &Mutex<T>) -> MutexGuard<'_, T> {
    results.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Boxes each future only when it starts. Only the futures in flight are then in memory.
fn boxed<'a, T>(
    futures: impl IntoIterator<Item: Future<Output = T> + Send + 'a, IntoIter: Send + 'a>,
) -> Box<dyn Iterator<Item = BoxFuture<'a, T>> + Send + 'a> {
    Box::new(futures.into_iter().map(FutureExt::boxed))
}

#[cfg(test)]
mod tests;
