//! Reads from an account's secondary endpoint through a read-only handle (RTY-5, CON-2).

use std::fmt;

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::{EntityKey, Error, ErrorCode, Result, TableName, Transaction};

use crate::client::AzureTables;

/// A read-only handle to an account's tables, for use while the primary is failing.
///
/// If a read fails, the handle repeats it, alternating between the secondary and the primary. [`AzureTables::secondary_reads`] creates the handle.
///
/// The secondary lags behind by minutes, or by hours while the regions are disconnected. A written entity may therefore be missing or outdated, and a deleted
/// entity may still exist. A later read may return an earlier state. If the secondary rejects a read, for example with a 404, the handle repeats the read on
/// the primary.
///
/// Do not base decisions on these reads. The handle rejects every write. Read–modify–write loops, patterns, and lookups of unknown outcomes use
/// [`AzureTables`], which reads only from the primary.
#[derive(Clone)]
pub struct SecondaryReads(AzureTables);

impl AzureTables {
    /// Returns a handle that also reads from the secondary while the primary is failing. It shares the client's connections. This does not send any requests.
    ///
    /// # Errors
    /// - `InvalidInput` if no secondary endpoint is configured and none can be derived.
    /// - `InvalidInput` if the credential must not be sent to the secondary endpoint (ACC-1).
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
    let message = "this handle may return stale reads and rejects writes; write through `AzureTables`";
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

/// Formats the handle as the URL of its primary endpoint.
impl fmt::Display for SecondaryReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
