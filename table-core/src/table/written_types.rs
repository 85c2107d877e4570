//! The entity types that a transaction writes.

use table_store::Result;

use crate::schema::EntitySchema;
use crate::store::TableStore;
use crate::table::Table;

/// The entity types that one or more operations of a transaction write.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenTypes {
    /// The schemas of the types; empty if the type is unknown. In this case, every type of the handle is checked.
    designs: &'static [&'static EntitySchema],
    /// `true` if an entity is replaced, which removes all properties that its schema does not declare.
    is_whole: bool,
}

impl WrittenTypes {
    pub(super) const fn new(designs: &'static [&'static EntitySchema], is_whole: bool) -> Self {
        Self { designs, is_whole }
    }

    /// Adds these types to the types that the transaction's earlier operations write.
    pub(super) fn add_to(self, earlier: &mut Vec<Self>) {
        let names = |written: &Self| written.designs.iter().map(|design| design.entity);
        match earlier.iter_mut().find(|earlier| names(earlier).eq(names(&self))) {
            Some(earlier) => earlier.is_whole |= self.is_whole,
            None => earlier.push(self),
        }
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// Checks that entities of these types may be written now.
    ///
    /// # Errors
    /// `SchemaMismatch` if a program with a newer schema forbids writes of one of the types, or if an entity is replaced entirely and a newer schema of
    /// its type has properties that the program does not know (EVO-3); any error from the store.
    pub(super) async fn admit_types(&self, written: &[WrittenTypes]) -> Result<()> {
        let Some(standing) = &self.standing else { return Ok(()) };
        let (table, now) = (self.name()?, self.now());
        for WrittenTypes { designs, is_whole } in written {
            if designs.is_empty() {
                self.admit(now).await?;
            }
            for design in *designs {
                let standing = standing.related(design, table);
                if !standing.is_admitted(now) {
                    standing.admit((&self.store, &self.runtime()), table, now).await?;
                }
                if *is_whole {
                    standing.admit_whole(table)?;
                }
            }
        }
        Ok(())
    }
}
