//! The stored schemas of a table. They are transferred together with the rows, so the target rejects plain writes in the same cases as the source.

use table_core::query::KeyRange;
use table_core::schema::StoredSchema;
use table_core::table::LAYOUTS;
use table_core::{
    DynTableStore, EntityKey, Operation, OperationKind, Query, TableEntity, TableName, TableStore,
    TableStoreExt, Transaction, Value,
};
use table_inspect::keys;

use crate::failure::Result;
use crate::rows::Pages;
use crate::transfer::ordered::{Entities, Paged};

/// The maximum length of the schema text stored in one property, in UTF-16 code units.
const PIECE: usize = 32_000;
/// The properties that describe earlier schemas of the same table. They contain fingerprints, which depend on the table's name.
const HISTORY: [&str; 3] = ["Generation", "Since", "Superseded"];

/// The rows that store the schemas of a table, one row per entity type.
#[derive(Clone, Debug, Default)]
pub struct SchemaRows(Vec<(StoredSchema, TableEntity)>);

impl SchemaRows {
    /// Reads the schemas of a table.
    ///
    /// # Errors
    /// Any error from the store. `Corrupted` or `FormatTooNew` if this version cannot read a schema.
    pub async fn read(store: &DynTableStore, table: &TableName) -> Result<Self> {
        let registry = TableName::new(LAYOUTS)?;
        let pages = Pages::new(store, &registry, Query::new(KeyRange::partition(table.folded())));
        Self::collect(Paged::new(pages.if_exists())).await
    }

    /// Collects the schemas of one table from the rows in [`LAYOUTS`] that store them.
    ///
    /// # Errors
    /// Any error from the source of the rows. `Corrupted` or `FormatTooNew` if this version cannot read a schema.
    pub async fn collect(mut rows: impl Entities) -> Result<Self> {
        let mut found = Vec::new();
        while let Some(row) = rows.next().await? {
            if let Some(schema) = keys::schema_of(&row)? {
                found.push((schema, row));
            }
        }
        Ok(Self(found))
    }

    /// Returns the parsed schemas.
    #[must_use]
    pub fn schemas(&self) -> Vec<StoredSchema> {
        self.0.iter().map(|(schema, _)| schema.clone()).collect()
    }

    /// Returns an entity type's patterns whose backfills are unfinished, such as `index ByName`.
    fn pending(&self, entity: &str) -> Vec<&str> {
        let row = self.0.iter().find(|(schema, _)| schema.entity == entity).map(|(_, row)| row);
        match row.and_then(|row| row.get("Pending")) {
            Some(Value::String(lines)) => lines.split('\n').collect(),
            _ => Vec::new(),
        }
    }

    /// Finds an index whose backfill is unfinished in these schemas but complete in `other`. Returns its entity type and its pattern, such as `index ByName`.
    #[must_use]
    pub fn unfinished<'a>(&'a self, other: &Self) -> Option<(&'a str, &'a str)> {
        self.0.iter().find_map(|(schema, _)| {
            let is_known = other.0.iter().any(|(known, _)| known.entity == schema.entity);
            let done = other.pending(&schema.entity);
            let pending = self.pending(&schema.entity).into_iter().find(|part| !done.contains(part));
            pending.filter(|_| is_known).map(|part| (schema.entity.as_str(), part))
        })
    }

    /// Stores the schemas for a table in another store, where the table may have a different name. If a schema is already stored for an entity type, it is
    /// kept.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn store(&self, store: &DynTableStore, table: &TableName) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let registry = TableName::new(LAYOUTS)?;
        store.create_table_if_missing(&registry).await?;
        for (schema, row) in &self.0 {
            let row = named(schema, row, table)?;
            let key = row.key();
            let mut insert = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
            insert.push(Operation {
                row_key: key.row_key.clone(),
                kind: OperationKind::Insert(row.to_row()?),
            })?;
            match store.submit(&registry, insert).await {
                Err(error) if error.is_already_exists() => {}
                outcome => drop(outcome?),
            }
        }
        Ok(())
    }
}

/// Converts a schema's row to the row that stores the schema for `table`, whose name may differ from the name in the schema.
fn named(schema: &StoredSchema, row: &TableEntity, table: &TableName) -> Result<TableEntity> {
    let is_same = schema.table.eq_ignore_ascii_case(table.as_str());
    let mut named = TableEntity::from(EntityKey::new(table.folded(), schema.entity.as_str())?);
    for (name, value) in row.iter().filter(|(name, _)| is_same || !HISTORY.contains(name)) {
        named.insert(name, value.clone());
    }
    if !is_same {
        let mut schema = schema.clone();
        schema.table = table.to_string();
        named.insert("Fingerprint", schema.fingerprint().to_string());
        let pieces = (0..).map(piece).take_while(|name| row.get(name).is_some());
        pieces.for_each(|name| drop(named.remove(&name)));
        for (at, text) in cut(&schema.to_string()).into_iter().enumerate() {
            named.insert(piece(at), text);
        }
    }
    Ok(named)
}

/// Returns the name of the property that stores piece `at` of a schema's text.
fn piece(at: usize) -> String {
    if at == 0 { "Schema".to_owned() } else { format!("Schema{at}") }
}

/// Splits a string into pieces that each fit into one property.
fn cut(text: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut units) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        if units + character.len_utf16() > PIECE {
            pieces.push(std::mem::take(&mut piece));
            units = 0;
        }
        units += character.len_utf16();
        piece.push(character);
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::{Engine, Entity};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(team)]
    #[row_key("id_", id)]
    struct Member {
        team: String,
        #[digits(4)]
        id: u32,
        name: String,
    }

    #[tokio::test]
    async fn a_schema_of_a_renamed_table_is_readable_under_the_other_name() {
        let [source, target] = [Engine::in_memory(), Engine::in_memory()];
        source.table::<Member>().create_if_missing().await.unwrap();
        let [company, people] = ["Company", "People"].map(|name| TableName::new(name).unwrap());
        let rows = SchemaRows::read(&DynTableStore::new(source), &company).await.unwrap();
        rows.store(&DynTableStore::new(target.clone()), &people).await.unwrap();
        rows.store(&DynTableStore::new(target.clone()), &people).await.unwrap();
        let members = target.table_named::<Member>("People").unwrap().create_if_missing().await.unwrap();
        let record = members.schema_record().await.unwrap().unwrap();
        assert_eq!((record.schema.table.as_str(), record.generation), ("People", 1));
        assert!(record.pending.is_empty(), "{:?}", record.pending);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "\u{1F600}".repeat(PIECE);
        let pieces = cut(&text);
        assert!(pieces.iter().all(|piece| piece.encode_utf16().count() <= PIECE), "{}", pieces.len());
        assert_eq!(pieces.concat(), text);
    }
}
