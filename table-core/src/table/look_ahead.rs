//! Prefetches the next page of a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use table_store::Result;

use crate::query::Page;

/// A stream that prefetches pages. Before it yields a page, it polls the inner stream once for the next page. The request for that page is then already in
/// flight. At most one page is buffered.
pub(super) struct LookAhead<St> {
    pages: Pin<Box<St>>,
    waiting: Waiting,
    /// The number of entities still needed, or `None` if all entities are needed.
    wanted: Option<usize>,
}

/// The result of the last prefetch. It contains an item if the inner stream returned one before the caller requested it.
enum Waiting {
    Nothing,
    Page(Box<Result<Page>>),
    End,
}

impl<St> LookAhead<St> {
    /// Creates the stream. It stops prefetching once it has yielded pages with a total of `limit` entities.
    pub(super) fn new(pages: St, limit: Option<usize>) -> Self {
        Self { pages: Box::pin(pages), waiting: Waiting::Nothing, wanted: limit }
    }
}

impl<St: Stream<Item = Result<Page>>> Stream for LookAhead<St> {
    type Item = Result<Page>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let page = match std::mem::replace(&mut this.waiting, Waiting::Nothing) {
            Waiting::Page(page) => *page,
            Waiting::Nothing => match this.pages.as_mut().poll_next(context) {
                Poll::Ready(Some(page)) => page,
                Poll::Ready(None) => {
                    this.waiting = Waiting::End;
                    return Poll::Ready(None);
                }
                Poll::Pending => return Poll::Pending,
            },
            Waiting::End => {
                this.waiting = Waiting::End;
                return Poll::Ready(None);
            }
        };
        if let Ok(page) = &page {
            this.wanted = this.wanted.map(|wanted| wanted.saturating_sub(page.rows.len()));
            if this.wanted != Some(0) {
                this.waiting = match this.pages.as_mut().poll_next(context) {
                    Poll::Ready(Some(next)) => Waiting::Page(Box::new(next)),
                    Poll::Ready(None) => Waiting::End,
                    Poll::Pending => Waiting::Nothing,
                };
            }
        }
        Poll::Ready(Some(page))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::{StreamExt, stream};
    use pollster::block_on;

    use super::*;
    use crate::query::{EntityRef, Rows, Select};
    use crate::row::RowWriter;
    use table_store::{Error, ErrorCode};

    /// Returns a page that contains two entities and has `number` as its `rows_read`.
    fn page(number: u64) -> Page {
        let row = RowWriter::new().finish();
        let mut rows = Rows::with_capacity(2, 0);
        for row_key in ["1", "2"] {
            rows.push_selected(EntityRef::new("p", row_key, row.view()), &Select::All).unwrap();
        }
        Page { rows, rows_read: Some(number), ..Page::default() }
    }

    /// Returns a stream of the pages 1 to `last`. Each request for a page increments `asked`.
    fn pages(asked: &Cell<u64>, last: u64) -> impl Stream<Item = Result<Page>> {
        stream::unfold(1, move |number| async move {
            asked.set(number);
            (number <= last).then(|| (Ok(page(number)), number + 1))
        })
    }

    fn numbers(stream: impl Stream<Item = Result<Page>>) -> Vec<Option<u64>> {
        block_on(stream.map(|page| page.unwrap().rows_read).collect())
    }

    #[test]
    fn the_next_page_is_requested_before_one_is_returned() {
        let asked = Cell::new(0);
        let mut ahead = LookAhead::new(pages(&asked, 3), None);
        for (number, asked_for) in [(Some(1), 2), (Some(2), 3), (Some(3), 4), (None, 4)] {
            let page = block_on(ahead.next());
            assert_eq!((page.and_then(|page| page.unwrap().rows_read), asked.get()), (number, asked_for));
        }
        assert!(block_on(ahead.next()).is_none());
    }

    #[test]
    fn no_page_is_requested_once_the_limit_is_reached() {
        for (limit, asked_for) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
            let asked = Cell::new(0);
            let mut ahead = LookAhead::new(pages(&asked, 9), Some(limit));
            for _ in 0..limit.div_ceil(2) {
                assert!(block_on(ahead.next()).is_some());
            }
            assert_eq!(asked.get(), asked_for, "{limit}");
        }
    }

    #[test]
    fn pending_pages_arrive_in_order_and_an_error_in_its_turn() {
        /// A stream that returns `Pending` on every other poll.
        struct Slow<St>(Pin<Box<St>>, bool);

        impl<St: Stream> Stream for Slow<St> {
            type Item = St::Item;

            fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<St::Item>> {
                self.1 = !self.1;
                if self.1 {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                self.0.as_mut().poll_next(context)
            }
        }

        let asked = Cell::new(0);
        let slow = Slow(Box::pin(pages(&asked, 4)), false);
        assert_eq!(numbers(LookAhead::new(slow, None)), [Some(1), Some(2), Some(3), Some(4)]);

        let error = Error::new(ErrorCode::InternalError, "the second page is broken");
        let mut ahead = LookAhead::new(stream::iter([Ok(page(1)), Err(error.clone())]), None);
        assert_eq!(block_on(ahead.next()).unwrap().unwrap().rows_read, Some(1));
        assert_eq!(block_on(ahead.next()).unwrap().unwrap_err().code(), error.code());
        assert!(block_on(ahead.next()).is_none());
    }
}
