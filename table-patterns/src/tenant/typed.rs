//! A registered entity type whose rows are in one table, represented by its handle.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::index::IndexOf;
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{RowOwner, classify_index_row};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::TextRange;
use table_core::row::{Row, RowWriter};
use table_core::store::TableStore;
use table_core::table::{SchemaRecord, SchemaWatch};
use table_core::{Error, Result};

use crate::converge;
use crate::copies::{Copies, SettleCopies};
use crate::entities::{Entities, StepRecorder, read_as};
use crate::failure::Failure;
use crate::index::{Derived, EntriesLeft, Finding, RemoteChange, relay, remote_indexes};
use crate::outbox::Step;
use crate::tenant::fault::TenantFault;
use crate::tenant::incoming::entity;
use crate::tenant::lacking::Lacking;
use crate::tenant::member::Member;
use crate::tenant::newer;
use crate::tenant::type_info::OfType;

/// An entity type, represented by its handle.
pub(super) struct Typed<E: 'static, S, O>(pub(super) Entities<E, S, O>);

/// Returns the error for an entity that has the same value in a unique index as another entity.
fn duplicate(finding: Finding) -> Error {
    let error = Error::of(TenantFault::Duplicate { index: finding.index });
    let at = finding.owner.unwrap_or(finding.at);
    error.with_key(at.partition_key.as_str(), at.row_key.as_str())
}

impl<E, S, O> Typed<E, S, O>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    fn copies(&self) -> Option<&dyn SettleCopies<E, Entities<E, S, O>>> {
        self.0.contributor::<Copies<E, Entities<E, S, O>>>().map(|copies| copies.0)
    }

    /// Deletes the reference from a copied entity (the source) to an entity that holds its copies. Returns the number of deleted rows.
    async fn delete_reference(&self, relation: &str, holder: &EntityKey, source: &EntityKey) -> Result<u64> {
        let Some(copies) = self.copies() else { return Ok(0) };
        let Some((table, key)) = copies.reference(&self.0, relation, (holder, source))? else { return Ok(0) };
        let delete = [(key.row_key, OperationKind::Delete(IfMatch::Any))];
        match converge::submit(self.0.table.store(), &table, &key.partition_key, delete).await {
            Err(error) if error.is_not_found() => Ok(0),
            deleted => deleted.map(|_| 1),
        }
    }
}

impl<E: Entity, S, O> OfType for Typed<E, S, O> {
    type Entity = E;
}

