//! References: rows in a source's partition. Each one identifies a holder, that is, an entity that holds copies of the source (PAT-DEN-3).

use crate::copies::fault::CopyFault;
use crate::entities::ReservedRows;
use crate::key_hash;
use crate::paging::Pages;
use table_core::etag::ETag;
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::{Row, RowWriter};
use table_core::store::TableStore;
use table_core::{Error, Result, ValueRef, limits};

/// The prefix of every reference's `RowKey`. The source's RowKey, U+FFFC, and 32 hexadecimal digits follow the prefix.
pub const REFERENCE_PREFIX: &str = "\u{FFFC}copy_";

const DIGITS: usize = 32;

/// The content of a reference: a holder, and the name of its relation to the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) relation: String,
    pub(super) holder_table: TableName,
    pub(super) holder: EntityKey,
}

/// A reference with its `RowKey`. If the reference is stored, also contains the row's version.
#[derive(Clone, Debug)]
pub(super) struct StoredReference {
    pub(super) reference: Reference,
    pub(super) row_key: RowKey,
    /// The version of the stored row, or `None` if the reference is not stored.
    pub(super) etag: Option<ETag>,
}

/// Returns the `RowKey` prefix of a source's references.
fn front(source: &EntityKey) -> String {
    format!("{REFERENCE_PREFIX}{}\u{FFFC}", source.row_key)
}

impl Reference {
    /// Returns the reference's key, which is in the partition of `source`.
    ///
    /// # Errors
    /// `PropertyValueTooLarge` if the source's RowKey is too long.
    pub(super) fn key(&self, source: &EntityKey) -> Result<EntityKey> {
        let EntityKey { partition_key, row_key } = &self.holder;
        let table = self.holder_table.folded();
        let hash = key_hash::of_texts(&[&self.relation, table, partition_key.as_str(), row_key.as_str()]);
        let text = format!("{}{hash:0DIGITS$x}", front(source));
        let units = text.encode_utf16().count();
        if units > limits::KEY_UNITS_PORTABLE {
            let most = limits::KEY_UNITS_PORTABLE - DIGITS - REFERENCE_PREFIX.encode_utf16().count() - 1;
            return Err(Error::of(CopyFault::LongSource(most))
                .with_key(source.partition_key.as_str(), source.row_key.as_str()));
        }
        Ok(EntityKey { partition_key: source.partition_key.clone(), row_key: RowKey::new(text)? })
    }

    pub(super) fn row(&self) -> Row {
        let mut writer = RowWriter::with_capacity(4);
        writer.property("Relation", ValueRef::String(&self.relation));
        writer.property("HolderTable", ValueRef::String(self.holder_table.as_str()));
        writer.property("HolderPartition", ValueRef::String(self.holder.partition_key.as_str()));
        writer.property("HolderRow", ValueRef::String(self.holder.row_key.as_str()));
        writer.finish()
    }

    /// Reads a reference row of `source`. Returns `None` if the row is not a valid reference of this source, because a property is missing or
    /// the key does not match the content.
    fn read(source: &EntityKey, entity: EntityRef<'_>) -> Option<Self> {
        let text = |name| match entity.row.find(name, &mut 0) {
            Ok(Some(ValueRef::String(text))) => Some(text),
            _ => None,
        };
        let reference = Self {
            relation: text("Relation")?.to_owned(),
            holder_table: TableName::new(text("HolderTable")?).ok()?,
            holder: EntityKey::new(text("HolderPartition")?, text("HolderRow")?).ok()?,
        };
        let key = reference.key(source).ok()?;
        (key.row_key.as_str() == entity.row_key).then_some(reference)
    }
}

/// The rules that an index check applies to reference rows: the pattern's name, the key prefix and the validity check.
pub(super) const RESERVED: ReservedRows =
    ReservedRows { pattern: "references", prefix: REFERENCE_PREFIX, fault };

fn fault(row: EntityRef<'_>) -> Option<&'static str> {
    let Some(source) = source_in(row.row_key) else {
        return Some("the key is not that of a reference; delete the row");
    };
    let source = EntityKey::new(row.partition_key, source).ok();
    match source.and_then(|source| Reference::read(&source, row)) {
        Some(_) => None,
        None => Some(
            "a property of the reference is missing, or the key is not that of its holder; delete the row, and write the holder again",
        ),
    }
}

/// Extracts the source's RowKey from a reference's RowKey. Returns `None` for any other RowKey.
pub(crate) fn source_in(row_key: &str) -> Option<&str> {
    let rest = row_key.strip_prefix(REFERENCE_PREFIX)?;
    let at = rest.len().checked_sub(DIGITS)?;
    rest.get(..at)?.strip_suffix('\u{FFFC}')
}

/// Returns the query that finds the references of one source.
pub(super) fn query(source: &EntityKey) -> Query {
    Query::new(KeyRange::rows(source.partition_key.as_str(), TextRange::prefix(&front(source))))
}

/// Returns a source's references on one page. Invalid rows are skipped, because another program may have inserted them, and an error would block every write to
/// the source.
pub(super) fn of_page(source: &EntityKey, page: &table_core::query::Page) -> Vec<StoredReference> {
    let read = |entity: EntityRef<'_>| {
        let (reference, row_key) = (Reference::read(source, entity)?, RowKey::new(entity.row_key).ok()?);
        Some(StoredReference { reference, row_key, etag: Some(entity.etag()) })
    };
    // If another source's RowKey consists of this RowKey, U+FFFC and more text, its references are in the same range. They are skipped because their keys do
    // not match this source.
    page.rows.iter().filter_map(read).collect()
}

/// Returns a source's references, and `true` if the list is complete. Stops after the page on which the number of references exceeds `most`.
pub(super) async fn find<S: TableStore>(
    store: &S,
    table: &TableName,
    source: &EntityKey,
    most: usize,
) -> Result<(Vec<StoredReference>, bool)> {
    let query = query(source);
    let (mut found, mut pages) = (Vec::new(), Pages::new(store, table, &query));
    while found.len() <= most
        && let Some(page) = pages.next().await?
    {
        found.extend(of_page(source, &page));
    }
    Ok((found, pages.is_end()))
}
