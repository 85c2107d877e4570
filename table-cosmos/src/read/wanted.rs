//! Selects the rows of a page. They are the items in the query's key range that match its filter, in key order.

use table_core::Result;
use table_core::filter::Matcher;
use table_core::key::order;
use table_core::query::{EntityRef, Query, Rows};

use crate::item::Item;
use crate::scope::Scope;

/// A query's key range and filter, which select rows from the items read.
pub(super) struct Wanted<'a> {
    query: &'a Query,
    scope: &'a Scope,
    matcher: Option<Matcher>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(query: &'a Query, scope: &'a Scope) -> Self {
        Self { query, scope, matcher: query.filter.as_ref().map(Matcher::new) }
    }

    /// Returns the selected rows in key order.
    pub(super) fn rows(&mut self, mut items: Vec<Item>) -> Result<Rows> {
        items.sort_by(|left, right| {
            order::compare(&left.partition_key, &right.partition_key)
                .then_with(|| order::compare(&left.row_key, &right.row_key))
        });
        let mut rows =
            Rows::with_capacity(items.len(), items.iter().map(|item| item.row.as_bytes().len()).sum());
        for item in &items {
            if !item.levels.starts_with(self.scope.levels()) {
                return Err(item.unexpected());
            }
            let entity = EntityRef::new(&item.partition_key, &item.row_key, item.row.view());
            let inside = self.query.keys.contains(&item.partition_key, &item.row_key);
            if inside && self.matcher.as_mut().map_or(Ok(true), |matcher| matcher.matches(entity))? {
                let narrowed = self.query.select.project(item.row.clone())?;
                rows.push(&item.partition_key, &item.row_key, narrowed.view(), Some(item.etag.clone()));
            }
        }
        Ok(rows)
    }
}