impl<E, S, O> Member for Typed<E, S, O>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
    O: StepRecorder,
{
    fn has_remote_row(&self, table: &TableName, key: &EntityKey) -> bool {
        let (nothing, in_table) =
            (RowWriter::new().finish(), |own: TableName| own.folded() == table.folded());
        remote_indexes::<E>().any(|index| {
            let is_row = classify_index_row::<E>(index.schema(), entity(key, &nothing));
            self.0.table_of(index.schema()).is_ok_and(in_table) && matches!(is_row, Ok(RowOwner::Own))
        })
    }

    fn schema_record<'a>(&'a self, _: &'a TableName) -> BoxFuture<'a, Result<Option<SchemaRecord>>> {
        self.0.table().schema_record().boxed()
    }

    fn open<'a>(&'a self, _: &'a TableName) -> BoxFuture<'a, Result<Arc<dyn Member>>> {
        async {
            let opened: Arc<dyn Member> = Arc::new(Self(self.0.clone().create_if_missing().await?));
            Ok(opened)
        }
        .boxed()
    }

    fn schema_watch(&self) -> SchemaWatch {
        self.0.table().schema_watch()
    }

    fn note_pending<'a>(&'a self, lacking: &'a Lacking) -> BoxFuture<'a, Result<()>> {
        async move {
            if lacking.properties().next().is_none() {
                return Ok(());
            }
            let note = |record: &mut SchemaRecord| {
                record.pending.extend(lacking.properties().cloned());
                record.pending.sort();
                record.pending.dedup();
            };
            self.0.table().update_schema_record(note).await.map(drop)
        }
        .boxed()
    }

    fn derive_within<'a>(
        &'a self,
        partitions: &'a [TextRange],
        lacking: &'a Lacking,
    ) -> BoxFuture<'a, Result<Option<Error>>> {
        async move {
            let incomplete = self.0.derive_within(partitions, |index| lacking.lacks_index(index)).await?;
            let failed = incomplete.duplicate.map(duplicate).or(incomplete.blocked).or(incomplete.unread);
            let omitted = || self.0.in_table(Error::of(TenantFault::Omitted));
            Ok(failed.or_else(|| incomplete.omits_rows.then(omitted)))
        }
        .boxed()
    }

    fn has_elsewhere(&self) -> bool {
        remote_indexes::<E>().next().is_some() || self.copies().is_some()
    }

    fn holds_copies(&self) -> bool {
        self.copies().is_some() && E::SCHEMA.keeps.iter().any(|kept| kept.starts_with("copies_from "))
    }

    fn check_known(&self) -> BoxFuture<'_, Result<()>> {
        newer::check(self.0.table()).boxed()
    }

    fn settle<'a>(&'a self, key: &'a EntityKey, row: &'a Row) -> BoxFuture<'a, Result<u64>> {
        async move {
            let entity: E = read_as(key, row).map_err(|error| self.0.here(error, key))?;
            let mut written = 0;
            for index in remote_indexes::<E>() {
                if let Some(entry) = IndexOf::entry(index, &entity)? {
                    let change = RemoteChange::of_index(index.schema(), key.clone(), vec![entry.key]);
                    written += self.0.settle(&change).await?;
                }
            }
            if let Some(copies) = self.copies() {
                for (relation, _) in copies.sources(&entity)? {
                    let of = Derived::CopiesIn(relation.to_owned());
                    written += self.0.settle(&RemoteChange::new(of, key.clone(), Vec::new())).await?;
                }
            }
            Ok(u64::try_from(written).unwrap_or(u64::MAX))
        }
        .boxed()
    }

    fn erase<'a>(&'a self, key: &'a EntityKey, row: &'a Row) -> BoxFuture<'a, Result<u64>> {
        async move {
            // The remote rows of an unreadable entity cannot be computed. The next pass finds its index rows by the entity's partition. If it holds copies,
            // the references to it in partitions outside the tenant remain.
            let entity: E = match read_as(key, row) {
                Err(error) if Failure::of(&error) == Failure::Lasting => return Ok(0),
                read => read?,
            };
            let mut removed = self.0.remove_entries(key, &entity).await?;
            let sources = self.copies().map(|copies| copies.sources(&entity)).transpose()?;
            for (relation, source) in sources.unwrap_or_default() {
                removed += self.delete_reference(relation, key, &source).await?;
            }
            Ok(removed)
        }
        .boxed()
    }

    fn erase_recorded<'a>(&'a self, step: &'a Step, partition_key: &'a str) -> BoxFuture<'a, Result<u64>> {
        async move {
            let change = relay::change_of::<E>(step);
            let is_own = |change: &RemoteChange| change.owner.partition_key.as_str() == partition_key;
            let Some(change) = change.filter(is_own) else { return Ok(0) };
            let mut removed = 0;
            for key in &change.keys {
                removed += match &change.of {
                    Derived::Index(index) => self.0.remove_entry(index, (&change.owner, key)).await?,
                    Derived::CopiesIn(relation) => {
                        self.delete_reference(relation, &change.owner, key).await?
                    }
                    Derived::CopiesOf => 0,
                };
            }
            Ok(removed)
        }
        .boxed()
    }

    fn clear_copies<'a>(&'a self, source: &'a EntityKey) -> BoxFuture<'a, Result<u64>> {
        async move {
            if self.copies().is_none() {
                return Ok(0);
            }
            let change = RemoteChange::new(Derived::CopiesOf, source.clone(), Vec::new());
            Ok(u64::try_from(self.0.settle(&change).await?).unwrap_or(u64::MAX))
        }
        .boxed()
    }

    fn leftovers<'a>(&'a self, partitions: &'a [TextRange]) -> BoxFuture<'a, Result<EntriesLeft>> {
        self.0.count_entries_of(partitions).boxed()
    }

    fn erase_leftovers<'a>(&'a self, partitions: &'a [TextRange]) -> BoxFuture<'a, Result<u64>> {
        self.0.remove_entries_of(partitions).boxed()
    }

    fn seal<'a>(
        &'a self,
        table: &'a TableName,
        partition_key: &'a PartitionKey,
        operations: Vec<Operation>,
    ) -> Option<BoxFuture<'a, Result<Vec<Operation>>>> {
        O::RECORDS.then(|| self.0.outbox.seal(table, partition_key, operations).boxed())
    }

    fn is_sealed<'a>(
        &'a self,
        table: &'a TableName,
        partition_key: &'a PartitionKey,
        record: &'a Operation,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        O::RECORDS.then(|| self.0.outbox.is_sealed(table, partition_key, record).boxed())
    }
}
