//! The handle to a table of wide entities. It writes each entity in one transaction and reads it consistently.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use table_core::entity::{Entity, FromEntity};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, Select};
use table_core::retry::Retry;
use table_core::row::{self, Row, RowView, RowWriter};
use table_core::selection::{Point, Selection};
use table_core::store::{Committed, TableStore, written};
use table_core::table::submit_admitted;
use table_core::{Error, Result, Table, Transaction};
use uuid::Uuid;

use crate::wide::check::check_parts;
use crate::wide::fault::WideFault;
use crate::wide::fetch::{Whole, fetch, row_key, versions};
use crate::wide::properties::Stored;
use crate::wide::{Wide, WideReader, WideWriter};

/// The version of a wide entity, which consists of the versions of its parts. It becomes stale with any later write to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideVersion(pub(super) Vec<ETag>);

/// A handle to a table of wide entities. See [the pattern](crate::wide).
pub struct WideTable<W: Wide, S> {
    pub(super) table: Table<W::Header, S>,
    pub(super) retry: Retry,
    of: PhantomData<fn() -> W>,
}

impl<W: Wide, S> WideTable<W, S> {
    /// Creates a handle to wide entities. `table` is the table that contains their parts.
    #[must_use]
    pub fn new(table: Table<W::Header, S>) -> Self {
        const { check_parts::<W>() }
        Self { table, retry: Retry::default(), of: PhantomData }
    }

    /// Sets the retry policy for reads that overlap with a write, and for updates that conflict with other writers.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    #[cfg(test)]
    pub(super) const fn retry(&self) -> &Retry {
        &self.retry
    }

    /// Returns the table that contains the parts.
    #[must_use]
    pub const fn table(&self) -> &Table<W::Header, S> {
        &self.table
    }

    pub(super) fn in_place(&self, error: Error, key: &EntityKey) -> Error {
        let error = match error.key() {
            Some(_) => error,
            None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
        };
        match self.table.name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}

/// A store that creates handles to tables of wide entities. Implemented for every [`TableStore`].
pub trait WideStore: TableStore + Clone {
    /// Returns a handle to the table declared by `W`. Sends no request.
    ///
    /// ```
    /// use table_patterns::embedded::Engine;
    /// use table_patterns::wide::{Wide, WideStore};
    ///
    /// #[derive(Wide)]
    /// #[entity(table = "MessageCounts")]
    /// #[partition_key(employee)]
    /// #[row_key(year)]
    /// struct YearOfCounts { employee: u32, year: u16, #[slots("Day", 1..=366)] days: Vec<Option<i32>> }
    ///
    /// let counts = Engine::in_memory().wide::<YearOfCounts>();
    /// assert_eq!(counts.table().name()?.as_str(), "MessageCounts");
    /// # Ok::<(), table_patterns::Error>(())
    /// ```
    #[must_use]
    fn wide<W: Wide>(&self) -> WideTable<W, Self> {
        WideTable::new(Table::of(self.clone()))
    }
}

impl<S: TableStore + Clone> WideStore for S {}

impl<W: Wide, S: TableStore> WideTable<W, S> {
    /// Creates the table if it does not exist, and returns the handle.
    ///
    /// # Errors
    /// Any error from [`Table::create_if_missing`].
    pub async fn create_if_missing(self) -> Result<Self> {
        Ok(Self { table: self.table.create_if_missing().await?, ..self })
    }

    /// Inserts the entity with all its parts. The insert is atomic.
    ///
    /// # Errors
    /// - `EntityAlreadyExists` if any part is already stored.
    /// - `EntityTooLarge`, with the name of the part, if a part exceeds 1 MiB.
    /// - `RequestBodyTooLarge` if all parts together exceed 4 MiB (EGT-3).
    /// - Any error from [`Wide::write`].
    pub async fn insert(&self, whole: &W) -> Result<WideVersion> {
        self.write(whole, false, |rows| Ok(rows.into_iter().map(OperationKind::Insert).collect())).await
    }

    /// Inserts or replaces the entity unconditionally: the last writer wins. All parts are replaced. This repairs an entity whose parts are missing or come
    /// from different writes.
    ///
    /// The versions of the stored parts are read first, because parts that only a newer declaration knows would keep the old `WriteId`.
    ///
    /// # Errors
    /// - `EntityMismatch` if more parts are stored than declared (PAT-WIDE-4).
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    /// - Any error from [`insert`](Self::insert), except `EntityAlreadyExists`.
    pub async fn insert_or_replace(&self, whole: &W) -> Result<WideVersion> {
        let key = whole.header().key_of()?;
        let kind = |(row, found)| match found {
            Some(etag) => OperationKind::Replace(row, IfMatch::ETag(etag)),
            None => OperationKind::Insert(row),
        };
        let mut race = self.retry.start("the wide entity");
        loop {
            let found = versions(self.table.store(), self.table.name()?, &key, W::PARTS.len()).await?;
            match self.write(whole, true, |rows| Ok(rows.into_iter().zip(found).map(kind).collect())).await {
                Err(error) if error.is_conflict() => race.retry(self.in_place(error, &key)).await?,
                done => return done,
            }
        }
    }

