//! The partitions of a table, found by skipping from one partition to the next.

use std::ops::Bound;

use table_core::query::{KeyRange, Select, TextRange};
use table_core::{Continuation, Query, TableName, TableStore};

use crate::failure::Result;
use crate::reader::Reader;

/// The maximum number of requests for one page of the tree.
const REQUESTS: usize = 24;
/// The maximum number of partitions on one page of the tree.
const PARTITIONS: usize = 200;
/// The maximum number of keys per request. A partition with fewer rows can be counted completely.
const KEYS: usize = 100;

/// One partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) partition_key: String,
    /// The number of rows counted so far.
    pub(crate) rows: usize,
    /// `true` if all rows of the partition were counted.
    pub(crate) is_whole: bool,
}

/// One page of partitions.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    pub(crate) branches: Vec<Branch>,
    /// The start of the next page, or `None` after the last page.
    pub(crate) next: Option<Place>,
}

/// The start of a page: the lower bound of its partition keys and, if the store returned an empty page, the continuation within that range.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) lower: Bound<String>,
    pub(crate) from: Option<Continuation>,
}

/// Reads a page of partitions.
///
/// A request reads at most 100 keys. If all of them are in one partition, the next request skips the rest of that partition. A partition that starts in the
/// middle of a response is reread from its start. As a result, even a partition with a million rows takes only one or two requests.
pub(crate) async fn branches(
    reader: &Reader,
    table: &TableName,
    Place { mut lower, mut from }: Place,
) -> Result<Branches> {
    if !reader.store().capabilities().ordered {
        return unordered(reader, table, from).await;
    }
    let mut found = Branches::default();
    for _ in 0..REQUESTS {
        let partition_key = TextRange { lower: lower.clone(), upper: Bound::Unbounded };
        let query = Query {
            select: Select::names(["PartitionKey", "RowKey"]),
            top: Some(KEYS),
            ..Query::new(KeyRange { partition_key, row_key: TextRange::ALL })
        };
        let page = reader.page(table, &query, from.as_ref()).await?;
        let is_last = page.next.is_none();
        if page.rows.is_empty() && !is_last {
            from = page.next;
            continue;
        }
        from = None;
        let count = found.branches.len();
        for row in &page.rows {
            let key = row.key().partition_key.as_str();
            match found.branches.get_mut(count..).and_then(|new| new.last_mut()) {
                Some(branch) if branch.partition_key == key => branch.rows += 1,
                _ => found.branches.push(Branch { partition_key: key.to_owned(), rows: 1, is_whole: true }),
            }
        }
        if !is_last {
            // The response ended inside or just after the last partition. The next request counts that partition again from its start. If the response contains
            // only that partition, its count is incomplete, and the next request skips the rest of it.
            if found.branches.len() > count + 1 {
                found.branches.pop();
            } else if let Some(last) = found.branches.last_mut() {
                last.is_whole = false;
            }
        }
        if is_last {
            return Ok(found);
        }
        let last = found.branches.last().map(|branch| branch.partition_key.clone());
        lower = last.map_or(lower, Bound::Excluded);
        if found.branches.len() >= PARTITIONS {
            break;
        }
    }
    found.next = Some(Place { lower, from });
    Ok(found)
}

/// Reads a page of partitions from an unordered store. Partitions cannot be skipped, and the same partition may appear on several pages.
async fn unordered(reader: &Reader, table: &TableName, mut from: Option<Continuation>) -> Result<Branches> {
    let mut found = Branches::default();
    let select = Select::names(["PartitionKey", "RowKey"]);
    let query = Query { select, ..Query::new(KeyRange::ALL) };
    for _ in 0..REQUESTS {
        let page = reader.page(table, &query, from.as_ref()).await?;
        for row in &page.rows {
            let key = row.key().partition_key.as_str();
            match found.branches.iter_mut().find(|branch| branch.partition_key == key) {
                Some(branch) => branch.rows += 1,
                None => {
                    found.branches.push(Branch { partition_key: key.to_owned(), rows: 1, is_whole: false });
                }
            }
        }
        from = page.next;
        if from.is_none() || found.branches.len() >= PARTITIONS {
            break;
        }
    }
    found.next = from.map(|from| Place { lower: Bound::Unbounded, from: Some(from) });
    Ok(found)
}
