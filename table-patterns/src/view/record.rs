//! A view's bookkeeping rows: its state, the records of entities' contributions, the feed cursors, and the lease.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::row::{Row, RowView, RowWriter};
use table_core::{Error, Result, ValueRef, limits};

use crate::feed::Cursor;
use crate::key_hash;
use crate::view::fault::ViewFault;

/// The prefix of the `RowKey`s of a view's bookkeeping rows.
pub const VIEW_PREFIX: &str = "\u{FFFC}view_";

pub(super) const OF: &str = "\u{FFFC}view_of_";
pub(super) const BY: &str = "\u{FFFC}view_by_";
pub(super) const POISON: &str = "\u{FFFC}view_poison_";

/// The partition that contains the rows about the view as a whole.
pub(super) const STATE_PARTITION: &str = "view";

/// The property that marks a row of sums during a recount. Its value is the recount's identifier.
pub(super) const RECOUNT: &str = "ViewRecount";

/// The property of a poison row that lists, as JSON, the identifiers of the rebuilds that have marked the row.
pub(super) const MARKS: &str = "Rebuilds";

/// The amounts in one row, by property name: either the row's sums, or one entity's contributions to those sums.
pub(super) type Amounts = BTreeMap<String, i64>;

/// The record of one source entity's contribution to one partition of the view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    /// The keys of the rows contributed by the entity.
    pub(super) rows: BTreeSet<String>,
    /// The entity's contributions to the view's sums, by row and property. Zeros are omitted.
    pub(super) sums: BTreeMap<String, Amounts>,
    /// For rows marked by a recount, the entity's contributions at the time of the mark. A row is omitted if the entity's contributions to it have not changed
    /// since then.
    pub(super) cuts: BTreeMap<String, Cut>,
}

/// An entity's contributions to one row at the time a recount marked the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The identifier of the recount.
    pub(super) id: String,
    pub(super) amounts: Amounts,
}

/// The view's partitions to which a source entity contributes rows or sums. A partition is also listed while a change in progress may contribute to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places(pub(super) BTreeSet<String>);

/// Returns the key of the view's state row.
pub(super) fn state_key() -> Result<EntityKey> {
    EntityKey::new(STATE_PARTITION, format!("{VIEW_PREFIX}state"))
}

/// Returns the key of an entity's poison row.
pub(super) fn poison_key(source: &EntityKey) -> Result<EntityKey> {
    let hash = key_hash::of_key(source);
    EntityKey::new(STATE_PARTITION, format!("{POISON}{hash:032x}"))
}

/// Returns the key of the row that contains the view's cursor in a partition's feed.
pub(super) fn cursor_key(partition_key: &PartitionKey) -> Result<EntityKey> {
    EntityKey::new(partition_key.as_str(), format!("{VIEW_PREFIX}cursor"))
}

/// Returns the key of the lease row.
pub(super) fn lease_key() -> Result<EntityKey> {
    EntityKey::new(STATE_PARTITION, format!("{VIEW_PREFIX}lease"))
}

/// Returns the key of the row in which followers record the lease they last saw.
pub(super) fn sighting_key() -> Result<EntityKey> {
    EntityKey::new(STATE_PARTITION, format!("{VIEW_PREFIX}sighting"))
}

/// Returns the key of the row that contains a source entity's list of partitions.
pub(super) fn places_key(source: &EntityKey) -> Result<EntityKey> {
    let row_key = [OF, source.row_key.as_str()].concat();
    if row_key.encode_utf16().count() > limits::KEY_UNITS_PORTABLE {
        let most = limits::KEY_UNITS_PORTABLE - OF.encode_utf16().count();
        return Err(
            Error::of(ViewFault::Key(most)).with_key(source.partition_key.as_str(), source.row_key.as_str())
        );
    }
    Ok(EntityKey { partition_key: source.partition_key.clone(), row_key: RowKey::new(row_key)? })
}

/// Returns the key of a source entity's record in the view's partition `place`.
pub(super) fn share_key(place: &PartitionKey, source: &EntityKey) -> Result<EntityKey> {
    let hash = key_hash::of_key(source);
    Ok(EntityKey { partition_key: place.clone(), row_key: RowKey::new(format!("{BY}{hash:032x}"))? })
}

/// Returns the key of the row `row` in the view's partition `place`.
pub(super) fn row_key(place: &PartitionKey, row: &str) -> Result<EntityKey> {
    Ok(EntityKey { partition_key: place.clone(), row_key: RowKey::new(row)? })
}

/// Returns the identifier of the recount that marked the given row of sums; `None` if the row is not marked.
pub(super) fn recount_of(row: RowView<'_>) -> Result<Option<String>> {
    Ok(match row.find(RECOUNT, &mut 0)? {
        Some(ValueRef::String(id)) => Some(id.to_owned()),
        _ => None,
    })
}

