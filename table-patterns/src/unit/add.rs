//! What a unit is made of, added part by part: a part that does not fit leaves it as it was.

use std::any::TypeId;
use std::sync::Arc;

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::row::RowWriter;
use table_core::store::TableStore;

use crate::index::{Batch, Beside, IndexOutbox, Other, Write};
use crate::unit::act::Act;
use crate::unit::fault::UnitFault;
use crate::unit::kept::{Keep, Part, keep};
use crate::unit::{Admission, Unit};

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Adds a row of a pattern.
    pub(crate) fn beside(&mut self, by: &'static str, operation: Operation) -> Result<&mut Self> {
        let row_key = operation.row_key.clone();
        let key = EntityKey { partition_key: self.batch.partition_key.clone(), row_key };
        let mut batch = self.batch.clone();
        let row = Beside { by, operation };
        batch.add(row.clone()).map_err(|error| self.here(error, &key))?;
        self.take(batch, &key)?.parts.push(Part::Row(row));
        Ok(self)
    }

    pub(super) fn write<E: Entity>(
        &mut self,
        key: &EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<&mut Self> {
        self.check_place::<E>(key)?;
        let act = Act { entity: E::SCHEMA.entity, verb: Some(kind.name()) };
        let is_whole = matches!(kind, OperationKind::Replace(..));
        let handle = self.handle::<E>();
        let keep = keep(&handle, key, &kind, old)?;
        let write = handle.write_of(key.clone(), kind, old, new).map_err(|error| self.here(error, key))?;
        self.road.feed = self.road.feed.take().or_else(|| handle.recorder().cloned());
        let look = !handle.knows(&write);
        self.push::<E>(write, act, keep)?;
        self.look |= look;
        let admission: Admission = Arc::new(move |is_whole| {
            let handle = handle.clone();
            Box::pin(async move { handle.admit(is_whole).await })
        });
        self.admissions.entry(TypeId::of::<E>()).or_insert((admission, false)).1 |= is_whole;
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

    pub(super) fn check_place<E: Entity>(&self, key: &EntityKey) -> Result<()> {
        let fault = if key.partition_key != self.batch.partition_key {
            let (entity, unit) = (key.partition_key.clone(), self.batch.partition_key.clone());
            UnitFault::Partition { entity, unit }
        } else if !E::SCHEMA.table.eq_ignore_ascii_case(self.table.as_str()) {
            UnitFault::Table { entity: E::SCHEMA.table, unit: self.table.clone() }
        } else {
            return Ok(());
        };
        Err(self.here(Error::of(fault), key))
    }

    pub(super) fn here(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_table(self.table.as_str());
        match error.key() {
            Some(_) => error,
            None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
        }
    }
}
