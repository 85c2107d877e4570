//! Decodes the entities in a page. Rows of other declared types are skipped.

use table_store::Result;

use crate::entity::Versioned;
use crate::name::TableName;
use crate::query::Page;
use crate::selection::ReadableAs;

/// Decodes up to `most` entities in a page and passes them to `each`. Returns the number of entities passed.
pub(super) fn hand_over<F: ReadableAs<T>, T>(
    table: &TableName,
    page: &Page,
    most: usize,
    mut each: impl FnMut(Versioned<T>),
) -> Result<usize> {
    let mut handed = 0;
    for row in page.rows.iter() {
        if handed == most {
            break;
        }
        // This `match` is written out, without `?` or `map_err`. Otherwise, each entity would be moved two more times, which makes reading a page 11% slower.
        match F::read_own(row) {
            Ok(Some(entity)) => {
                each(entity);
                handed += 1;
            }
            Ok(None) => {}
            Err(error) => return Err(error.with_table(table.as_str())),
        }
    }
    Ok(handed)
}

/// Calls `each` with a reference to each entity in a page, up to `most` entities. The same allocation is reused for every entity. Returns the number of
/// entities passed.
pub(super) fn lend<F: ReadableAs<T>, T>(
    table: &TableName,
    page: &Page,
    most: usize,
    mut each: impl FnMut(&Versioned<T>),
) -> Result<usize> {
    let (mut handed, mut place, mut partition) = (0, None, None);
    for row in page.rows.iter() {
        if handed == most {
            break;
        }
        // A page stores a key only once for consecutive rows that share it, so partition keys can be compared by pointer.
        let is_same_partition = partition.is_some_and(|last| std::ptr::eq(last, row.partition_key));
        match F::read_own_again(&mut place, row, is_same_partition) {
            Ok(true) => {
                partition = Some(row.partition_key);
                place.iter().for_each(&mut each);
                handed += 1;
            }
            Ok(false) => partition = None,
            Err(error) => return Err(error.with_table(table.as_str())),
        }
    }
    Ok(handed)
}

/// Decodes and returns all entities in a page.
pub(super) fn items<F: ReadableAs<T>, T>(table: &TableName, page: &Page) -> Result<Vec<Versioned<T>>> {
    let mut items = Vec::with_capacity(page.rows.len());
    hand_over::<F, T>(table, page, usize::MAX, |entity| items.push(entity))?;
    Ok(items)
}

/// Returns an iterator that decodes the entities in a page lazily.
pub(super) fn each<F: ReadableAs<T>, T>(
    table: TableName,
    page: Page,
) -> impl Iterator<Item = Result<Versioned<T>>> + Send + use<F, T> {
    let mut index = 0;
    std::iter::from_fn(move || {
        loop {
            let row = page.rows.get(index)?;
            index += 1;
            if let Some(read) = F::read_own(row).transpose() {
                return Some(read.map_err(|error| error.with_table(table.as_str())));
            }
        }
    })
}
