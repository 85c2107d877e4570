//! A contributor (an extension of the write path) that refuses entities of other periods. Each entity must be written to the table of its own period.

use std::any::Any;

use chrono::{DateTime, Utc};
use table_core::operation::OperationKind;
use table_core::{Error, ErrorCode, Result};

use crate::entities::{Contribution, Contributor, EntityChange, read_as};
use crate::periods::Periodic;

/// The period of a handle's table. Entities of other periods are refused.
pub(super) struct OfPeriod {
    pub(super) start: DateTime<Utc>,
}

impl<E: Periodic, H> Contributor<E, H> for OfPeriod {
    fn needs_old(&self) -> bool {
        false
    }

    fn contribute(&self, change: &EntityChange<'_, E>, _: &mut Contribution) -> Result<()> {
        let instant = match (change.new, change.kind) {
            (Some(new), _) => new.instant(),
            (None, OperationKind::Delete(_)) => return Ok(()),
            (None, kind) => {
                // A patch changes an entity that is already in the table. Its row may be partial. If it cannot be read as an entity, the period is not checked.
                let row = kind.row().map(|row| read_as::<E>(change.key, row));
                let Some(Ok(entity)) = row else { return Ok(()) };
                entity.instant()
            }
        };
        if E::PERIOD.start(instant) == self.start {
            return Ok(());
        }
        let message = format!(
            "{instant} is not in the period that begins at {}; write the entity with `PeriodTables::insert`, or by the handle of its instant",
            self.start
        );
        let error = Error::new(ErrorCode::OutOfRangeInput, message).with_rule("PAT-HVD-4");
        Err(error.with_key(change.key.partition_key.as_str(), change.key.row_key.as_str()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
