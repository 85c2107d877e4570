//! Counts a tenant's rows and blobs, by entity type.

use std::collections::BTreeMap;

use table_core::Result;
use table_core::query::Query;

use crate::paging::{Pages, none_if_missing};
use crate::tenant::Tenant;
use crate::tenant::place::{Place, all_rows};

/// The numbers of a tenant's rows and blobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The number of entities of each registered type, keyed by type name.
    pub entities: BTreeMap<&'static str, u64>,
    /// The number of other rows: index rows in the tenant's partitions, rows of unregistered types, and rows that pages
    /// [omit](table_core::query::Page::skipped).
    pub other: u64,
    /// The number of reserved rows written by patterns, such as feed entries, sequences and recorded steps.
    pub reserved: u64,
    /// The number of blobs that belong to the tenant.
    pub blobs: u64,
    /// The total size of the blobs in bytes.
    pub blob_bytes: u64,
}

impl Count {
    /// Returns the number of rows in the tenant's partitions.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.entities.values().sum::<u64>() + self.other + self.reserved
    }
}

impl Tenant {
    /// Counts the tenant's rows and blobs. Reads the tenant's partitions once, and lists its blobs. Remote rows are not counted.
    ///
    /// # Errors
    /// `InvalidInput` if a type with remote rows is not registered; any error from the stores.
    pub async fn count(&self) -> Result<Count> {
        self.check()?;
        let mut count = Count::default();
        for place in &self.places {
            for member in &place.members {
                count.entities.entry(member.schema().entity).or_default();
            }
            count_rows(place, &mut count).await?;
            #[cfg(feature = "blobs")]
            for table in place.existing().await? {
                for folder in place.folders(&table)? {
                    let found = folder.count(&place.partitions).await?;
                    (count.blobs, count.blob_bytes) =
                        (count.blobs + found.blobs, count.blob_bytes + found.bytes);
                }
            }
        }
        Ok(count)
    }

    /// Returns `true` if the tenant's partitions contain no rows.
    pub(super) async fn is_empty(&self) -> Result<bool> {
        for place in &self.places {
            for table in place.existing().await? {
                for range in place.ranges() {
                    if place.has_rows(&table, range).await? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

async fn count_rows(place: &Place, count: &mut Count) -> Result<()> {
    for table in place.existing().await? {
        for range in place.ranges() {
            let query = Query::new(all_rows(range));
            let mut pages = Pages::new(&place.store, &table, &query);
            while let Some(page) = none_if_missing(pages.next().await)? {
                for row in page.rows.iter() {
                    if row.row_key.starts_with(table_core::key::text::RESERVED) {
                        count.reserved += 1;
                    } else if let Some(member) = place.member(row) {
                        *count.entities.entry(member.schema().entity).or_default() += 1;
                    } else {
                        count.other += 1;
                    }
                }
                // An erasure that leaves such rows must not report success.
                count.other += page.skipped;
            }
        }
    }
    Ok(())
}
