//! The registry of partitions with a feed. It also marks quiet feeds, which have no new entries.
//!
//! A partition is listed before its first entry is committed, and remains listed. A follower that has read a feed to its end marks the feed as quiet, first in
//! the head and then in the registry. For this, it reads the registry row and then the head; both of its writes are conditional on these reads. A writer that
//! finds the mark in the head lists the partition again, without the mark, before it commits.
//!
//! A permanently listed partition is never marked as quiet, because the bearer of a SAS for that partition could not remove the mark.

use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{Continuation, EntityRef, Query};
use table_core::retry::Retry;
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::converge;
use crate::feed::{Cursor, FEEDS, Feed, Head};
use crate::omitted::{Unreadable, WholePage, whole_page};
use crate::outbox::registry;
use crate::outbox::rows::alone;

/// A partition with a feed, as listed in the registry.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) partition_key: PartitionKey,
    key: EntityKey,
    pub(crate) etag: ETag,
    /// The end of the feed at the time when a follower marked it as quiet, or `None` if the feed is not marked.
    quiet: Option<Cursor>,
}

impl Listed {
    /// Returns the partition of a registry row. The row may have no properties, because its key identifies the partition.
    fn of(row: EntityRef<'_>) -> Result<Self> {
        let partition_key = PartitionKey::new(row.row_key)?;
        let key = EntityKey::new(row.partition_key, row.row_key)?;
        Ok(Self { partition_key, key, etag: row.etag(), quiet: quiet(row.row) })
    }

    /// Returns `true` if the registry marks the feed as quiet.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet.is_some()
    }

    /// Returns `true` if a reader at this cursor has read all entries of a quiet feed.
    pub(crate) fn is_read_at(&self, cursor: &Cursor) -> bool {
        self.quiet.as_ref().is_some_and(|end| cursor.is_at(end))
    }
}

/// Returns the quiet mark of a registry row. Returns `None` if the row has no mark, or if the mark cannot be read.
fn quiet(row: RowView<'_>) -> Option<Cursor> {
    match row.find("Quiet", &mut 0) {
        Ok(Some(ValueRef::String(text))) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn listing(table: &TableName, quiet: Option<&Cursor>) -> Row {
    let mut writer = RowWriter::with_capacity(2);
    writer.property("Table", ValueRef::String(table.as_str()));
    if let Some(text) = quiet.and_then(|end| serde_json::to_string(end).ok()) {
        writer.property("Quiet", ValueRef::String(&text));
    }
    writer.finish()
}

impl<S: TableStore> Feed<S> {
    /// Lists a partition in the registry. If its feed is marked as quiet, removes the mark.
    pub(crate) async fn register(&self, table: &TableName, partition_key: &PartitionKey) -> Result<()> {
        let kind = OperationKind::InsertOrReplace(listing(table, None));
        registry::put(&self.store, FEEDS, &registry::key_of(table, partition_key)?, kind).await
    }

    /// Returns the listed partitions of a table, including those whose registry rows the store cannot represent.
    pub(crate) async fn listed(&self, table: &TableName) -> Result<Vec<Listed>> {
        let mut listed = Vec::new();
        registry::each(&self.store, &TableName::new(FEEDS)?, registry::buckets(table), |row| {
            listed.push(Listed::of(row));
        })
        .await?;
        listed.into_iter().collect()
    }

    /// Returns one page of a table's listed partitions, at most `most`, in registry order. Also returns the number of registrations whose keys the store does
    /// not return, and the continuation token for the next page.
    pub(crate) async fn listed_page(
        &self,
        table: &TableName,
        from: Option<&Continuation>,
        most: usize,
    ) -> Result<(Vec<Listed>, u64, Option<Continuation>)> {
        let query = Query { top: Some(most), ..Query::new(registry::buckets(table)) };
        match whole_page((&self.store, &TableName::new(FEEDS)?), &query, from).await {
            Err(error) if error.is_table_not_found() => Ok((Vec::new(), 0, None)),
            whole => {
                let WholePage { page, unreadable } = whole?;
                let rows = page.rows.iter().chain(unreadable.iter().map(Unreadable::entity));
                let listed = rows.map(Listed::of).collect::<Result<_>>()?;
                Ok((listed, page.skipped, page.continuation))
            }
        }
    }

    /// Lists a partition permanently. Its writers then need no access to the registry. Call this function before you give a writer a SAS for this partition.
    /// Each poll of a follower then takes one more request, which reads the head of this feed.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore, PartitionKey};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Desk", feed)]
    /// # #[partition_key(tenant)]
    /// # #[row_key(number)]
    /// # struct Ticket { tenant: String, number: u32 }
    /// # pollster::block_on(async {
    /// let tickets = Engine::in_memory().entities::<Ticket>().create_if_missing().await?;
    /// let contoso = PartitionKey::new("contoso")?;
    /// tickets.feed().keep_listed(tickets.table().name()?, &contoso).await?;
    /// assert_eq!(tickets.feed().partitions(tickets.table().name()?).await?, [contoso]);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Corrupted` if the head of the feed cannot be read; any error from the store.
    pub async fn keep_listed(&self, table: &TableName, partition_key: &PartitionKey) -> Result<()> {
        let retry = Retry::default().with_runtime(self.pace.clone());
        let mut race = retry.start("the head of a feed");
        loop {
            let head = match self.head(table, partition_key).await? {
                Some(head) => Some(head),
                None => self.create(table, partition_key).await?,
            };
            if let Some((head, etag)) = head {
                // IMPORTANT: as in a commit, the partition is listed after the head has been read and before it is written.
                self.register(table, partition_key).await?;
                let operation = Head { quiet: false, kept: true, ..head }.write(Some(etag))?;
                let write = [(operation.row_key, operation.kind)];
                if converge::is_won(converge::submit(&self.store, table, partition_key, write).await)? {
                    return Ok(());
                }
            }
            race.retry(None).await.map_err(|error| error.with_table(table.as_str()))?;
        }
    }

    /// Marks a feed as quiet at its end. `listed` must have been read before `head`. Returns the new version of the registry row if both marks were written.
    ///
    /// Does nothing if the partition is listed permanently, or if a writer or another follower committed first.
    pub(crate) async fn mark_quiet(
        &self,
        table: &TableName,
        listed: &Listed,
        (head, etag): (Head, ETag),
    ) -> Result<Option<ETag>> {
        if head.kept {
            return Ok(None);
        }
        // IMPORTANT: the head is replaced even if it already has the mark. A writer that has read the old head, and is about to list the partition, then fails
        // to commit.
        let operation = Head { quiet: true, ..head }.write(Some(etag))?;
        let marks = [(operation.row_key, operation.kind)];
        if converge::is_won(converge::submit(&self.store, table, &listed.partition_key, marks).await)? {
            let row = listing(table, Some(&head.end()));
            let kind = OperationKind::Replace(row, IfMatch::ETag(listed.etag.clone()));
            let transaction = alone(&listed.key, kind, self.store.capabilities().limits)?;
            match self.store.submit(&TableName::new(FEEDS)?, transaction).await {
                Ok(committed) => return Ok(committed.into_iter().next().flatten()),
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}
