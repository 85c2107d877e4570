//! The entity that stores a schema.

use std::collections::BTreeMap;

use table_store::{Error, Result, Value};

use crate::bag::TableEntity;
use crate::chunk_name::chunk_name;
use crate::entity::FromEntity;
use crate::etag::ETag;
use crate::key::{EntityKey, PartitionKey, RowKey};
use crate::name::TableName;
use crate::query::{EntityRef, Select};
use crate::row::Row;
use crate::schema::{Evolution, RemovedProperties, StoredSchema, compare_with_removed};
use crate::store::{StoredRow, TableStore};
use crate::table::fault::TableFault;
use crate::table::layout::known::SchemaVersion;
use crate::table::request;

/// The table of stored schemas. The `PartitionKey` is a table's name in lower case, and the `RowKey` is the name of an entity type.
///
/// The table can be copied and deleted like any other table. `docs/schema-evolution.md` describes its entities.
/// [`TableStoreExt::tables`](crate::TableStoreExt::tables) omits the table, and [`TableStore::list_tables`] includes it.
pub const LAYOUTS: &str = "TablesLayouts";

/// The maximum length of a piece of schema text, in code units. The text is split into pieces, and each piece is stored in one property. The length is below
/// the limit for string properties (TYPE-11).
const PIECE: usize = 32_000;

/// The maximum number of fingerprints in a record's list of superseded schemas.
const REMEMBERED: usize = 64;

/// The stored record of an entity type's schema in a table. It contains the most recently stored schema, and the state of its parts (indexes, feed, copies and
/// properties).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaRecord {
    /// The most recently stored schema.
    pub schema: StoredSchema,
    /// The parts whose backfill has not finished, such as `index ByEmail`, `keeps feed` or `property Age`; see
    /// [`Change::pending`](crate::schema::Change::pending). Reads of a pending part may miss rows.
    pub pending: Vec<String>,
    /// The progress of each running backfill, keyed by the name of the pending part.
    pub progress: BTreeMap<String, String>,
    /// The time at which each backfill was first requested, keyed by the name of the pending part. Only backfills that have not begun are included. The times
    /// are in [ticks](crate::ticks), according to the store's clock.
    pub waiting: BTreeMap<String, u64>,
    /// The reason passed to [`accept_schema`](crate::Table::accept_schema), or `None` if no schema was accepted. The reason is followed by the verdict on
    /// compatibility and the rules behind it.
    pub accepted: Option<String>,
    /// The number of schemas stored so far for this entity type, including this one.
    pub generation: u64,
    /// The time when this schema replaced its predecessor, in [ticks](crate::ticks). The time is from the clock of the program that stored this schema.
    pub since: Option<u64>,
    /// The fingerprints of the superseded schemas, oldest first.
    pub superseded: Vec<String>,
    /// `true` while programs that do not know this schema's optional properties may replace rows. Programs with this schema wait before their first write, and
    /// the first program to finish waiting clears the flag.
    pub settling: bool,
    /// Undeclared properties that rows may still contain.
    removed: RemovedProperties,
    pub(super) etag: ETag,
}

impl SchemaRecord {
    pub(super) fn new(schema: StoredSchema) -> Self {
        Self {
            schema,
            pending: Vec::new(),
            progress: BTreeMap::new(),
            waiting: BTreeMap::new(),
            accepted: None,
            generation: 1,
            since: None,
            superseded: Vec::new(),
            settling: false,
            removed: RemovedProperties::default(),
            etag: ETag::from_ticks(0),
        }
    }

    /// Returns `true` if programs that do not maintain `index` may still write. This is the case if the index is pending and its backfill has not begun.
    ///
    /// ```
    /// # use table_core::{Engine, Entity, TableStoreExt};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index(ByEmail, unique, row_key("email_", email))]
    /// # struct Employee { department: String, #[digits(6)] id: u32, email: String }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// let layout = employees.schema_record().await?.expect("it was opened");
    /// assert!(!layout.is_announced("ByEmail")); // a new table has complete indexes
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn is_announced(&self, index: &str) -> bool {
        self.awaits(&format!("index {index}"))
    }

    /// Returns `true` if a part is pending but its backfill has not begun.
    pub(super) fn awaits(&self, part: &str) -> bool {
        self.pending.iter().any(|pending| pending == part) && !self.progress.contains_key(part)
    }

    /// Returns this record as the successor of `stored`. The generation number is incremented, unless only Rust names differ.
    pub(super) fn following(mut self, stored: Self, now: u64) -> Self {
        let fingerprint = |schema: &StoredSchema| schema.fingerprint().to_string();
        let (own, before) = (fingerprint(&self.schema), fingerprint(&stored.schema));
        let is_same = stored.compare(&self.schema).is_same();
        (self.generation, self.since, self.superseded) = (stored.generation, stored.since, stored.superseded);
        self.settling |= stored.settling;
        if !is_same {
            self.generation = self.generation.saturating_add(1);
            self.since = Some(now);
            self.superseded.push(before);
            self.superseded.retain(|known| *known != own);
            let surplus = self.superseded.len().saturating_sub(REMEMBERED);
            self.superseded.drain(..surplus);
        }
        self
    }

