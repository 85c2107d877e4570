//! Stores and deletes the schema records of a table.

use table_store::{Error, Result};

use crate::etag::{ETag, IfMatch};
use crate::key::EntityKey;
use crate::mixed::is_reserved;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::query::{KeyRange, Query, Select, TextRange};
use crate::retry::Retry;
use crate::schema::{StoredPiece, StoredSchema};
use crate::store::{Exclusive, TableStore};
use crate::table::fault::TableFault;
use crate::table::layout::record::{self, SchemaRecord};
use crate::table::layout::renamed;
use crate::table::layout::unknown::{Stored, unknown_parts};
use crate::table::request;

/// Replaces the stored schema if the new one is compatible with it, or if the caller passes a reason in `accepted`.
///
/// `stored` is the record that was read before the table was created or found. If this program created the table (`is_new`), this record is of an earlier
/// table. A record that was written since then is of the new table, so this schema is compared with it.
pub(super) async fn store<S: TableStore>(
    store: &S,
    table: &TableName,
    design: &StoredSchema,
    mut stored: Option<SchemaRecord>,
    (mut is_new, now): (bool, u64),
    accepted: Option<&str>,
) -> Result<Stored> {
    let retry = Retry::default();
    let mut race = retry.start("the stored schema");
    loop {
        let etag = stored.as_ref().map(|stored| stored.etag.clone());
        let layout =
            match next(store, table, design, stored.take().filter(|_| !is_new), is_new, accepted).await? {
                Next::Stored(stored) => return Ok(stored),
                Next::First(layout) => *layout,
                Next::Follows(layout, stored) => layout.following(*stored, now),
            };
        let (settling, is_replaced) = (layout.settling, !layout.superseded.is_empty());
        let row = layout.to_row(table)?;
        let kind = match etag {
            Some(etag) => OperationKind::Replace(row, IfMatch::ETag(etag)),
            None => OperationKind::Insert(row),
        };
        match request::write(store, &record::table()?, record::key(table, &design.entity)?, kind).await {
            Ok(_) => {
                if let Some(exclusive) = store.capabilities().exclusive.as_ref().filter(|_| is_replaced) {
                    exclusive.note_replaced_schema();
                }
                return Ok(Stored { settling, ..Stored::default() });
            }
            Err(error) if error.is_table_not_found() => {
                request::create_if_missing(store, &record::table()?).await?;
                race.retry(error).await?;
                stored = None;
            }
            // Another program stored a schema first, so this schema is compared with the new one.
            Err(error) if error.is_conflict() => {
                is_new = false;
                race.retry(error).await?;
                stored = record::read(store, table, &design.entity).await?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The next step in storing a schema.
enum Next {
    /// This schema, or a newer compatible schema, is already stored. No further step is needed.
    Stored(Stored),
    First(Box<SchemaRecord>),
    /// A new schema must replace the stored schema. Contains the records of both.
    Follows(Box<SchemaRecord>, Box<SchemaRecord>),
}

async fn next<S: TableStore>(
    store: &S,
    table: &TableName,
    design: &StoredSchema,
    stored: Option<SchemaRecord>,
    is_new: bool,
    accepted: Option<&str>,
) -> Result<Next> {
    let Some(stored) = stored else {
        let mut layout = SchemaRecord::new(design.clone());
        let derived = derived_parts(design);
        let may_be_renamed = !is_new && accepted.is_none();
        let renamed = if may_be_renamed { renamed::find(store, table, design).await? } else { None };
        let matters = renamed.is_some() || (!derived.is_empty() && !is_new);
        if matters && !is_empty(store, table, &own_rows(design)).await? {
            if let Some(fault) = renamed {
                return Err(Error::of(fault).with_table(table.as_str()));
            }
            layout.pending = derived;
        }
        layout.accepted = accepted.map(|reason| reason.to_owned() + " (first schema stored)");
        return Ok(Next::First(Box::new(layout)));
    };
    if stored.schema == *design && accepted.is_none() {
        return Ok(Next::Stored(Stored { settling: stored.settling, ..Stored::default() }));
    }
    let evolution = stored.compare(design);
    let is_older = stored.supersedes(design);
    if (is_older || !evolution.compatibility().is_allowed()) && accepted.is_none() {
        return match is_older.then(|| unknown_parts(&stored, design, table)) {
            Some(Ok(unknown)) => Ok(Next::Stored(Stored { unknown, settling: false })),
            _ if is_empty(store, table, &TextRange::ALL).await? => {
                Ok(Next::Follows(Box::new(SchemaRecord::new(design.clone())), Box::new(stored)))
            }
            Some(Err(error)) => Err(error),
            None => {
                let fault = TableFault::Layout { entity: design.entity.clone(), evolution };
                Err(Error::of(fault).with_table(table.as_str()))
            }
        };
    }
    let before = stored.clone();
    // IMPORTANT: a new index is pending even on an empty table, because programs with the older schema may be writing the first rows.
    let mut layout = stored.evolved(design.clone(), &evolution);
    let adds_properties =
        evolution.changes.iter().any(|change| ["EVO-1", "EVO-34"].contains(&change.rule.id));
    layout.settling |= adds_properties && accepted.is_none() && has_other_programs(store);
    if let Some(reason) = accepted {
        let rules: Vec<_> = evolution.changes.iter().map(|change| change.rule.id).collect();
        let rules = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
        layout.accepted = Some(format!("{reason} ({}{rules})", evolution.compatibility()));
    }
    Ok(Next::Follows(Box::new(layout), Box::new(before)))
}

/// Returns `true` if other processes may use the store at the same time.
fn has_other_programs<S: TableStore>(store: &S) -> bool {
    store.capabilities().exclusive.as_ref().is_none_or(Exclusive::is_shared)
}

/// Returns the indexes, feed and copies that a schema declares. Programs with other schemas do not maintain them; see [`SchemaRecord::pending`].
fn derived_parts(design: &StoredSchema) -> Vec<String> {
    let indexes = design.indexes.iter().map(|index| format!("index {}", index.name));
    indexes.chain(design.keeps.iter().map(|kept| format!("keeps {kept}"))).collect()
}

/// Returns a range that contains the `RowKey`s of a schema's entities: all keys with the literal at the start of the `RowKey` as prefix, or all keys
/// without such a literal.
fn own_rows(design: &StoredSchema) -> TextRange {
    match design.row_key.as_slice() {
        [StoredPiece::Literal(literal), ..] => TextRange::prefix(literal),
        _ => TextRange::ALL,
    }
}

/// Returns `true` if a table has no rows with `RowKey`s in a range, except rows that are reserved for patterns.
async fn is_empty<S: TableStore>(store: &S, table: &TableName, row_key: &TextRange) -> Result<bool> {
    let keys = KeyRange { partition_key: TextRange::ALL, row_key: row_key.clone() };
    let query = Query { select: Select::names(["PartitionKey", "RowKey"]), ..Query::new(keys) };
    let mut from = None;
    // An empty page is not necessarily the last one (PAGE-3).
    loop {
        let page = request::page(store, table, &query, from.as_ref()).await?;
        if page.rows.iter().any(|row| !is_reserved(row.row_key)) {
            return Ok(false);
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(true);
        }
    }
}

/// Returns the records of a table: the key and the version of each.
pub(in crate::table) async fn recorded<S: TableStore>(
    store: &S,
    table: &TableName,
) -> Result<Vec<(EntityKey, ETag)>> {
    let layouts = record::table()?;
    let query = Query::new(KeyRange::partition(table.folded()));
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = match request::page(store, &layouts, &query, from.as_ref()).await {
            Ok(page) => page,
            Err(error) if error.is_table_not_found() => return Ok(found),
            Err(error) => return Err(error),
        };
        for entity in page.rows.iter() {
            found.push((record::key(table, entity.row_key)?, entity.etag()));
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(found);
        }
    }
}

/// Deletes the records of a table that was deleted. A record that was written since it was read may be of a new table with this name, and is kept.
pub(in crate::table) async fn forget<S: TableStore>(
    store: &S,
    recorded: Vec<(EntityKey, ETag)>,
) -> Result<()> {
    let layouts = record::table()?;
    for (key, etag) in recorded {
        let kind = OperationKind::Delete(IfMatch::ETag(etag));
        match request::write(store, &layouts, key, kind).await {
            Err(error) if !error.is_not_found() && !error.is_precondition_failed() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::ErrorCode;
    use crate::embedded::Engine;

    fn schema(property: &str) -> StoredSchema {
        let text = format!(
            "schema 1\nentity E\ntable Company\nPartitionKey a text 0..512 ordered legal\n{property}\n"
        );
        text.parse().unwrap()
    }

    /// The creator of a table stores its schema after another program opened the new table.
    #[test]
    fn the_creator_of_a_table_compares_its_schema_with_one_stored_since() {
        block_on(async {
            let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
            let (older, newer) = (schema("property A Edm.String"), schema("property A Edm.Int64"));
            // A record of an earlier table with this name does not count.
            for is_again in [false, true] {
                let before = record::read(&store, &table, "E").await.unwrap();
                assert_eq!(before.is_some(), is_again);
                store.create_table(&table).await.unwrap();
                let seen = record::read(&store, &table, "E").await.unwrap();
                let accepted = is_again.then_some("another table");
                super::store(&store, &table, &newer, seen, (false, 1), accepted).await.unwrap();
                let row = crate::row::RowWriter::new().finish();
                let key = EntityKey::new("p", "r").unwrap();
                request::write(&store, &table, key, OperationKind::Insert(row)).await.unwrap();
                let error = super::store(&store, &table, &older, before, (true, 2), None).await.unwrap_err();
                assert_eq!(error.code(), ErrorCode::SchemaMismatch);
                let stored = record::read(&store, &table, "E").await.unwrap().unwrap();
                assert_eq!(stored.schema, newer);
                store.delete_table(&table).await.unwrap();
            }
        });
    }

    #[test]
    fn a_removed_property_is_not_declared_again_with_another_type_unless_the_schema_is_accepted() {
        block_on(async {
            let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
            store.create_table(&table).await.unwrap();
            let open = async |property: &str, accepted: Option<&str>| {
                let before = record::read(&store, &table, "E").await.unwrap();
                super::store(&store, &table, &schema(property), before, (false, 1), accepted).await
            };
            let a = |edm: &str| format!("property A {edm} optional");
            open(&a("Edm.String"), None).await.unwrap();
            open("property B Edm.String optional", None).await.unwrap();
            // An empty table has no row with the removed property.
            open(&a("Edm.Int64"), None).await.unwrap();
            let row = crate::row::RowWriter::new().finish();
            let key = EntityKey::new("p", "r").unwrap();
            request::write(&store, &table, key, OperationKind::Insert(row)).await.unwrap();
            open("property C Edm.String optional", None).await.unwrap();
            open(&a("Edm.Int64"), None).await.unwrap();
            // The schema with a string is that of an older program.
            for edm in ["Edm.String", "Edm.Guid"] {
                let error = open(&a(edm), None).await.unwrap_err();
                assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-8")), "{edm}");
            }
            open(&a("Edm.Guid"), Some("no row has it")).await.unwrap();
            open(&a("Edm.Guid"), None).await.unwrap();
            let error = open(&a("Edm.Int64"), None).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-8")));
        });
    }

    #[test]
    fn the_record_of_a_new_table_is_kept_when_an_earlier_table_is_forgotten() {
        block_on(async {
            let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
            let (earlier, later) = (schema("property A Edm.String"), schema("property A Edm.Int64"));
            store.create_table(&table).await.unwrap();
            super::store(&store, &table, &earlier, None, (true, 1), None).await.unwrap();
            let records = recorded(&store, &table).await.unwrap();
            store.delete_table(&table).await.unwrap();
            let before = record::read(&store, &table, "E").await.unwrap();
            store.create_table(&table).await.unwrap();
            super::store(&store, &table, &later, before, (true, 2), None).await.unwrap();
            forget(&store, records).await.unwrap();
            let stored = record::read(&store, &table, "E").await.unwrap().unwrap();
            assert_eq!(stored.schema, later);
            forget(&store, recorded(&store, &table).await.unwrap()).await.unwrap();
            assert_eq!(record::read(&store, &table, "E").await.unwrap(), None);
        });
    }
}
