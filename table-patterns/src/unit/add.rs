//! What a unit is made of, added part by part: a part that does not fit leaves it as it was.

use std::any::TypeId;
use std::sync::Arc;

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::RowWriter;
use table_core::store::TableStore;

use crate::index::{Batch, Beside, Entities, IndexOutbox, Other, Write};
use crate::unit::act::Act;
use crate::unit::fault::UnitFault;
use crate::unit::kept::{Keep, Part, keep};
use crate::unit::{Admission, Unit};

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Adds rows of a pattern, all or none.
    pub(crate) fn beside(
        &mut self,
        by: &'static str,
        operations: impl IntoIterator<Item = Operation>,
    ) -> Result<&mut Self> {
        let rows: Vec<_> = operations.into_iter().map(|operation| Beside { by, operation }).collect();
        let Some(last) = rows.last() else { return Ok(self) };
        let row_key = last.operation.row_key.clone();
        let key = EntityKey { partition_key: self.batch.partition_key.clone(), row_key };
        let mut batch = self.batch.clone();
        rows.iter().try_for_each(|row| batch.add(row.clone())).map_err(|error| self.here(error, &key))?;
        self.take(batch, &key)?.parts.extend(rows.into_iter().map(Part::Row));
        Ok(self)
    }

    pub(super) fn write<E: Entity + Send + Sync>(
        &mut self,
        verb: &'static str,
        key: &EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<&mut Self> {
        self.check_place::<E>(key)?;
        let act = Act { entity: E::SCHEMA.entity, verb: Some(verb) };
        let handle = self.handle::<E>();
        let keep = keep(&handle, key, old)?;
        let write = handle.write_of(key.clone(), kind, old, new).map_err(|error| self.here(error, key))?;
        let look = !handle.knows(&write);
        self.push::<E>(write, act, keep)?;
        self.look |= look;
        let admission: Admission = Arc::new(move || {
            let handle = handle.clone();
            // A change keeps what a newer design adds to its rows.
            Box::pin(async move { handle.admit(false).await })
        });
        self.admissions.entry(TypeId::of::<E>()).or_insert(admission);
        Ok(self)
    }

    pub(super) fn condition<E: Entity>(&mut self, key: EntityKey, if_match: IfMatch) -> Result<&mut Self> {
        self.check_place::<E>(&key)?;
        let kind = OperationKind::Merge(RowWriter::with_capacity(0).finish(), if_match);
        let act = Act { entity: E::SCHEMA.entity, verb: None };
        self.push::<E>(Write::alone(key, kind), act, None)
    }

    fn push<E: Entity>(&mut self, write: Write, act: Act, keep: Option<Keep>) -> Result<&mut Self> {
        let key = write.key.clone();
        let mut batch = self.batch.clone();
        let part = Part::Write(Other { write: write.clone(), push: Batch::push::<E> }, keep);
        batch.push::<E>(write).map_err(|error| self.here(error.with_context(&act.to_string()), &key))?;
        self.take(batch, &key).map_err(|error| error.with_context(&act.to_string()))?.acts.push(act);
        self.parts.push(part);
        Ok(self)
    }

    /// Takes a larger batch, if it fits.
    pub(super) fn take(&mut self, batch: Batch, key: &EntityKey) -> Result<&mut Self> {
        let limits = self.road.store.capabilities().limits;
        let (operations, most) = (batch.operations(), limits.operations);
        if operations > most {
            let fault = UnitFault::Operations { operations, parts: batch.parts(), most };
            return Err(self.here(Error::of(fault), key));
        }
        let (bytes, most) = (batch.bytes(), limits.transaction_bytes);
        if bytes > most {
            let fault = UnitFault::Bytes { bytes, parts: batch.parts(), most };
            return Err(self.here(Error::of(fault), key));
        }
        self.batch = batch;
        Ok(self)
    }

    pub(crate) fn check_place<E: Entity>(&self, key: &EntityKey) -> Result<()> {
        let fault = if key.partition_key != self.batch.partition_key {
            let (entity, unit) = (key.partition_key.clone(), self.batch.partition_key.clone());
            UnitFault::Partition { entity, unit }
        } else if !self.table_of::<E>().eq_ignore_ascii_case(self.table.as_str()) {
            UnitFault::Table { entity: self.table_of::<E>().to_owned(), unit: self.table.clone() }
        } else {
            return Ok(());
        };
        Err(self.here(Error::of(fault), key))
    }

    /// The table of a handle, which is another than that of the design for tables of periods; without one that of the design.
    fn table_of<E: Entity>(&self) -> &str {
        let known = self.handles.get(&TypeId::of::<E>());
        let handle = known.and_then(|handle| handle.downcast_ref::<Entities<E, S, O>>());
        let name = handle.and_then(|handle| handle.table().name().ok());
        name.map_or(E::SCHEMA.table, TableName::as_str)
    }

    pub(crate) fn here(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_table(self.table.as_str());
        match error.key() {
            Some(_) => error,
            None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
        }
    }
}
