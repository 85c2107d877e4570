//! The head of a feed: a row that every commit replaces, provided that its `ETag` is unchanged. This condition determines the order of the commits.

use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, ValueRef};
use uuid::Uuid;

use crate::feed::{Cursor, Feed, FeedEntry};

/// The prefix of the `RowKey`s of a feed's rows.
pub const FEED_PREFIX: &str = "\u{FFFC}feed_";

/// The `RowKey` of the head.
pub(crate) const HEAD: &str = "\u{FFFC}feed_head";

/// The state of one feed, as stored in its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(super) id: u64,
    /// The number of the last committed change.
    pub(super) last: u64,
    /// The number of the last trimmed change.
    pub(super) floor: u64,
    /// `true` if the registry does not list the partition, or marks its feed as quiet. A writer must then list the partition before it commits.
    pub(super) quiet: bool,
    /// `true` if the partition is listed permanently. Followers then never mark its feed as quiet.
    pub(super) kept: bool,
}

impl Head {
    /// Creates the head of a new feed, whose partition is not listed yet.
    pub(super) fn new() -> Self {
        // The ID has 53 bits, because JSON numbers preserve integers up to that size.
        let id = Uuid::new_v4().as_u64_pair().1 & ((1 << 53) - 1);
        Self { id, last: 0, floor: 0, quiet: true, kept: false }
    }

    /// Returns the cursor at the end of the feed.
    pub(crate) const fn end(&self) -> Cursor {
        self.cursor(self.last)
    }

    /// Returns `true` if a writer must list the partition in the registry before it commits.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(super) const fn cursor(&self, number: u64) -> Cursor {
        Cursor { feed: self.id, number }
    }

    /// Returns `true` if the cursor is a position in this feed. A cursor beyond the end is not such a position. It was returned before the table was restored
    /// from an older backup.
    pub(crate) const fn has(&self, cursor: &Cursor) -> bool {
        cursor.feed == self.id && cursor.number <= self.last
    }

    /// Returns the number after which a reader at `from` continues: the last change before `from`, or the last trimmed change if that is later. If `from` is
    /// not a position in this feed, returns the number of the last trimmed change.
    pub(crate) fn passed(&self, from: &Cursor) -> u64 {
        if self.has(from) { from.number.max(self.floor) } else { self.floor }
    }

    /// Returns `true` if a reader at the cursor has missed changes, because they were trimmed, or because the table was restored or recreated. A new reader,
    /// which has the default cursor, has missed none.
    pub(crate) fn is_lost_at(&self, cursor: &Cursor) -> bool {
        cursor.feed != 0 && (!self.has(cursor) || cursor.number < self.floor)
    }

    /// Returns `true` if a reader that advanced from `from` to `reached` and got `entries` has missed changes. It has missed changes if they were trimmed, or
    /// if the table was restored or recreated. Changes that were trimmed before a new reader started do not count.
    ///
    /// Changes are numbered without gaps. The result is therefore correct even if changes are trimmed between the reads of the head and of the entries.
    pub(crate) fn has_lost(&self, from: &Cursor, entries: &[FeedEntry], reached: &Cursor) -> bool {
        let mut passed = match from.feed {
            0 => self.floor,
            _ if self.has(from) => from.number,
            _ => return true,
        };
        for entry in entries {
            if entry.cursor.number > passed.saturating_add(1) {
                return true;
            }
            passed = passed.max(entry.cursor.number);
        }
        reached.number > passed
    }

    fn row(self) -> Row {
        let number = |number| ValueRef::Int64(i64::try_from(number).unwrap_or(i64::MAX));
        let mut writer = RowWriter::with_capacity(5);
        writer.property("Id", number(self.id));
        writer.property("Last", number(self.last));
        writer.property("Floor", number(self.floor));
        writer.property("Quiet", ValueRef::Boolean(self.quiet));
        if self.kept {
            writer.property("Kept", ValueRef::Boolean(true));
        }
        writer.finish()
    }

    /// Reads the head from a row. Returns `None` if the row is not a valid head.
    pub(super) fn read(row: RowView<'_>) -> Result<Option<Self>> {
        let number = |name| {
            Ok::<_, Error>(match row.find(name, &mut 0)? {
                Some(ValueRef::Int64(number)) => u64::try_from(number).ok(),
                _ => None,
            })
        };
        let (Some(id), Some(last), Some(floor), Some(ValueRef::Boolean(quiet))) =
            (number("Id")?, number("Last")?, number("Floor")?, row.find("Quiet", &mut 0)?)
        else {
            return Ok(None);
        };
        // A reader of such a feed would never reach its end.
        if floor > last {
            return Ok(None);
        }
        let kept = row.find("Kept", &mut 0)? == Some(ValueRef::Boolean(true));
        Ok(Some(Self { id, last, floor, quiet, kept }))
    }

    /// Returns the operation that writes the head. It replaces the version `read`. If `read` is `None`, it inserts the head.
    pub(super) fn write(self, read: Option<ETag>) -> Result<Operation> {
        let kind = match read {
            Some(etag) => OperationKind::Replace(self.row(), IfMatch::ETag(etag)),
            None => OperationKind::Insert(self.row()),
        };
        Ok(Operation { row_key: RowKey::new(HEAD)?, kind })
    }
}

/// Returns `true` if `row` is the head of a feed and `stored` is a later head of the same feed. Writing `row` would then make the feed use numbers twice.
pub(crate) fn sets_feed_back(row_key: &str, stored: RowView<'_>, row: RowView<'_>) -> Result<bool> {
    if row_key != HEAD {
        return Ok(false);
    }
    let states = (Head::read(stored)?, Head::read(row)?);
    Ok(matches!(states, (Some(stored), Some(row)) if stored.id == row.id && stored.last > row.last))
}

impl<S: TableStore> Feed<S> {
    /// Reads the head of a partition's feed. Returns `None` if the partition has no feed yet.
    pub(crate) async fn head(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> Result<Option<(Head, ETag)>> {
        let key = EntityKey { partition_key: partition_key.clone(), row_key: RowKey::new(HEAD)? };
        let Some(found) = self.store.get(table, &key, &Select::All).await? else { return Ok(None) };
        let head = Head::read(found.row.view())?.ok_or_else(|| {
            let message = "the row is not the head of a feed; delete it and rebuild the readers of the feed";
            Error::new(ErrorCode::Corrupted, message)
                .with_table(table.as_str())
                .with_key(partition_key.as_str(), HEAD)
        })?;
        Ok(Some((head, found.etag)))
    }
}
