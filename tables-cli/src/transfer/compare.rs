//! The differences of two tables, found by reading both in key order: memory holds one page of each.

use std::cmp::Ordering;

use table_core::key::order;
use table_core::{FromEntity, TableEntity};

use crate::failure::Result;
use crate::rows::Pages;

/// One difference of two tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// The entity is in the source alone.
    Missing(TableEntity),
    /// Both have the key, with other properties. The source's entity comes first, then the target's.
    Changed(TableEntity, TableEntity),
    /// The entity is in the target alone.
    Extra(TableEntity),
}

/// The entities of a query in key order, one at a time.
struct Ordered<'a> {
    pages: Pages<'a>,
    page: std::vec::IntoIter<TableEntity>,
}

impl<'a> Ordered<'a> {
    fn new(pages: Pages<'a>) -> Self {
        Self { pages, page: Vec::new().into_iter() }
    }

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

/// Compares two queries whose stores answer in key order, and calls `found` for each difference.
///
/// Returns the number of entities of the source.
///
/// # Errors
/// The errors of both stores, and of `found`.
pub async fn compare(
    source: Pages<'_>,
    target: Pages<'_>,
    mut found: impl AsyncFnMut(Difference) -> Result<()>,
) -> Result<u64> {
    let (mut source, mut target) = (Ordered::new(source), Ordered::new(target));
    let (mut left, mut right) = (source.next().await?, target.next().await?);
    let mut count = 0;
    loop {
        let order = match (&left, &right) {
            (None, None) => return Ok(count),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => order_of(left, right),
        };
        if order.is_le() {
            count += 1;
        }
        match order {
            Ordering::Less => {
                if let Some(entity) = left.take() {
                    found(Difference::Missing(entity)).await?;
                }
                left = source.next().await?;
            }
            Ordering::Greater => {
                if let Some(entity) = right.take() {
                    found(Difference::Extra(entity)).await?;
                }
                right = target.next().await?;
            }
            Ordering::Equal => {
                if let (Some(left), Some(right)) = (left.take(), right.take())
                    && !is_same(&left, &right)
                {
                    found(Difference::Changed(left, right)).await?;
                }
                (left, right) = (source.next().await?, target.next().await?);
            }
        }
    }
}

fn order_of(left: &TableEntity, right: &TableEntity) -> Ordering {
    let (left, right) = (left.key(), right.key());
    order::compare(left.partition_key.as_str(), right.partition_key.as_str())
        .then_with(|| order::compare(left.row_key.as_str(), right.row_key.as_str()))
}

/// Returns `true` if both have the same properties; Timestamp and `ETag` are each store's own.
#[must_use]
pub fn is_same(left: &TableEntity, right: &TableEntity) -> bool {
    left.len() == right.len() && left.iter().all(|(name, value)| right.get(name) == Some(value))
}