    /// Replaces the entity if none of its parts has been written since it was read.
    ///
    /// # Errors
    /// - `UpdateConditionNotSatisfied` if a part has been written since it was read.
    /// - `ResourceNotFound` if a part no longer exists.
    /// - `InvalidInput` if `version` was read with a declaration that has a different number of parts (PAT-WIDE-2).
    /// - Any error from [`insert`](Self::insert).
    pub async fn replace(&self, whole: &W, version: &WideVersion) -> Result<WideVersion> {
        let key = whole.header().key_of()?;
        let conditions = version.conditions::<W>().map_err(|error| self.in_place(error, &key))?;
        self.write(whole, true, |rows| {
            Ok(rows.into_iter().zip(conditions).map(|(row, of)| OperationKind::Replace(row, of)).collect())
        })
        .await
    }

    /// Returns the entity and its version. Returns `None` if the entity does not exist. Sends one range query, and repeats it if a write was in progress
    /// (PAT-WIDE-3).
    ///
    /// # Errors
    /// - `EntityMismatch` if a part is missing or was written separately (PAT-WIDE-4).
    /// - `UpdateConditionNotSatisfied` if every read overlapped with a write.
    /// - Any error from [`Wide::read`].
    pub async fn get(&self, key: Selection<W::Header, Point>) -> Result<Option<(W, WideVersion)>> {
        let found = self.read(&key.into_key()?).await?;
        Ok(found.map(|(whole, found)| (whole, WideVersion(found.etags))))
    }

