//! Drops the tables of expired periods, and removes the rows about them (stored schemas and feed registrations) from other tables.

use std::ops::Bound;

use chrono::{DateTime, Utc};
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::store::TableStore;
use table_core::table::LAYOUTS;
use table_core::{ErrorCode, Result};

use crate::feed::FEEDS;
use crate::outbox::rows::alone;
use crate::paging::each_row;
use crate::periods::{PeriodTables, Periodic};

/// Rows in another table that describe dropped tables, with the rows' versions.
type RowsAbout = Vec<(EntityKey, ETag)>;

impl<E: Periodic, S: TableStore + Clone + 'static> PeriodTables<E, S> {
    /// Drops the table of every period that is no longer retained, with all its rows, its stored schemas, and its feed registrations, regardless of the row
    /// types. Returns the names of the dropped tables (PAT-HVD-1).
    ///
    /// Safe to run concurrently, and to repeat after a failure. A table that no longer exists is not an error, and its remaining schemas and registrations
    /// are removed.
    ///
    /// # Errors
    /// Any error from the store. Tables that have already been dropped are not restored.
    pub async fn expire(&self) -> Result<Vec<TableName>> {
        let first = self.first();
        // IMPORTANT: the schemas are read before the tables are dropped. If a schema is stored later, it belongs to a table that a late writer has created
        // again.
        let schemas = self.rows_about_expired(LAYOUTS, first).await?;
        let mut dropped = Vec::new();
        for (name, start) in self.tables().await? {
            if start >= first {
                continue;
            }
            let deleted = self.store().delete_table(&name).await;
            self.forget_handle(&name);
            match deleted {
                Ok(()) => dropped.push(name),
                Err(error) if error.is_not_found() || error.code() == ErrorCode::TableBeingDeleted => {}
                Err(error) => return Err(error),
            }
        }
        self.remove(LAYOUTS, schemas).await?;
        let registrations = self.rows_about_expired(FEEDS, first).await?;
        self.remove(FEEDS, registrations).await?;
        Ok(dropped)
    }

    /// Returns the rows of `table` that describe tables of periods before `first`, whether or not those tables still exist.
    async fn rows_about_expired(&self, table: &str, first: DateTime<Utc>) -> Result<RowsAbout> {
        let base = E::SCHEMA.table.to_ascii_lowercase();
        // The names of the tables for all periods have the same length, so their lexical order is chronological.
        let partition_key = match E::PERIOD.suffix(first) {
            Some(suffix) => {
                let upper = Bound::Excluded(format!("{base}{suffix}").to_ascii_lowercase());
                TextRange { lower: Bound::Included(base), upper }
            }
            None => TextRange::prefix(&base),
        };
        let keys = KeyRange { partition_key, row_key: TextRange::ALL };
        let query = Query { select: Select::names(["PartitionKey", "RowKey"]), ..Query::new(keys) };
        let mut found = Vec::new();
        let take = |row: EntityRef<'_>| {
            // Table names contain no `_`, so the first `_` precedes the bucket number.
            let name = row.partition_key.split('_').next().unwrap_or_default();
            let start = TableName::new(name).ok().and_then(|name| Self::start_of(&name));
            if start.is_some_and(|start| start < first) {
                found.push((EntityKey::new(row.partition_key, row.row_key)?, row.etag()));
            }
            Ok(())
        };
        match each_row(self.store(), &TableName::new(table)?, &query, take).await {
            Err(error) if error.is_table_not_found() => Ok(Vec::new()),
            Err(error) => Err(error),
            Ok(()) => Ok(found),
        }
    }

    /// Deletes rows. Skips a row that has been changed or deleted since it was read.
    async fn remove(&self, table: &str, rows: RowsAbout) -> Result<()> {
        let (table, limits) = (TableName::new(table)?, self.store().capabilities().limits);
        for (key, etag) in rows {
            let delete = alone(&key, OperationKind::Delete(IfMatch::ETag(etag)), limits)?;
            match self.store().submit(&table, delete).await {
                Err(error) if error.is_not_found() || error.is_precondition_failed() => {}
                outcome => drop(outcome?),
            }
        }
        Ok(())
    }
}