    /// Returns `true` if the given schema was stored earlier and has been superseded by this record's schema.
    pub(super) fn supersedes(&self, design: &StoredSchema) -> bool {
        self.superseded.contains(&design.fingerprint().to_string())
    }

    /// Returns the version of the stored schema.
    pub(super) const fn version(&self) -> SchemaVersion {
        SchemaVersion { generation: self.generation, since: self.since }
    }

    /// Returns the names of the undeclared properties that rows may still contain.
    pub(super) fn removed_properties(&self) -> Vec<String> {
        self.removed.names().cloned().collect()
    }

    /// Compares this schema, and the properties removed before it, with another schema.
    pub(super) fn compare(&self, design: &StoredSchema) -> Evolution {
        compare_with_removed(&self.schema, &self.removed, design)
    }

    /// Returns the record without pending properties. Call this only after every row has been rewritten. From then on, no row contains a widened property in
    /// its old type.
    pub(super) fn rewritten(mut self) -> Self {
        self.pending.retain(|part| !part.starts_with("property "));
        self
    }

    /// Returns the record for the next schema. The changes may require one-time work, which is added to `pending`.
    pub(super) fn evolved(self, schema: StoredSchema, evolution: &Evolution) -> Self {
        let removed = self.removed.after(&self.schema, &schema);
        let is_there = |what: &String| match what.split_once(' ') {
            Some(("index", name)) => schema.indexes.iter().any(|index| index.name == name),
            Some(("keeps", word)) => schema.keeps.iter().any(|kept| kept == word),
            // Rows may still contain a removed property, and a later schema may declare it again. Its pending work is kept for that case.
            Some((_, name)) => {
                removed.contains(name) || schema.properties.iter().any(|property| property.name == name)
            }
            None => false,
        };
        let mut pending: Vec<_> = self.pending.into_iter().filter(is_there).collect();
        let anew: Vec<_> = evolution.changes.iter().filter_map(|change| change.pending.clone()).collect();
        // If a change requires the same pending work again, that work restarts from the beginning.
        let continues = |what: &String| pending.contains(what) && !anew.contains(what);
        let (mut progress, mut waiting) = (self.progress, self.waiting);
        progress.retain(|what, _| continues(what));
        waiting.retain(|what, _| continues(what));
        pending.extend(anew);
        pending.sort();
        pending.dedup();
        Self { schema, pending, progress, waiting, removed, ..self }
    }

    pub(super) fn to_row(&self, table: &TableName) -> Result<Row> {
        let fingerprint = self.schema.fingerprint().to_string();
        let mut entity =
            TableEntity::new(table.folded(), self.schema.entity.as_str())?.with("Fingerprint", fingerprint);
        let mut insert_text = |name: &str, text: &str| {
            for (at, piece) in cut(text).into_iter().enumerate() {
                entity.insert(chunk_name(name, at), piece);
            }
        };
        insert_text("Schema", &self.schema.to_string());
        let removed: Vec<_> = self.removed.lines().collect();
        if !removed.is_empty() {
            insert_text("Removed", &removed.join("\n"));
        }
        if !self.pending.is_empty() {
            entity.insert("Pending", self.pending.join("\n"));
        }
        if !self.progress.is_empty() {
            let lines: Vec<_> =
                self.progress.iter().map(|(what, how_far)| format!("{what}\t{how_far}")).collect();
            entity.insert("Progress", lines.join("\n"));
        }
        if !self.waiting.is_empty() {
            let lines: Vec<_> = self.waiting.iter().map(|(what, since)| format!("{what}\t{since}")).collect();
            entity.insert("Waiting", lines.join("\n"));
        }
        if let Some(accepted) = &self.accepted {
            entity.insert("Accepted", accepted.as_str());
        }
        if self.settling {
            entity.insert("Settling", true);
        }
        if let Some(since) = self.since {
            let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            entity.insert("Generation", number(self.generation));
            entity.insert("Since", number(since));
            entity.insert("Superseded", self.superseded.join("\n"));
        }
        entity.to_row()
    }

