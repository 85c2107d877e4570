//! Finds records whose partition is missing from the entity's list. A process that was suspended while the view's table was deleted and recreated can write
//! such a record, because it wrote the entity's list to the deleted table.

use std::collections::BTreeMap;

use table_core::Result;
use table_core::key::{EntityKey, order};
use table_core::query::{EntityRef, Page, Select};
use table_core::store::TableStore;

use crate::read_many;
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::record::{self, Places, Share};
use crate::view::table::ViewTable;

/// A non-empty record.
struct Found<'a> {
    source: EntityKey,
    /// The key of the entity's list of view partitions.
    list: EntityKey,
    place: &'a str,
}

impl<'a> Found<'a> {
    /// Returns the record in a row; `None` if it is empty, or belongs to no entity.
    fn of(row: EntityRef<'a>) -> Option<Self> {
        // A record that cannot be read is reported when its entity is applied.
        if Share::read(row.row).is_ok_and(|share| share.is_empty()) {
            return None;
        }
        let source = Share::source(row.row).ok()?;
        let place = EntityKey::new(row.partition_key, row.row_key).ok()?;
        if record::share_key(&place.partition_key, &source).ok()? != place {
            return None;
        }
        Some(Self { list: record::places_key(&source).ok()?, source, place: row.partition_key })
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Returns the entities with an unlisted record in the page: the record is not empty, and the entity's list lacks the record's partition. If the entity no
    /// longer exists, a rebuild cannot find such a record through the source or the lists.
    pub(super) async fn unlisted(&self, page: &Page) -> Result<Vec<Applied>> {
        let mut found: Vec<_> = page.rows.iter().filter_map(Found::of).collect();
        in_order(&mut found);
        // An entity with records in several partitions of the page has one list.
        let mut keys: Vec<_> = found.iter().map(|found| found.list.clone()).collect();
        keys.dedup();
        // IMPORTANT: the lists are read after the records. A list is written before the record, and is shortened only after the record has been emptied, so it
        // normally contains the record's partition.
        let read = |row: EntityRef<'_>| Ok(Places::read(row.row).ok());
        let of = (self.rows.store(), self.rows.name()?);
        let lists = read_many::rows_or(of, &keys, &Select::All, read, |_| Ok(None)).await?;
        let lists: BTreeMap<_, _> = keys.iter().zip(&lists).collect();
        let mut unlisted = BTreeMap::<EntityKey, Applied>::new();
        for Found { source, list, place } in found {
            let list = lists.get(&list).copied().and_then(Option::as_ref);
            // If the list cannot be read, the entity has already been set aside.
            let is_listed =
                list.is_some_and(|list| list.as_ref().is_none_or(|list: &Places| list.0.contains(place)));
            if !is_listed {
                let applied = unlisted.entry(source.clone()).or_insert_with(|| source.into());
                applied.places.insert(place.to_owned());
            }
        }
        Ok(unlisted.into_values().collect())
    }
}

/// Sorts records by the keys of their lists, because adjacent lists are read in pages. This function is not generic, because sorting code is slow to compile
/// and every program would otherwise compile its own copy.
fn in_order(found: &mut [Found<'_>]) {
    found.sort_by(|one, next| {
        let partitions = order::compare(one.list.partition_key.as_str(), next.list.partition_key.as_str());
        partitions.then_with(|| order::compare(one.list.row_key.as_str(), next.list.row_key.as_str()))
    });
}