impl Share {
    /// Returns `true` if the entity contributes neither rows nor sums to the partition.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.sums.is_empty()
    }

    pub(super) fn write(&self, source: &EntityKey) -> Result<Row> {
        let mut writer = RowWriter::with_capacity(4);
        let source = [source.partition_key.as_str(), source.row_key.as_str()];
        for (name, text) in
            [("Source", json(&source)?), ("Rows", json(&self.rows)?), ("Sums", json(&self.sums)?)]
        {
            writer.property(name, ValueRef::String(&text));
        }
        // The identifier of a recount is stored once for all rows that it has marked.
        let mut cuts = BTreeMap::<&String, BTreeMap<&String, &Amounts>>::new();
        for (row, Cut { id, amounts }) in &self.cuts {
            cuts.entry(id).or_default().insert(row, amounts);
        }
        if !cuts.is_empty() {
            writer.property("Cut", ValueRef::String(&json(&cuts)?));
        }
        Ok(writer.finish())
    }

    /// Returns a record's source entity.
    pub(super) fn source(row: RowView<'_>) -> Result<EntityKey> {
        let [partition_key, row_key]: [String; 2] = parse(row, "Source")?;
        EntityKey::new(partition_key, row_key)
    }

    pub(super) fn read(row: RowView<'_>) -> Result<Self> {
        let by_recount: BTreeMap<String, BTreeMap<String, Amounts>> = match row.find("Cut", &mut 0)? {
            Some(_) => parse(row, "Cut")?,
            None => BTreeMap::new(),
        };
        let cuts: BTreeMap<_, _> = by_recount
            .into_iter()
            .flat_map(|(id, rows)| {
                rows.into_iter().map(move |(row, amounts)| (row, Cut { id: id.clone(), amounts }))
            })
            .collect();
        let (rows, sums): (BTreeSet<String>, BTreeMap<String, Amounts>) =
            (parse(row, "Rows")?, parse(row, "Sums")?);
        // Keys are checked when a record is read. If an invalid key were detected only when writing, it would block the partition's other entities and any
        // rebuild.
        check_keys("Rows", &rows, RowKey::new)?;
        check_keys("Sums", sums.keys(), RowKey::new)?;
        check_keys("Cut", cuts.keys(), RowKey::new)?;
        Ok(Self { rows, sums, cuts })
    }
}

impl Places {
    pub(super) fn write(&self) -> Result<Row> {
        Ok(one_text("Places", &json(self)?))
    }

    pub(super) fn read(row: RowView<'_>) -> Result<Self> {
        let places: Self = parse(row, "Places")?;
        check_keys("Places", &places.0, PartitionKey::new)?;
        Ok(places)
    }
}

/// Returns a row with one string property.
pub(super) fn one_text(name: &str, text: &str) -> Row {
    let mut writer = RowWriter::with_capacity(1);
    writer.property(name, ValueRef::String(text));
    writer.finish()
}

/// Returns the row that stores the view's cursor in a partition's feed.
pub(super) fn write_position(cursor: &Cursor) -> Result<Row> {
    let mut writer = RowWriter::with_capacity(1);
    writer.property("Cursor", ValueRef::String(&json(cursor)?));
    Ok(writer.finish())
}

/// Returns the view's cursor in a partition's feed. An unreadable row counts as a cursor in an unknown feed, so a follower reads the feed from its beginning
/// and reports a gap.
pub(super) fn read_position(row: RowView<'_>) -> Cursor {
    parse(row, "Cursor").unwrap_or(Cursor::UNKNOWN)
}

/// Returns the lease row. `holder` is the identifier of the follower that has the lease, if any.
pub(super) fn lease_row(holder: Option<&str>) -> Row {
    let mut writer = RowWriter::with_capacity(1);
    if let Some(holder) = holder {
        writer.property("Holder", ValueRef::String(holder));
    }
    writer.finish()
}

/// Returns the identifier of the follower that has the lease; `None` if the row was written by another program.
pub(super) fn holder(row: RowView<'_>) -> Option<String> {
    match row.find("Holder", &mut 0) {
        Ok(Some(ValueRef::String(holder))) => Some(holder.to_owned()),
        _ => None,
    }
}

/// Checks the keys in a property of a bookkeeping row.
fn check_keys<'a, K>(
    property: &'static str,
    keys: impl IntoIterator<Item = &'a String>,
    new: fn(&'a str) -> Result<K>,
) -> Result<()> {
    let is_valid = keys.into_iter().all(|key| new(key).is_ok());
    if is_valid { Ok(()) } else { Err(Error::of(ViewFault::Record(None)).with_property(property)) }
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::of(ViewFault::Unwritable(error)))
}

pub(super) fn parse<T: for<'a> Deserialize<'a>>(row: RowView<'_>, name: &'static str) -> Result<T> {
    let broken = |cause| Error::of(ViewFault::Record(cause)).with_property(name);
    match row.find(name, &mut 0)? {
        Some(ValueRef::String(text)) => serde_json::from_str(text).map_err(|error| broken(Some(error))),
        _ => Err(broken(None)),
    }
}
