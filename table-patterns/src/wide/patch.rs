//! Patches of wide entities. A patch merges some properties into the entity without reading it.

use std::fmt;

use table_core::etag::IfMatch;
use table_core::operation::OperationKind;
use table_core::property::{self, Property};
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::table::PatchValue;
use table_core::{Error, Result};
use uuid::Uuid;

use crate::wide::fault::WideFault;
use crate::wide::fetch::{fetch, write_ids};
use crate::wide::{Wide, WideProperty, WideTable, WideWriter};

/// New values for some properties of a stored wide entity. Its other properties are kept (PAT-WIDE-2). Created by [`WideTable::patch`].
///
/// ```
/// # use table_patterns::embedded::Engine;
/// use table_patterns::wide::{Wide, WidePatch, WideStore};
/// #[derive(Wide)]
/// #[partition_key(employee)]
/// #[row_key(year)]
/// struct Both { #[digits(6)] employee: u32, #[digits(4)] year: u16, first: i32, #[part(2)] second: i32 }
///
/// # pollster::block_on(async {
/// # let table = Engine::in_memory().wide::<Both>().create_if_missing().await?;
/// # table.insert(&Both { employee: 123, year: 2014, first: 1, second: 1 }).await?;
/// let patch: WidePatch<'_, Both, _> = table.patch(Both::key(123, 2014)).set(Both::FIRST, 2).set(Both::SECOND, 2);
/// patch.send().await?; // writes two parts in one transaction
/// let both = table.get(Both::key(123, 2014)).await?.map(|(both, _)| (both.first, both.second));
/// assert_eq!(both, Some((2, 2)));
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a patch does nothing until it is sent; write `.send().await?` after the last change"]
pub struct WidePatch<'a, W: Wide, S> {
    table: &'a WideTable<W, S>,
    key: Selection<W::Header, Point>,
    properties: Result<WideWriter>,
}

impl<W: Wide, S: TableStore> WideTable<W, S> {
    /// Creates a patch of one wide entity. See [`WidePatch`] for an example.
    pub fn patch(&self, key: Selection<W::Header, Point>) -> WidePatch<'_, W, S> {
        WidePatch { table: self, key, properties: Ok(WideWriter::new(W::PARTS)) }
    }

    /// Sets one property with a merge into the part that contains it.
    ///
    /// # Errors
    /// Any error from [`WidePatch::send`].
    pub async fn set<T: Property>(
        &self,
        key: Selection<W::Header, Point>,
        property: WideProperty<W, T>,
        value: impl PatchValue<T>,
    ) -> Result<()> {
        self.patch(key).set(property, value).send().await
    }
}

impl<W: Wide, S: TableStore> WidePatch<'_, W, S> {
    /// Sets a property. If the value is invalid, [`send`](Self::send) returns the error.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "consistent with patches of entities, which take values"
    )]
    pub fn set<T: Property>(mut self, property: WideProperty<W, T>, value: impl PatchValue<T>) -> Self {
        let (name, value) = (property.name(), value.into_value());
        self.properties = self.properties.and_then(|mut properties| {
            property.check()?;
            if property::to_value(&value)?.is_none() {
                return Err(Error::of(WideFault::Removed).with_property(name));
            }
            properties.set(name, &value)?;
            Ok(properties)
        });
        self
    }

    /// Sends the patch. If all properties are in the same part, this is a single merge. Otherwise, the patch first reads the versions of the parts, and then
    /// writes the properties and a new `WriteId` for every part in one transaction.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the wide entity does not exist, or if the patch affects a single part that does not exist.
    /// - `EntityMismatch` if the patch affects several parts, and a part is missing, was written separately, or is not declared (PAT-WIDE-4).
    /// - `UpdateConditionNotSatisfied` if the patch affects several parts, and every attempt conflicted with another writer.
    /// - `InvalidInput` if a name is not in any part, if a property is set twice, or if the patch is empty.
    /// - An error if the entity exceeds a limit (SIZE-6).
    pub async fn send(self) -> Result<()> {
        let Self { table, key, properties } = self;
        let key = key.into_key()?;
        let properties = properties.map_err(|error| table.in_place(error, &key))?;
        if properties.is_empty() {
            return Err(table.in_place(Error::of(WideFault::EmptyPatch), &key));
        }
        let only = properties.only_part();
        let rows = properties.finish(only.is_none().then(Uuid::new_v4))?;
        if let Some(only) = only {
            let touched = rows.into_iter().enumerate().filter(|(at, _)| *at == only);
            let merges = touched.map(|(at, row)| (at, OperationKind::Merge(row, IfMatch::Any)));
            return table.submit(&key, false, merges).await.map(drop);
        }
        let (store, name) = (table.table.store(), table.table.name()?);
        let mut race = table.retry.start("the wide entity");
        loop {
            // The parts must come from the same write. This is checked first, because the new `WriteId` would hide it if they do not.
            let found = fetch(store, name, &key, (W::PARTS.len(), write_ids()), &table.retry).await?;
            let missing = || table.in_place(Error::of(WideFault::NothingToUpdate), &key);
            let etags = found.ok_or_else(missing)?.etags;
            let merges = rows.clone().into_iter().zip(etags).enumerate();
            let merges = merges.map(|(at, (row, etag))| (at, OperationKind::Merge(row, IfMatch::ETag(etag))));
            match table.submit(&key, false, merges).await {
                Err(error) if error.is_conflict() => race.retry(table.in_place(error, &key)).await?,
                done => return done.map(drop),
            }
        }
    }
}

debug_fields!([W: Wide, S: fmt::Debug] WidePatch['_, W, S] { table, key, properties });