    pub(super) fn read(key: &EntityKey, found: &StoredRow) -> Result<Self> {
        let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), found.row.view());
        let bag = TableEntity::from_entity(entity)?;
        let schema = schema_in(&bag)?;
        let mut removed = RemovedProperties::default();
        for line in text_in_pieces(&bag, "Removed").lines() {
            removed.read_line(line);
        }
        let text = |name: &str| text(&bag, name);
        let number = |name: &str| match bag.get(name) {
            Some(Value::Int64(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        let lines = |name: &str| text(name).into_iter().flat_map(|text| text.split('\n'));
        Ok(Self {
            schema,
            pending: lines("Pending").map(str::to_owned).collect(),
            progress: lines("Progress")
                .filter_map(|line| line.split_once('\t'))
                .map(|(what, how_far)| (what.to_owned(), how_far.to_owned()))
                .collect(),
            waiting: lines("Waiting")
                .filter_map(|line| line.split_once('\t'))
                .filter_map(|(what, since)| Some((what.to_owned(), since.parse().ok()?)))
                .collect(),
            accepted: text("Accepted").map(str::to_owned),
            generation: number("Generation").unwrap_or(1),
            since: number("Since"),
            superseded: lines("Superseded").map(str::to_owned).collect(),
            settling: matches!(bag.get("Settling"), Some(Value::Boolean(true))),
            removed,
            etag: found.etag.clone(),
        })
    }
}

fn text<'b>(bag: &'b TableEntity, name: &str) -> Option<&'b str> {
    match bag.get(name) {
        Some(Value::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// Joins text split across several properties.
fn text_in_pieces(bag: &TableEntity, name: &str) -> String {
    (0..).map_while(|at| text(bag, &chunk_name(name, at))).collect()
}

/// Parses the schema in a stored entity, and checks its fingerprint.
pub(super) fn schema_in(bag: &TableEntity) -> Result<StoredSchema> {
    let located = |error: Error| {
        let EntityKey { partition_key, row_key } = bag.key();
        error.with_key(partition_key.as_str(), row_key.as_str()).with_table(LAYOUTS)
    };
    let schema: StoredSchema = text_in_pieces(bag, "Schema").parse().map_err(located)?;
    if text(bag, "Fingerprint") != Some(&schema.fingerprint().to_string()) {
        return Err(located(Error::of(TableFault::Fingerprint)));
    }
    Ok(schema)
}

fn cut(text: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut units) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        if units + character.len_utf16() > PIECE {
            pieces.push(std::mem::take(&mut piece));
            units = 0;
        }
        piece.push(character);
        units += character.len_utf16();
    }
    pieces.push(piece);
    pieces
}

/// Returns the name of the table of stored schemas.
pub(super) fn table() -> Result<TableName> {
    TableName::new(LAYOUTS)
}

/// Returns the key of an entity type's schema record for a table.
pub(super) fn key(table: &TableName, entity: &str) -> Result<EntityKey> {
    Ok(EntityKey { partition_key: PartitionKey::new(table.folded())?, row_key: RowKey::new(entity)? })
}

/// Returns the schema record of an entity type, or `None` if no schema is stored.
pub(in crate::table) async fn read<S: TableStore>(
    store: &S,
    table: &TableName,
    entity: &str,
) -> Result<Option<SchemaRecord>> {
    let key = key(table, entity)?;
    match request::get(store, &self::table()?, &key, &Select::All).await {
        Ok(found) => found.map(|found| SchemaRecord::read(&key, &found)).transpose(),
        Err(error) if error.is_table_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_any_length_is_split_and_joined() {
        let property = |at| format!("property {}{at} Edm.String", "é".repeat(250));
        let properties = (0..252).map(property).collect::<Vec<_>>().join(
            "
",
        );
        let text = format!(
            "schema 1\nentity Wide\ntable Wide\nPartitionKey a text 0..512 ordered legal\n{properties}"
        );
        let mut layout = SchemaRecord::new(text.parse().unwrap());
        layout.pending = vec!["index ByEmail".to_owned(), "property Age".to_owned()];
        layout.progress.insert("index ByEmail".to_owned(), "Sales\tempid_000223".to_owned());
        layout.waiting.insert("index ByAge".to_owned(), 639_307_584_000_000_000);
        let key = EntityKey::new("wide", "Wide").unwrap();
        let row = layout.to_row(&TableName::new("Wide").unwrap()).unwrap();
        assert_eq!(row.view().len(), 7, "Fingerprint, three pieces, Pending, Progress, Waiting");
        let stored = StoredRow { row, etag: layout.etag.clone() };
        assert_eq!(SchemaRecord::read(&key, &stored).unwrap(), layout);

        let narrow = "schema 1\nentity Wide\ntable Wide\nPartitionKey a text 0..512 ordered legal";
        let without = layout.evolved(narrow.parse().unwrap(), &Evolution::default());
        assert_eq!(without.removed.lines().count(), 252);
        let row = without.to_row(&TableName::new("Wide").unwrap()).unwrap();
        let stored = StoredRow { row, etag: without.etag.clone() };
        assert_eq!(SchemaRecord::read(&key, &stored).unwrap(), without);
    }

    #[test]
    fn pending_items_stay_until_they_leave_the_schema() {
        let parse =
            |text: &str| format!("schema 1\nentity E\ntable T\n{text}").parse::<StoredSchema>().unwrap();
        let mut layout = SchemaRecord::new(parse("index A copies\nindex A keeps *\nproperty P Edm.Int64\n"));
        layout.pending = vec!["index A".to_owned(), "property P".to_owned()];
        let kept = layout.evolved(parse("index A copies\nindex A keeps *\n"), &Evolution::default());
        assert_eq!(kept.pending, ["index A", "property P"], "rows still contain the property");

        let mut layout = kept;
        layout.progress.insert("index A".to_owned(), "half".to_owned());
        layout.progress.insert("index B".to_owned(), "half".to_owned());
        let kept = layout.evolved(parse("index A copies\nindex A keeps *\n"), &Evolution::default());
        assert_eq!(kept.progress.into_keys().collect::<Vec<_>>(), ["index A"]);
    }
}
