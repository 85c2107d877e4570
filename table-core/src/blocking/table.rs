//! Blocking verbs of a table.

use std::borrow::Borrow;

use pollster::block_on;

use crate::bag::TableEntity;
use crate::blocking::{EntityQuery, EntityTransaction, Scan};
use crate::column::Settable;
use crate::entity::{Entity, FromEntity, ProjectionOf, ToEntity, Versioned};
use crate::error::Result;
use crate::etag::{ETag, IfMatch};
use crate::group::GroupOf;
use crate::selection::{self, Paged, Point, Primary, Reads, Selection, Source, WholeKey};
use crate::store::TableStore;
use crate::table::{self, BulkError, BulkProgress, InPartition, StoredLayout, UpdateFrom, Written};

/// [`Table`](crate::Table) with verbs that wait; each is documented there.
#[derive(Debug)]
pub struct Table<E, S>(table::Table<E, S>);

impl<E, S: Clone> Clone for Table<E, S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// A table whose verbs wait.
    #[must_use]
    pub const fn new(table: table::Table<E, S>) -> Self {
        Self(table)
    }

    /// The table itself.
    #[must_use]
    pub const fn inner(&self) -> &table::Table<E, S> {
        &self.0
    }

    /// As [`Table::delete_table`](table::Table::delete_table).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn delete_table(&self) -> Result<bool> {
        block_on(self.0.delete_table())
    }
}

impl<S: TableStore> Table<TableEntity, S> {
    /// As [`UntypedTable::create_if_missing`](crate::UntypedTable::create_if_missing).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn create_if_missing(self) -> Result<Self> {
        block_on(self.0.create_if_missing()).map(Self)
    }
}

impl<E: Entity, S: TableStore> Table<E, S> {
    /// As [`Table::create_if_missing`](table::Table::create_if_missing).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn create_if_missing(self) -> Result<Self> {
        block_on(self.0.create_if_missing()).map(Self)
    }

    /// As [`Table::open`](table::Table::open).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn open(self) -> Result<Self> {
        block_on(self.0.open()).map(Self)
    }

    /// As [`Table::accept_layout`](table::Table::accept_layout).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn accept_layout(&self, reason: &str) -> Result<()> {
        block_on(self.0.accept_layout(reason))
    }

    /// As [`Table::stored_layout`](table::Table::stored_layout).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn stored_layout(&self) -> Result<Option<StoredLayout>> {
        block_on(self.0.stored_layout())
    }
}

impl<E: FromEntity, S: TableStore> Table<E, S> {
    /// As [`Table::get`](table::Table::get).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn get(&self, key: impl WholeKey<E, From: Reads<E>>) -> Result<Option<Versioned<E>>> {
        block_on(self.0.get(key))
    }

    /// As [`Table::get_as`](table::Table::get_as).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn get_as<P: ProjectionOf<E>>(
        &self,
        key: impl WholeKey<E, From: Reads<P>>,
    ) -> Result<Option<Versioned<P>>> {
        block_on(self.0.get_as(key))
    }

    /// As [`Table::get_many`](table::Table::get_many).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn get_many(
        &self,
        keys: impl IntoIterator<Item = Selection<E, Point, impl Reads<E>>>,
    ) -> Result<Vec<Option<Versioned<E>>>> {
        block_on(self.0.get_many(keys))
    }
}

impl<E: FromEntity, S: TableStore + Clone> Table<E, S> {
    /// As [`Table::query`](table::Table::query).
    pub fn query<C: Paged, F: Source>(
        &self,
        selection: impl Into<Selection<E, C, F>>,
    ) -> EntityQuery<E, S, E, F> {
        EntityQuery::new(self.0.query(selection))
    }

    /// As [`Table::scan`](table::Table::scan), with its bound.
    pub fn scan(&self, why: impl Into<Selection<E, selection::Scan>>, max_rows: u64) -> Scan<E, S> {
        Scan::new(self.0.scan(why).max_rows(max_rows))
    }
}

impl<E: ToEntity, S: TableStore> Table<E, S> {
    /// As [`Table::insert`](table::Table::insert).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn insert(&self, entity: &E) -> Result<ETag> {
        block_on(self.0.insert(entity))
    }

    /// As [`Table::replace`](table::Table::replace).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn replace(&self, entity: &E, if_match: impl Into<IfMatch>) -> Result<ETag> {
        block_on(self.0.replace(entity, if_match))
    }

    /// As [`Table::merge`](table::Table::merge).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn merge(&self, entity: &E, if_match: impl Into<IfMatch>) -> Result<ETag> {
        block_on(self.0.merge(entity, if_match))
    }

    /// As [`Table::insert_or_replace`](table::Table::insert_or_replace).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn insert_or_replace(&self, entity: &E) -> Result<ETag> {
        block_on(self.0.insert_or_replace(entity))
    }

    /// As [`Table::insert_or_merge`](table::Table::insert_or_merge).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn insert_or_merge(&self, entity: &E) -> Result<ETag> {
        block_on(self.0.insert_or_merge(entity))
    }

    /// As [`Table::delete`](table::Table::delete).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn delete(&self, key: impl WholeKey<E, From = Primary>, if_match: impl Into<IfMatch>) -> Result<()> {
        block_on(self.0.delete(key, if_match))
    }

    /// As [`Table::bulk`](table::Table::bulk).
    pub fn bulk(&self) -> Bulk<'_, E, S> {
        Bulk(self.0.bulk())
    }
}

