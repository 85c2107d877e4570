//! Lists the tables of a store as a stream.

use std::collections::VecDeque;

use futures_core::Stream;
use futures_util::stream;
use table_store::Result;

use crate::limits::PAGE_ENTITIES;
use crate::name::TableName;
use crate::store::TableStore;
use crate::table::layout::LAYOUTS;

/// The state of a listing. It contains the names that were read but not yet yielded, and the start of the next page.
struct Listing<S> {
    store: S,
    prefix: String,
    names: VecDeque<TableName>,
    next: Next,
}

enum Next {
    First,
    From(String),
    End,
}

/// The table where patterns register outboxes.
pub const OUTBOXES: &str = "TablesOutbox";

/// The table where patterns register change feeds.
pub const FEEDS: &str = "TablesFeeds";

/// Streams the names of the program's tables that start with `prefix`, in order (OPT-5, PAGE-12). [`LAYOUTS`], [`OUTBOXES`] and [`FEEDS`]
/// are omitted.
pub fn list_tables<S: TableStore>(
    store: S,
    prefix: &str,
) -> impl Stream<Item = Result<TableName>> + Send + use<S> {
    let prefix = prefix.to_owned();
    stream::try_unfold(
        Listing { store, prefix, names: VecDeque::new(), next: Next::First },
        |mut listing| async move {
            loop {
                if let Some(name) = listing.names.pop_front() {
                    return Ok(Some((name, listing)));
                }
                let from = match &listing.next {
                    Next::First => None,
                    Next::From(name) => Some(name.as_str()),
                    Next::End => return Ok(None),
                };
                let page = listing.store.list_tables(&listing.prefix, from, PAGE_ENTITIES).await?;
                listing.names = page.names.into_iter().filter(|name| !is_reserved(name)).collect();
                listing.next = page.next.map_or(Next::End, Next::From);
            }
        },
    )
}

fn is_reserved(name: &TableName) -> bool {
    [LAYOUTS, OUTBOXES, FEEDS].iter().any(|reserved| name.as_str().eq_ignore_ascii_case(reserved))
}
