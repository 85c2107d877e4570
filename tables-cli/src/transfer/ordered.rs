//! Entities in key order, one at a time: the input of comparisons and merges.

use std::cmp::Ordering;

use table_core::key::order;
use table_core::{Continuation, EntityKey, FromEntity, TableEntity};

use crate::failure::Result;
use crate::rows::Pages;

/// A source of entities in key order. Memory holds one page or block.
pub trait OrderedEntities: Send {
    /// Returns the next entity; `None` at the end.
    ///
    /// # Errors
    /// Any error from the source.
    fn next(&mut self) -> impl Future<Output = Result<Option<TableEntity>>> + Send;
}

/// Compares two keys in the order of the Table service: by PartitionKey, then by RowKey.
#[must_use]
pub fn key_order(left: &EntityKey, right: &EntityKey) -> Ordering {
    order::compare(left.partition_key.as_str(), right.partition_key.as_str())
        .then_with(|| order::compare(left.row_key.as_str(), right.row_key.as_str()))
}

/// The entities of a query, in the order in which the store returns them.
#[derive(Debug)]
pub struct Paged<'a> {
    pages: Pages<'a>,
    page: std::vec::IntoIter<TableEntity>,
}

impl<'a> Paged<'a> {
    /// Creates the entities of some pages.
    #[must_use]
    pub fn new(pages: Pages<'a>) -> Self {
        Self { pages, page: Vec::new().into_iter() }
    }

    /// Returns the continuation token after the returned entities; `None` within a page and after the last one.
    #[must_use]
    pub fn continuation(&self) -> Option<&Continuation> {
        if self.page.len() == 0 { self.pages.continuation() } else { None }
    }
}

impl OrderedEntities for Paged<'_> {
    async fn next(&mut self) -> Result<Option<TableEntity>> {
        loop {
            if let Some(entity) = self.page.next() {
                return Ok(Some(entity));
            }
            let Some(page) = self.pages.next().await? else { return Ok(None) };
            let entities: table_core::Result<Vec<_>> =
                page.rows.iter().map(TableEntity::from_entity).collect();
            self.page = entities?.into_iter();
        }
    }
}
