//! The entity types written by a transaction.

use table_store::Result;

use crate::schema::EntitySchema;
use crate::store::{TableStore, WriteLease};
use crate::table::Table;

/// The entity types written by one or more of a transaction's operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenTypes {
    /// The schemas of the types. If a type is unknown, this list is empty, and all types of the handle are checked.
    designs: &'static [&'static EntitySchema],
    /// `true` if an entity is replaced. A replace removes all properties that the entity's schema does not declare.
    is_whole: bool,
}

impl WrittenTypes {
    pub(super) const fn new(designs: &'static [&'static EntitySchema], is_whole: bool) -> Self {
        Self { designs, is_whole }
    }

    /// Adds these types to those written by the transaction's earlier operations.
    pub(super) fn add_to(self, earlier: &mut Vec<Self>) {
        let names = |written: &Self| written.designs.iter().map(|design| design.entity);
        match earlier.iter_mut().find(|earlier| names(earlier).eq(names(&self))) {
            Some(earlier) => earlier.is_whole |= self.is_whole,
            None => earlier.push(self),
        }
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// Checks that entities of these types may be written now. Returns the lease within which their transaction may be sent, or `None` if it may be sent at any
    /// time.
    ///
    /// # Errors
    /// - `SchemaMismatch` if a program with a newer schema forbids writes of one of the types.
    /// - `SchemaMismatch` if an entity is replaced entirely, and a newer schema of its type has properties unknown to the program (EVO-3).
    /// - Any error from the store.
    pub(super) async fn admit_types(&self, written: &[WrittenTypes]) -> Result<Option<WriteLease>> {
        let Some(tracker) = &self.tracker else { return Ok(None) };
        let (table, mut earliest) = (self.name()?, None);
        for WrittenTypes { designs, is_whole } in written {
            if designs.is_empty() {
                earliest = WriteLease::earliest(earliest, self.admit_all(None).await?);
            }
            for design in *designs {
                let tracker = tracker.related(design, table);
                earliest = WriteLease::earliest(earliest, self.admit_type(&tracker, None).await?);
                if *is_whole {
                    tracker.admit_whole(table)?;
                }
            }
        }
        Ok(earliest)
    }
}