    /// Updates the entity: reads it, calls `change` and replaces it. If another writer committed first, retries after a backoff (CON-3). Undeclared properties
    /// are kept.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `InvalidInput` if `change` changed the key (UPD-6).
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    /// - Any error from [`get`](Self::get) or [`replace`](Self::replace).
    pub async fn update(
        &self,
        key: Selection<W::Header, Point>,
        mut change: impl FnMut(&mut W),
    ) -> Result<(W, WideVersion)> {
        let key = key.into_key()?;
        let mut race = self.retry.start("the wide entity");
        loop {
            let Some((mut whole, Whole { rows, etags })) = self.read(&key).await? else {
                return Err(self.in_place(Error::of(WideFault::NothingToUpdate), &key));
            };
            let kept = undeclared::<W>(&self.properties(&key, &rows)?);
            change(&mut whole);
            if whole.header().key_of()? != key {
                return Err(self.in_place(Error::of(WideFault::KeyChanged), &key));
            }
            let replace = |rows: Vec<Row>| {
                let parts = rows.into_iter().zip(&kept).zip(etags);
                let kind = |((row, kept), etag): ((Row, &Row), ETag)| {
                    Ok(OperationKind::Replace(row::merge(row.view(), kept.view())?, IfMatch::ETag(etag)))
                };
                parts.map(kind).collect()
            };
            match self.write(&whole, false, replace).await {
                Ok(version) => return Ok((whole, version)),
                Err(error) if error.is_precondition_failed() => {
                    race.retry(self.in_place(error, &key)).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Deletes the entity if none of its parts has been written since it was read.
    ///
    /// # Errors
    /// - `UpdateConditionNotSatisfied` if a part has been written since it was read.
    /// - `ResourceNotFound` if a part no longer exists.
    /// - `InvalidInput` if `version` was read with a declaration that has a different number of parts (PAT-WIDE-2).
    pub async fn delete(&self, key: Selection<W::Header, Point>, version: &WideVersion) -> Result<()> {
        let key = key.into_key()?;
        let conditions = version.conditions::<W>().map_err(|error| self.in_place(error, &key))?;
        let deletes = conditions.into_iter().map(OperationKind::Delete).enumerate();
        self.submit(&key, false, deletes).await.map(drop)
    }

    async fn read(&self, key: &EntityKey) -> Result<Option<(W, Whole)>> {
        let (store, table) = (self.table.store(), self.table.name()?);
        let found = fetch(store, table, key, (W::PARTS.len(), Select::All), &self.retry).await?;
        let Some(found) = found else { return Ok(None) };
        let properties = self.properties(key, &found.rows)?;
        Ok(Some((self.decode(key, &found.rows, &properties)?, found)))
    }

    /// Returns a reader for the properties in an entity's parts.
    pub(super) fn properties<'a>(&self, key: &EntityKey, rows: &'a [Row]) -> Result<WideReader<'a>> {
        WideReader::of::<W>(rows).map_err(|error| self.in_place(error, key))
    }

    /// Decodes the entity from its parts.
    pub(super) fn decode(&self, key: &EntityKey, rows: &[Row], properties: &WideReader<'_>) -> Result<W> {
        let first = rows.first().map_or(RowView::new(&[]), Row::view);
        let decode = || {
            let moved = properties.moved_header()?;
            let row = moved.map(|moved| row::merge(first, moved.view())).transpose()?;
            let row = row.as_ref().map_or(first, Row::view);
            let header = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row);
            W::read(W::Header::from_entity(header)?, properties)
        };
        decode().map_err(|error| self.in_place(error, key))
    }

    /// Returns an entity's key and parts. Every part contains the same new `WriteId`.
    pub(super) fn rows(&self, whole: &W) -> Result<(EntityKey, Vec<Row>)> {
        let error = |error: Error| match whole.header().key_of() {
            Ok(key) => self.in_place(error, &key),
            Err(_) => error,
        };
        rows_of(whole).map_err(error)
    }

    async fn write(
        &self,
        whole: &W,
        is_whole: bool,
        kinds: impl FnOnce(Vec<Row>) -> Result<Vec<OperationKind>>,
    ) -> Result<WideVersion> {
        let (key, rows) = self.rows(whole)?;
        let committed = self.submit(&key, is_whole, kinds(rows)?.into_iter().enumerate()).await?;
        let table = self.table.name()?;
        let etags = committed.into_iter().map(|etag| written(table, etag)).collect::<Result<_>>();
        etags.map(WideVersion).map_err(|error| self.in_place(error, &key))
    }

    /// Writes parts in one transaction, unless a program with a newer schema forbids the write. `is_whole` is `true` if the write removes undeclared
    /// properties.
    pub(super) async fn submit(
        &self,
        key: &EntityKey,
        is_whole: bool,
        parts: impl IntoIterator<Item = (usize, OperationKind)>,
    ) -> Result<Committed> {
        let (store, table) = (self.table.store(), self.table.name()?);
        let in_place = |error| self.in_place(error, key);
        let limits = store.capabilities().limits;
        let mut transaction = Transaction::new(key.partition_key.clone(), limits).map_err(in_place)?;
        for (part, kind) in parts {
            let row_key = row_key(key, part).map_err(in_place)?;
            transaction.push(Operation { row_key, kind }).map_err(in_place)?;
        }
        let replaces = transaction.operations().iter().any(|part| part.kind.replaces_unconditionally());
        let admit = || async {
            let lease = self.table.admit(self.retry.runtime()).await?;
            if is_whole {
                self.table.admit_whole()?;
            }
            Ok(lease.filter(|_| replaces))
        };
        submit_admitted(transaction, admit, |transaction| store.submit(table, transaction)).await
    }
}

/// Returns a wide entity's key and parts. Every part contains the same new `WriteId`.
pub(super) fn rows_of<W: Wide>(whole: &W) -> Result<(EntityKey, Vec<Row>)> {
    let header = whole.header();
    let key = header.key_of()?;
    let mut writer = WideWriter::new(W::PARTS);
    let written = writer.append(&header.to_row()?).and_then(|()| whole.write(&mut writer));
    written.map_err(|error| error.with_key(key.partition_key.as_str(), key.row_key.as_str()))?;
    Ok((key, writer.finish(Some(Uuid::new_v4()))?))
}

/// Returns the undeclared properties to keep in each declared part, such as properties that a newer release has added. They stay in the part with the same
/// number. If that part is no longer declared, they move to the last part, unless it already has a property with the same name.
pub(super) fn undeclared<W: Wide>(properties: &WideReader<'_>) -> Vec<Row> {
    let mut kept: Vec<(BTreeSet<&str>, RowWriter)> = W::PARTS.iter().map(|_| Default::default()).collect();
    for Stored { part, name, value } in properties.undeclared() {
        if let Some((names, row)) = kept.get_mut(W::PARTS.len().saturating_sub(1).min(*part))
            && names.insert(name)
        {
            row.property(name, *value);
        }
    }
    kept.into_iter().map(|(_, row)| row.finish()).collect()
}

impl WideVersion {
    /// Returns the conditions for the parts of an entity of type `W`.
    ///
    /// # Errors
    /// `InvalidInput` if the version belongs to an entity with a different number of parts. A write would then miss some of them.
    pub(super) fn conditions<W: Wide>(&self) -> Result<Vec<IfMatch>> {
        if self.0.len() != W::PARTS.len() {
            return Err(Error::of(WideFault::OtherParts));
        }
        Ok(self.0.iter().cloned().map(IfMatch::ETag).collect())
    }
}

clone_fields!([W: Wide, S: Clone] WideTable[W, S] { table, retry, of });

debug_fields!([W: Wide, S: fmt::Debug] WideTable[W, S] { table, retry });
