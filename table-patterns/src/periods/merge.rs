//! Merges several tables in key order, with one cursor per table.

use std::cmp::Ordering;
use std::collections::VecDeque;

use table_core::Result;
use table_core::entity::{FromEntity, Versioned};
use table_core::key::order;
use table_core::name::TableName;
use table_core::query::{Continuation, EntityRef, Page, Query, Rows};
use table_core::store::TableStore;

use crate::paging::{Pages, none_if_missing};
use crate::requests;

/// The maximum number of tables that are queried concurrently (IMP-5).
const CONCURRENCY: usize = 8;

/// A cursor over the results of one table.
#[derive(Debug)]
struct Cursor {
    table: TableName,
    /// The queries that have not completed. If a continuation exists, it belongs to the first of them.
    queries: VecDeque<Query>,
    from: Option<Continuation>,
    page: Page,
    at: usize,
}

impl Cursor {
    fn head(&self) -> Option<EntityRef<'_>> {
        self.page.rows.get(self.at)
    }

    /// Reads pages until the next entity is available or the table ends. Pages may be empty (PAGE-4). A missing table counts as empty. Only the first page of a
    /// query has a size limit. Afterwards, full pages are requested, because rows of other types may fill any number of pages.
    async fn filled<S: TableStore>(mut self, store: &S) -> Result<Self> {
        if !store.capabilities().ordered && self.head().is_none() {
            return self.sorted(store).await;
        }
        while self.head().is_none() {
            let Some(query) = self.queries.front_mut() else { break };
            let mut page = match store.query(&self.table, query, self.from.as_ref()).await {
                Err(error) if error.is_table_not_found() => {
                    self.queries.clear();
                    break;
                }
                page => page?,
            };
            query.top = None;
            self.from = page.continuation.take();
            if self.from.is_none() {
                self.queries.pop_front();
            }
            (self.page, self.at) = (page, 0);
        }
        Ok(self)
    }

    /// Runs the remaining queries completely and sorts their rows. This is needed for stores whose pages are not in key order (COS-1).
    async fn sorted<S: TableStore>(mut self, store: &S) -> Result<Self> {
        let mut pages = Vec::new();
        while let Some(query) = self.queries.pop_front() {
            // The first rows in key order may be on the last page.
            let query = Query { top: None, ..query };
            let mut of_query = Pages::new(store, &self.table, &query);
            while let Some(page) = none_if_missing(of_query.next().await)? {
                pages.push(page);
            }
        }
        let mut all: Vec<_> = pages.iter().flat_map(|page| page.rows.iter()).collect();
        all.sort_by(|left, right| compare(Some(*left), Some(*right)));
        let mut rows = Rows::default();
        for row in all {
            rows.push(row.partition_key, row.row_key, row.row, Some(row.etag()));
        }
        (self.page, self.at) = (Page { rows, ..Page::default() }, 0);
        Ok(self)
    }
}

/// Merges the entities of several tables in key order, with one cursor per table.
#[derive(Debug)]
pub(super) struct Merge<S> {
    store: S,
    cursors: Vec<Cursor>,
}

impl<S: TableStore> Merge<S> {
    pub(super) fn new(store: S, tables: Vec<TableName>, queries: &[Query]) -> Self {
        let cursor = |table| Cursor {
            table,
            queries: queries.iter().cloned().collect(),
            from: None,
            page: Page::default(),
            at: 0,
        };
        Self { store, cursors: tables.into_iter().map(cursor).collect() }
    }

    /// Returns the next entity in key order. If several tables contain the same key, the entity of the earliest period comes first.
    pub(super) async fn next<T: FromEntity>(&mut self) -> Result<Option<Versioned<T>>> {
        loop {
            if self.cursors.iter().any(|cursor| cursor.head().is_none()) {
                let store = &self.store;
                let fills = std::mem::take(&mut self.cursors).into_iter().map(|cursor| cursor.filled(store));
                self.cursors = requests::in_order(fills, CONCURRENCY).await?;
                self.cursors.retain(|cursor| cursor.head().is_some());
            }
            let smaller = |least: &Cursor, other: &Cursor| compare(other.head(), least.head()).is_lt();
            let cursors = self.cursors.iter_mut();
            let Some(first) =
                cursors.reduce(|least, other| if smaller(least, other) { other } else { least })
            else {
                return Ok(None);
            };
            let read = first.head().map(T::read_own).transpose();
            let read = read.map_err(|error| error.with_table(first.table.as_str()))?;
            first.at += 1;
            if let Some(entity) = read.flatten() {
                return Ok(Some(entity));
            }
        }
    }
}

fn compare(left: Option<EntityRef<'_>>, right: Option<EntityRef<'_>>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => order::compare(left.partition_key, right.partition_key)
            .then_with(|| order::compare(left.row_key, right.row_key)),
        (left, right) => right.is_some().cmp(&left.is_some()),
    }
}
