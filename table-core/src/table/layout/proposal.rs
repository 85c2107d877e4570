//! A schema proposed by a program for a table.

use table_store::Result;

use crate::name::TableName;
use crate::schema::StoredSchema;
use crate::store::TableStore;
use crate::table::layout::record::{self, SchemaRecord};

/// A schema that a program proposes for a type, with the stored record. The record was read before the table was created or found.
pub(super) struct Proposal<'d> {
    pub(super) design: &'d StoredSchema,
    pub(super) stored: Option<SchemaRecord>,
    /// `true` if this program created the table. In this case, `stored` belongs to an earlier table with the same name. A record written since then belongs to
    /// the new table, so the schema is compared with it.
    pub(super) is_new: bool,
}

impl Proposal<'_> {
    /// Reads the stored record again.
    pub(super) async fn read_again<S: TableStore>(&mut self, store: &S, table: &TableName) -> Result<()> {
        let stored = record::read(store, table, &self.design.entity).await?;
        let etag = |record: &Option<SchemaRecord>| record.as_ref().map(|record| record.etag.clone());
        self.is_new &= etag(&stored) == etag(&self.stored);
        self.stored = stored;
        Ok(())
    }
}
