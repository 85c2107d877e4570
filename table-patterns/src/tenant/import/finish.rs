//! Completes an import: derives the rows that an export may lack.

use futures_util::FutureExt;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{EntityRef, Query};
use table_core::{Error, Result};

use crate::failure::Failure;
use crate::omitted::WholePage;
use crate::paging::{Pages, none_if_missing};
use crate::requests::{self, CONCURRENCY};
use crate::tenant::fault::TenantFault;
use crate::tenant::import::{Import, Imported};
use crate::tenant::place::{Place, all_rows};

impl Import<'_> {
    /// Writes the rows derived from the imported entities, and returns the result of the import: the remote rows, and the index rows in the tenant's partitions
    /// that may be missing from the export, because another release wrote it or because the index was being built. May be called again after an error. An error
    /// that concerns one entity does not affect the derived rows of other entities.
    ///
    /// # Errors
    /// - `InvalidInput` if the export's last line is missing, if the last part of a blob is missing, or if other lines are missing and the import does not
    ///   [resume](Self::resume) an earlier import.
    /// - `EntityMismatch`, with the key, if an imported entity cannot be read and has remote rows, or may lack index rows; correct the row, and call this function
    ///   again. Without a key if pages [omit](table_core::query::Page::skipped) rows that may be such entities, and the store does not return their keys.
    /// - `ResourceNotFound` if an entity holds copies from a source missing from the target.
    /// - `UniqueViolation` if another entity has the same value in a unique index.
    /// - `SchemaMismatch` if a newer release prevents this program from writing; any error from the stores.
    pub async fn finish(&mut self) -> Result<Imported> {
        self.check_whole()?;
        self.may_be_later = true;
        self.imported.remote_rows = 0;
        let mut failed = None;
        for at in 0..self.tenant.places.len() {
            self.derive(at, &mut failed).await?;
        }
        failed.map_or(Ok(self.imported), Err)
    }

    /// Checks that all lines of the export have been pushed.
    fn check_whole(&self) -> Result<()> {
        let end = self.end.ok_or_else(|| Error::of(TenantFault::Incomplete))?;
        // An export omits the remaining parts of a blob that disappears during the export.
        let missing = usize::try_from(end.missing).unwrap_or(usize::MAX);
        if let Some(name) = self.unfinished.iter().nth(missing) {
            return Err(Error::of(TenantFault::LastPart { name: name.clone() }));
        }
        // An import that resumes an earlier import does not receive the lines pushed to the earlier one, so the numbers are not compared.
        if self.resumes {
            return Ok(());
        }
        if self.pushed.rows < end.rows {
            return Err(Error::of(TenantFault::MissingRows { pushed: self.pushed.rows, exported: end.rows }));
        }
        if self.pushed.blobs < end.blobs {
            return Err(Error::of(TenantFault::MissingBlobs {
                pushed: self.pushed.blobs,
                exported: end.blobs,
            }));
        }
        Ok(())
    }

    /// Derives rows from the stored entities of the location with the index `at`. Stores the first error that concerns a single entity in `failed`.
    ///
    /// # Errors
    /// Any store outage.
    async fn derive(&mut self, at: usize, failed: &mut Option<Error>) -> Result<()> {
        let tenant = self.tenant;
        let Some(place) = tenant.places.get(at) else { return Ok(()) };
        let has_elsewhere = place.members.iter().any(|member| member.has_elsewhere());
        let lacks_rows = place.members.iter().any(|member| {
            let mut indexes = member.schema().indexes.iter().filter(|index| index.is_same_partition());
            let lacking = self.lacking.get(&(at, member.schema().entity));
            lacking.is_some_and(|lacking| indexes.any(|index| lacking.lacks_index(index.name)))
        });
        if !has_elsewhere && !lacks_rows {
            return Ok(());
        }
        for table in place.existing().await? {
            // A table without the tenant's rows may belong to a program with a different schema, so it is skipped.
            if !has_rows(place, &table).await? {
                continue;
            }
            let opened = self.open(at, &table).await?;
            if lacks_rows {
                self.derive_within(at, &opened, failed).await?;
            }
            if has_elsewhere {
                self.imported.remote_rows += settle(&opened, &table, failed).await?;
            }
        }
        Ok(())
    }

    /// Derives the index rows in the tenant's partitions that may be missing from the export.
    async fn derive_within(&self, at: usize, opened: &Place, failed: &mut Option<Error>) -> Result<()> {
        let ranges = opened.ranges();
        for member in &opened.members {
            let Some(lacking) = self.lacking.get(&(at, member.schema().entity)) else { continue };
            if let Some(error) = member.derive_within(&ranges, lacking).await? {
                failed.get_or_insert(error);
            }
        }
        Ok(())
    }
}

/// Returns `true` if the location's partitions in a table contain rows.
async fn has_rows(place: &Place, table: &TableName) -> Result<bool> {
    for range in place.ranges() {
        if place.has_rows(table, range).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes the remote rows derived from the stored entities in a table of a location. Returns the number of written rows. Stores the first error that concerns a
/// single entity in `failed`.
///
/// # Errors
/// Any store outage.
async fn settle(place: &Place, table: &TableName, failed: &mut Option<Error>) -> Result<u64> {
    let (mut written, mut omits_rows) = (0, false);
    for range in place.ranges() {
        let query = Query::new(all_rows(range));
        let mut pages = Pages::new(&place.store, table, &query);
        while let Some(WholePage { page, unreadable }) = none_if_missing(pages.next_whole().await)? {
            omits_rows |= page.skipped > 0;
            let has_elsewhere =
                |row: EntityRef<'_>| place.member(row).is_some_and(|member| member.has_elsewhere());
            for row in unreadable.into_iter().filter(|row| has_elsewhere(row.entity())) {
                failed.get_or_insert(row.into_error(table));
            }
            let mut owned = Vec::new();
            for row in page.rows.iter() {
                let member = place.member(row).filter(|member| member.has_elsewhere());
                let Some(member) = member else { continue };
                owned.push((member, EntityKey::new(row.partition_key, row.row_key)?, row.row.to_row()));
            }
            let settled = owned.iter().map(|(member, key, row)| member.settle(key, row).boxed());
            let settled: Vec<_> = requests::all(settled, CONCURRENCY).await;
            for settled in settled {
                match settled {
                    Ok(rows) => written += rows,
                    Err(error) if Failure::of(&error) == Failure::Lasting => {
                        failed.get_or_insert(error);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    if omits_rows {
        failed.get_or_insert(Error::of(TenantFault::Omitted).with_table(table.as_str()));
    }
    Ok(written)
}
