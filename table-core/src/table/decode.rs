//! Decoding of a page, one entity at a time: rows of types that are declared beside it are passed over.

use crate::entity::Versioned;
use crate::error::Result;
use crate::name::TableName;
use crate::query::{EntityRef, Page};
use crate::selection::Reads;

/// Decodes one row of a page; `None` if it is of another declared type.
#[inline]
pub(super) fn entity<F: Reads<T>, T>(
    table: &TableName,
    entity: EntityRef<'_>,
) -> Result<Option<Versioned<T>>> {
    Versioned::read_own_with(entity, F::read_own).map_err(|error| error.with_table(table.as_str()))
}

/// Decodes a page.
pub(super) fn items<F: Reads<T>, T>(table: &TableName, page: &Page) -> Result<Vec<Versioned<T>>> {
    // Not `collect`: through a `Result` it does not know how many there will be, and moves what it has again and again.
    let mut items = Vec::with_capacity(page.rows.len());
    for row in page.rows.iter() {
        items.extend(entity::<F, T>(table, row)?);
    }
    Ok(items)
}

/// The entities of a page, each decoded when it is asked for.
pub(super) fn each<F: Reads<T>, T>(
    table: TableName,
    page: Page,
) -> impl Iterator<Item = Result<Versioned<T>>> + Send + use<F, T> {
    let mut index = 0;
    std::iter::from_fn(move || {
        loop {
            let row = page.rows.get(index)?;
            index += 1;
            if let Some(entity) = entity::<F, T>(&table, row).transpose() {
                return Some(entity);
            }
        }
    })
}