impl<E: ToEntity, S: TableStore + Clone> Table<E, S> {
    /// As [`Table::transaction`](table::Table::transaction).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn transaction(&self, partition: impl InPartition<E>) -> Result<EntityTransaction<E, S>> {
        self.0.transaction(partition).map(EntityTransaction::new)
    }
}

impl<E: FromEntity + ToEntity, S: TableStore> Table<E, S> {
    /// As [`Table::update`](table::Table::update).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn update(&self, from: impl Into<UpdateFrom<E>>, change: impl FnMut(&mut E)) -> Result<Versioned<E>> {
        block_on(self.0.update(from, change))
    }

    /// As [`Table::try_update`](table::Table::try_update).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn try_update(
        &self,
        from: impl Into<UpdateFrom<E>>,
        change: impl FnMut(&mut E) -> Result<()>,
    ) -> Result<Versioned<E>> {
        block_on(self.0.try_update(from, change))
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// As [`Table::patch`](table::Table::patch).
    pub fn patch(&self, key: impl WholeKey<E, From = Primary>) -> Patch<'_, E, S> {
        Patch(self.0.patch(key))
    }
}

impl<E: Entity, S: TableStore + Clone> Table<E, S> {
    /// As [`Table::read_group`](table::Table::read_group).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn read_group<G: GroupOf<E>>(&self, named: Selection<E, G::Named>) -> Result<G> {
        block_on(self.0.read_group(named))
    }
}

/// [`Patch`](table::Patch) whose `send` waits.
#[derive(Debug)]
#[must_use = "a patch does nothing until it is sent"]
pub struct Patch<'a, E, S>(table::Patch<'a, E, S>);

impl<E, S: TableStore> Patch<'_, E, S> {
    /// As [`Patch::set`](table::Patch::set).
    pub fn set<C: Settable<E>>(self, column: C, value: impl Into<C::Value>) -> Self {
        Self(self.0.set(column, value))
    }

    /// As [`Patch::if_match`](table::Patch::if_match).
    pub fn if_match(self, if_match: impl Into<IfMatch>) -> Self {
        Self(self.0.if_match(if_match))
    }

    /// As [`Patch::send`](table::Patch::send).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn send(self) -> Result<ETag> {
        block_on(self.0.send())
    }
}

/// [`Bulk`](table::Bulk) whose verbs wait.
#[derive(Debug)]
#[must_use = "a bulk write does nothing until it is given entities"]
pub struct Bulk<'a, E, S>(table::Bulk<'a, E, S>);

impl<'a, E: ToEntity, S: TableStore> Bulk<'a, E, S> {
    /// As [`Bulk::concurrency`](table::Bulk::concurrency).
    pub fn concurrency(self, partitions: usize) -> Self {
        Self(self.0.concurrency(partitions))
    }

    /// As [`Bulk::on_progress`](table::Bulk::on_progress).
    pub fn on_progress(self, progress: impl FnMut(BulkProgress) + Send + 'a) -> Self {
        Self(self.0.on_progress(progress))
    }

    /// As [`Bulk::resume`](table::Bulk::resume).
    pub fn resume(self, written: Written) -> Self {
        Self(self.0.resume(written))
    }

    /// As [`Bulk::insert_all`](table::Bulk::insert_all).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn insert_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<Written, BulkError> {
        block_on(self.0.insert_all(entities))
    }

    /// As [`Bulk::insert_or_replace_all`](table::Bulk::insert_or_replace_all).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn insert_or_replace_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<Written, BulkError> {
        block_on(self.0.insert_or_replace_all(entities))
    }

    /// As [`Bulk::insert_or_merge_all`](table::Bulk::insert_or_merge_all).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn insert_or_merge_all<T: Borrow<E>>(
        self,
        entities: impl IntoIterator<Item = T>,
    ) -> Result<Written, BulkError> {
        block_on(self.0.insert_or_merge_all(entities))
    }

    /// As [`Bulk::delete_all`](table::Bulk::delete_all).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn delete_all(
        self,
        keys: impl IntoIterator<Item = Selection<E, Point>>,
    ) -> Result<Written, BulkError> {
        block_on(self.0.delete_all(keys))
    }
}
