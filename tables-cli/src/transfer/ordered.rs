//! Streams of entities, in any order or in key order. Comparisons and merges require key order, which not all stores provide.

use std::cmp::Ordering;

use table_core::key::order;
use table_core::{Continuation, EntityKey, FromEntity, TableEntity};

use crate::failure::{Failure, Result};
use crate::rows::Pages;

/// A source of entities in any order. It keeps one page or block in memory.
pub trait Entities: Send {
    /// Returns the next entity, or `None` at the end.
    ///
    /// # Errors
    /// Any error from the source.
    fn next(&mut self) -> impl Future<Output = Result<Option<TableEntity>>> + Send;
}

/// A source that returns its entities in key order.
pub trait OrderedEntities: Entities {}

/// Compares two keys in the Table service's order: by PartitionKey, then by RowKey.
#[must_use]
pub fn key_order(left: &EntityKey, right: &EntityKey) -> Ordering {
    order::compare(left.partition_key.as_str(), right.partition_key.as_str())
        .then_with(|| order::compare(left.row_key.as_str(), right.row_key.as_str()))
}

/// A stream of a query's entities, in store order.
#[derive(Debug)]
pub struct Paged<'a> {
    pages: Pages<'a>,
    page: std::vec::IntoIter<TableEntity>,
}

impl<'a> Paged<'a> {
    /// Creates a stream of the entities on `pages`.
    #[must_use]
    pub fn new(pages: Pages<'a>) -> Self {
        Self { pages, page: Vec::new().into_iter() }
    }

    /// Returns the continuation token after the last returned entity. Returns `None` if more entities follow on the same page, or if that page was the last
    /// one.
    #[must_use]
    pub fn continuation(&self) -> Option<&Continuation> {
        if self.page.len() == 0 { self.pages.continuation() } else { None }
    }

    /// Returns the number of stored rows that the pages read so far omit.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.pages.omitted()
    }
}

impl Entities for Paged<'_> {
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

/// A stream of a query's entities, in key order.
#[derive(Debug)]
pub struct Ordered<'a> {
    entities: Paged<'a>,
    last: Option<EntityKey>,
}

impl<'a> Ordered<'a> {
    /// Creates a stream of the entities on `pages`.
    ///
    /// # Errors
    /// `Refused` if the store does not return rows in key order.
    pub fn new(pages: Pages<'a>) -> Result<Self> {
        if pages.is_ordered() {
            return Ok(Self { entities: Paged::new(pages), last: None });
        }
        let help = "copy its tables to a folder with `tables copy`, and use the folder";
        Err(Failure::Refused(format!("the store does not return rows in key order; {help}")))
    }

    /// Returns the continuation token after the last returned entity. Returns `None` if more entities follow on the same page, or if that page was the last
    /// one.
    #[must_use]
    pub fn continuation(&self) -> Option<&Continuation> {
        self.entities.continuation()
    }

    /// Returns the number of stored rows that the pages read so far omit.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.entities.omitted()
    }
}

impl Entities for Ordered<'_> {
    /// Returns the next entity.
    ///
    /// # Errors
    /// Any error from the store. `Refused` if a key does not sort after the previous key, because a comparison would report the row as missing.
    async fn next(&mut self) -> Result<Option<TableEntity>> {
        let Some(entity) = self.entities.next().await? else { return Ok(None) };
        let key = entity.key();
        if self.last.as_ref().is_some_and(|last| key_order(last, key).is_ge()) {
            let (partition, row) = (key.partition_key.as_str(), key.row_key.as_str());
            return Err(Failure::Refused(format!(
                "the store returned row ('{partition}', '{row}') out of key order; nothing was decided from it"
            )));
        }
        self.last = Some(key.clone());
        Ok(Some(entity))
    }
}

impl OrderedEntities for Ordered<'_> {}

#[cfg(test)]
mod tests;
