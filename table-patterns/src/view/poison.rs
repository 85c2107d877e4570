//! Entities that a view cannot apply. Each is set aside with its error, and does not block the other entities.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::row::RowView;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::failure::Failure;
use crate::feed::FEED_PREFIX;
use crate::paging::each_row;
use crate::view::View;
use crate::view::record;
use crate::view::table::ViewTable;

/// An entity that a view cannot apply, because its projection fails, a sum overflows, or its rows exceed a limit of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ViewPoison {
    /// The key of the poison entity.
    pub source: EntityKey,
    /// The error from the attempt to apply the entity.
    pub error: String,
}

impl ViewPoison {
    /// Returns `true` for an entity, and `false` for a partition in which the view has missed changes, or whose feed cannot be read.
    pub(super) fn is_entity(&self) -> bool {
        !self.source.row_key.is_reserved()
    }

    /// Returns `true` for a partition in which the view has missed changes.
    pub(super) fn is_gap(&self) -> bool {
        self.source.row_key.as_str().strip_prefix(FEED_PREFIX) == Some("gap")
    }

    /// Decodes the poison row of an entity or a partition.
    pub(super) fn read(row: RowView<'_>) -> Result<Self> {
        let PoisonText { partition_key, row_key, error } = record::parse(row, "Poison")?;
        Ok(Self { source: EntityKey::new(partition_key, row_key)?, error })
    }
}

/// The JSON in a poison row.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PoisonText {
    partition_key: String,
    row_key: String,
    error: String,
}

/// The key and version of a poison row.
pub(super) struct AsideRow {
    pub(super) row_key: RowKey,
    pub(super) etag: ETag,
}

/// A decoded poison row, with its key and version.
struct PoisonRow {
    row: AsideRow,
    poison: ViewPoison,
}

/// The entities and partitions that were set aside when a call started, each with its poison row.
pub(super) type Aside = HashMap<EntityKey, AsideRow>;

/// Returns the source partitions in which more than `most` entities are set aside, each with the number of these entities.
pub(super) fn crowded(aside: &Aside, most: usize) -> HashMap<&PartitionKey, usize> {
    let mut found = HashMap::new();
    for source in aside.keys().filter(|source| !source.row_key.is_reserved()) {
        *found.entry(&source.partition_key).or_insert(0) += 1;
    }
    found.retain(|_, count| *count > most);
    found
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Returns the poison entities, which were set aside. For each of them, the view contains the rows from before the failure, or no rows. If another process
    /// applied an entity while its failure was being recorded or a rebuild was starting, the list may still contain the entity.
    /// [`retry_poison`](Self::retry_poison) removes such entities.
    ///
    /// # Errors
    /// Any error from [`TableStore::query`].
    pub async fn poison(&self) -> Result<Vec<ViewPoison>> {
        let rows = self.poison_rows().await?;
        Ok(rows.into_iter().map(|row| row.poison).collect())
    }

    /// Retries the poison entities. Returns the number of entities that were applied. A partition in which the view has missed changes remains set aside until
    /// a [`rebuild`](Self::rebuild), and a partition whose feed cannot be read remains set aside until its changes have been read. A poison entity is also
    /// retried after its next change.
    ///
    /// # Errors
    /// Any store outage, as in [`apply`](Self::apply).
    pub async fn retry_poison(&self) -> Result<usize> {
        let mut right = 0;
        for PoisonRow { row, poison } in self.poison_rows().await? {
            if !poison.is_entity() {
                continue;
            }
            let failed = self.apply_all([poison.source.clone().into()]).await?;
            if let Some((_, error)) = failed.first() {
                self.set_aside(&poison.source, error).await?;
            } else {
                self.take_back(row).await?;
                right += 1;
            }
        }
        Ok(right)
    }

    /// Reads the entities and partitions that are set aside.
    ///
    /// # Errors
    /// Any error from the store.
    pub(super) async fn aside(&self) -> Result<Aside> {
        let rows = self.poison_rows().await?;
        Ok(rows.into_iter().map(|row| (row.poison.source, row.row)).collect())
    }

    /// Returns an entity's poison row, or `None` if the entity is not set aside.
    pub(super) async fn aside_row(&self, source: &EntityKey) -> Result<Option<AsideRow>> {
        let EntityKey { row_key, .. } = record::poison_key(source)?;
        let found = self.stored(&record::poison_key(source)?).await?;
        Ok(found.map(|found| AsideRow { row_key, etag: found.etag }))
    }

    /// Reads all poison rows.
    async fn poison_rows(&self) -> Result<Vec<PoisonRow>> {
        let range = KeyRange::rows(record::STATE_PARTITION, TextRange::prefix(record::POISON));
        let mut rows = Vec::new();
        each_row(self.rows.store(), self.rows.name()?, &Query::new(range), |row| {
            // A poison row written by another program may not identify an entity. Such a row is skipped.
            if let Ok(poison) = ViewPoison::read(row.row) {
                let row = AsideRow { row_key: RowKey::new(row.row_key)?, etag: row.etag() };
                rows.push(PoisonRow { row, poison });
            }
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Writes an entity's poison row, with the error.
    pub(super) async fn set_aside(&self, source: &EntityKey, error: &Error) -> Result<()> {
        let text = PoisonText {
            partition_key: source.partition_key.as_str().to_owned(),
            row_key: source.row_key.as_str().to_owned(),
            error: format!("{error:?}").chars().take(1_000).collect(),
        };
        let key = record::poison_key(source)?;
        let row = record::one_text("Poison", &record::json(&text)?);
        self.submit(&key.partition_key, vec![(key.row_key, OperationKind::InsertOrReplace(row))])
            .await
            .map(drop)
    }

    /// Deletes a poison row. If the row has been rewritten since it was read, it records a later failure and is not deleted.
    pub(super) async fn take_back(&self, AsideRow { row_key, etag }: AsideRow) -> Result<()> {
        let partition_key = PartitionKey::new(record::STATE_PARTITION)?;
        let delete = (row_key, OperationKind::Delete(IfMatch::ETag(etag)));
        self.submit(&partition_key, vec![delete]).await.map(drop)
    }
}

/// Returns the key of the poison row for a partition whose feed cannot be read.
pub(super) fn feed_of(partition_key: &PartitionKey) -> Result<EntityKey> {
    EntityKey::new(partition_key.as_str(), FEED_PREFIX)
}

/// Returns the key of the poison row for a partition in which the view has missed changes.
pub(super) fn gap_in(partition_key: &PartitionKey) -> Result<EntityKey> {
    EntityKey::new(partition_key.as_str(), format!("{FEED_PREFIX}gap"))
}

/// Returns `true` if an error concerns the feed of only one partition, which is then set aside. A missing table does not count, because it affects all
/// partitions.
pub(super) fn is_of_partition(error: &Error) -> bool {
    Failure::of(error) == Failure::Lasting && !error.is_table_not_found()
}
