//! Reads that may be answered by an account's secondary, through a handle that cannot write (RTY-5, CON-2).

use std::fmt;

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::{EntityKey, Error, ErrorCode, Result, TableName, Transaction};

use crate::client::AzureTables;

/// The tables of an account, to be read while its primary fails: every second attempt of a read goes to the secondary. Made by
/// [`AzureTables::secondary_reads`].
///
/// The secondary is behind by minutes, or by hours while the regions are apart: an entity that was written may be missing or old,
/// one that was deleted may be there, and a later read may show an earlier state. Only a 404 is asked of the primary again.
///
/// Nothing may be decided by it: every write through this handle is refused. Loops that read, change and write
/// back, patterns and look-ups of lost writes go through [`AzureTables`], which reads from the primary alone.
#[derive(Clone)]
pub struct SecondaryReads(AzureTables);

impl AzureTables {
    /// A handle that reads the same tables, from the secondary where the primary fails; it shares the connections. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidInput` if no secondary is named and none follows from the endpoint, or if it must not see the credential (ACC-1).
    ///
    /// ```no_run
    /// use table_azure::AzureTables;
    /// use table_core::TableStoreExt;
    ///
    /// # async fn run() -> table_core::Result<()> {
    /// let tables = AzureTables::from_connection_string("AccountName=contoso;AccountKey=c2VjcmV0")?;
    /// let employees = tables.secondary_reads()?.untyped("Employee")?;
    /// # let _ = employees;
    /// # Ok(())
    /// # }
    /// ```
    pub fn secondary_reads(&self) -> Result<SecondaryReads> {
        self.or_secondary().map(SecondaryReads)
    }
}

fn refuse<T>(table: &TableName) -> Result<T> {
    let message = "this handle may read what is old, and so it does not write: write through `AzureTables`";
    Err(Error::new(ErrorCode::Unsupported, message).with_rule("RTY-5").with_table(table.as_str()))
}

impl TableStore for SecondaryReads {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        refuse(table)
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        refuse(table)
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.0.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.0.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.0.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, _transaction: Transaction) -> Result<Committed> {
        refuse(table)
    }
}

impl fmt::Debug for SecondaryReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecondaryReads").field(&self.0).finish()
    }
}

/// The endpoint.
impl fmt::Display for SecondaryReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
