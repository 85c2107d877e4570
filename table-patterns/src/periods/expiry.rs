//! Drops the tables of expired periods. Also removes their stored schemas and feed registrations, which are in other tables.

use std::ops::Bound;

use chrono::{DateTime, Utc};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{KeyRange, Page, Query, Select, TextRange};
use table_core::store::TableStore;
use table_core::table::LAYOUTS;
use table_core::{ErrorCode, Result};

use crate::deletion::delete_rows;
use crate::feed::FEEDS;
use crate::paging::{Pages, none_if_missing};
use crate::periods::{PeriodTables, Periodic};

/// The keys and versions of rows about dropped tables. These rows are in another table.
type RowsAbout = Vec<(EntityKey, IfMatch)>;

impl<E: Periodic, S: TableStore + Clone + 'static> PeriodTables<E, S> {
    /// Drops the table of every period that is no longer retained, with all its rows, regardless of their types. Also removes its stored schemas and its feed
    /// registrations. Returns the names of the dropped tables (PAT-HVD-1).
    ///
    /// This function may run concurrently, and may be repeated after a failure. If a table no longer exists, this is not an error, and its remaining schemas
    /// and registrations are removed.
    ///
    /// # Errors
    /// Any error from the store. Tables that have already been dropped are not restored.
    pub async fn expire(&self) -> Result<Vec<TableName>> {
        let first = self.first();
        // IMPORTANT: the schemas are read before the tables are dropped. A schema that is stored later belongs to a table that a late writer has recreated.
        let schemas = self.expired_schemas(first).await?;
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
        delete_rows((self.store(), &TableName::new(LAYOUTS)?), schemas).await?;
        self.remove_registrations(first).await?;
        Ok(dropped)
    }

    /// Returns the stored schemas of the tables for periods before `first`. The tables need not exist any longer.
    async fn expired_schemas(&self, first: DateTime<Utc>) -> Result<RowsAbout> {
        let (layouts, query, mut found) = (TableName::new(LAYOUTS)?, Self::query_before(first), Vec::new());
        let mut pages = Pages::new(self.store(), &layouts, &query);
        while let Some(page) = none_if_missing(pages.next().await)? {
            found.extend(Self::rows_before(first, &page)?);
        }
        Ok(found)
    }

    /// Removes the feed registrations of the partitions of expired tables. Works page by page, because a table can have any number of partitions.
    async fn remove_registrations(&self, first: DateTime<Utc>) -> Result<()> {
        let (feeds, query) = (TableName::new(FEEDS)?, Self::query_before(first));
        let mut pages = Pages::new(self.store(), &feeds, &query);
        while let Some(page) = none_if_missing(pages.next().await)? {
            delete_rows((self.store(), &feeds), Self::rows_before(first, &page)?).await?;
        }
        Ok(())
    }

    /// Returns a query for the keys of the rows that describe tables for periods before `first`. It can find other rows, too.
    fn query_before(first: DateTime<Utc>) -> Query {
        let base = E::SCHEMA.table.to_ascii_lowercase();
        // The table names of all periods have the same length, so their lexical order is chronological.
        let partition_key = match E::PERIOD.suffix(first) {
            Some(suffix) => {
                let upper = Bound::Excluded(format!("{base}{suffix}").to_ascii_lowercase());
                TextRange { lower: Bound::Included(base), upper }
            }
            None => TextRange::prefix(&base),
        };
        let keys = KeyRange { partition_key, row_key: TextRange::ALL };
        Query { select: Select::names(["PartitionKey", "RowKey"]), ..Query::new(keys) }
    }

    /// Returns the rows on a page that describe tables for periods before `first`, whether or not those tables still exist.
    fn rows_before(first: DateTime<Utc>, page: &Page) -> Result<RowsAbout> {
        let mut found = Vec::new();
        for row in page.rows.iter() {
            // Table names contain no `_`. The first `_` is therefore the one before the bucket number.
            let name = row.partition_key.split('_').next().unwrap_or_default();
            let start = TableName::new(name).ok().and_then(|name| Self::start_of(&name));
            if start.is_some_and(|start| start < first) {
                found.push((EntityKey::new(row.partition_key, row.row_key)?, IfMatch::ETag(row.etag())));
            }
        }
        Ok(found)
    }
}
