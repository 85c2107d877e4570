//! Stores and deletes the schema records of a table.

use table_store::Result;

use crate::etag::{ETag, IfMatch};
use crate::key::{EntityKey, PartitionKey};
use crate::name::TableName;
use crate::operation::{Operation, OperationKind};
use crate::query::{KeyRange, Query};
use crate::retry::Retry;
use crate::store::TableStore;
use crate::table::layout::next::{Next, next};
use crate::table::layout::proposal::Proposal;
use crate::table::layout::record::{self, LAYOUTS, SchemaRecord};
use crate::table::layout::sighting;
use crate::table::layout::unknown::Stored;
use crate::table::request;
use crate::transaction::Transaction;

/// Replaces the stored schemas. Each new schema must be compatible with its predecessor, unless a reason for accepting it is passed in `accepted`.
///
/// All schemas are compared before any is written. If one is refused, none is changed. They are written in one transaction if they fit, and otherwise in
/// several. The schemas must have distinct names.
pub(super) async fn store<S: TableStore>(
    store: &S,
    table: &TableName,
    mut proposals: Vec<Proposal<'_>>,
    now: u64,
    accepted: Option<&str>,
) -> Result<Vec<Stored>> {
    let (retry, layouts) = (Retry::default(), record::table()?);
    let mut race = retry.start("the stored schema");
    let mut outcomes: Vec<Option<Stored>> = vec![None; proposals.len()];
    loop {
        let partition_key = PartitionKey::new(table.folded())?;
        let mut transaction = Transaction::new(partition_key, store.capabilities().limits)?;
        let mut written = Vec::new();
        let waiting = proposals.iter().zip(&mut outcomes).filter(|(_, outcome)| outcome.is_none());
        for (proposal, outcome) in waiting {
            let layout = match next(store, table, proposal, accepted).await? {
                Next::Stored(stored) => {
                    *outcome = Some(stored);
                    continue;
                }
                Next::First(layout) => *layout,
                Next::Follows(layout, stored) => layout.following(*stored, now),
            };
            match transaction.push(operation(table, proposal, &layout)?) {
                Ok(()) => written.push((outcome, Stored::own(&layout, None))),
                // This transaction does not accept the write. The next transaction writes this schema.
                Err(_) if !written.is_empty() => {}
                Err(error) => return Err(error.with_table(LAYOUTS)),
            }
        }
        if !written.is_empty() {
            match request::submit(store, &layouts, transaction).await {
                Ok(etags) => {
                    for ((outcome, stored), etag) in written.into_iter().zip(etags) {
                        *outcome = Some(Stored { etag, ..stored });
                    }
                }
                Err(error) if error.is_table_not_found() => {
                    request::create_if_missing(store, &layouts).await?;
                    race.retry(error).await?;
                    for proposal in &mut proposals {
                        proposal.stored = None;
                    }
                    continue;
                }
                // Another program has stored a schema in the meantime, so the schemas are compared again.
                Err(error) if error.is_conflict() => race.retry(error).await?,
                Err(error) => return Err(error),
            }
        }
        if let Some(stored) = outcomes.iter().cloned().collect() {
            return Ok(stored);
        }
        for (proposal, _) in proposals.iter_mut().zip(&outcomes).filter(|(_, outcome)| outcome.is_none()) {
            proposal.read_again(store, table).await?;
        }
    }
}

/// Returns the operation that writes a record. It fails if another program has written the record in the meantime.
fn operation(table: &TableName, proposal: &Proposal<'_>, layout: &SchemaRecord) -> Result<Operation> {
    let row_key = record::key(table, &proposal.design.entity)?.row_key;
    let row = layout.to_row(table)?;
    let kind = match &proposal.stored {
        Some(stored) => OperationKind::Replace(row, IfMatch::ETag(stored.etag.clone())),
        None => OperationKind::Insert(row),
    };
    Ok(Operation { row_key, kind })
}

/// Returns the key and version of each row that describes a table, such as schema records and index ownership records.
///
/// Grants and records of running programs are omitted. These programs may also write to a later table with the same name.
pub(in crate::table) async fn recorded<S: TableStore>(
    store: &S,
    table: &TableName,
) -> Result<Vec<(EntityKey, ETag)>> {
    let layouts = record::table()?;
    let query = Query::new(KeyRange::partition(table.folded()));
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = match store.query(&layouts, &query, from.as_ref()).await {
            Ok(page) => page,
            Err(error) if error.is_table_not_found() => return Ok(found),
            Err(error) => return Err(error),
        };
        for entity in page.rows.iter().filter(|entity| !sighting::is_of_program(entity.row_key)) {
            found.push((record::key(table, entity.row_key)?, entity.etag()));
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(found);
        }
    }
}

/// Deletes the rows that describe a deleted table. A row that has been rewritten since it was read is kept, because it may belong to a new table with the same
/// name.
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
    use crate::schema::StoredSchema;

    /// Stores one schema.
    async fn store_one(
        store: &Engine,
        table: &TableName,
        (design, stored): (&StoredSchema, Option<SchemaRecord>),
        is_new: bool,
        accepted: Option<&str>,
    ) -> Result<Vec<Stored>> {
        super::store(store, table, vec![Proposal { design, stored, is_new }], 1, accepted).await
    }

    fn schema(property: &str) -> StoredSchema {
        let text = format!(
            "schema 1\nentity E\ntable Company\nPartitionKey a text 0..512 ordered legal\n{property}\n"
        );
        text.parse().unwrap()
    }

    /// Tests that if another program has stored a schema since the table was created, the creator of the table compares its own schema with it.
    #[test]
    fn the_creator_of_a_table_compares_its_schema_with_one_stored_since() {
        block_on(async {
            let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
            let (older, newer) = (schema("property A Edm.String"), schema("property A Edm.Int64"));
            // In the second round, a record of an earlier table with this name exists, and must not affect the result.
            for is_again in [false, true] {
                let before = record::read(&store, &table, "E").await.unwrap();
                assert_eq!(before.is_some(), is_again);
                store.create_table(&table).await.unwrap();
                let seen = record::read(&store, &table, "E").await.unwrap();
                let accepted = is_again.then_some("another table");
                store_one(&store, &table, (&newer, seen), false, accepted).await.unwrap();
                let row = crate::row::RowWriter::new().finish();
                let key = EntityKey::new("p", "r").unwrap();
                request::write(&store, &table, key, OperationKind::Insert(row)).await.unwrap();
                let error = store_one(&store, &table, (&older, before), true, None).await.unwrap_err();
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
                store_one(&store, &table, (&schema(property), before), false, accepted).await
            };
            let a = |edm: &str| format!("property A {edm} optional");
            open(&a("Edm.String"), None).await.unwrap();
            open("property B Edm.String optional", None).await.unwrap();
            // The table is empty, so no row contains the removed property.
            open(&a("Edm.Int64"), None).await.unwrap();
            let row = crate::row::RowWriter::new().finish();
            let key = EntityKey::new("p", "r").unwrap();
            request::write(&store, &table, key, OperationKind::Insert(row)).await.unwrap();
            open("property C Edm.String optional", None).await.unwrap();
            open(&a("Edm.Int64"), None).await.unwrap();
            // The schema with `Edm.String` belongs to an older program.
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
    fn an_empty_table_keeps_the_indexes_the_feed_and_the_copies_of_its_schema() {
        block_on(async {
            const INDEX: &str = "index ByA copies\nindex ByA RowKey \"a_\"\nindex ByA RowKey .A text 0..512 ordered legal\nindex ByA keeps *\n";
            for part in ["keeps feed\n", "keeps copied_by Desk\n", "keeps copies_from Desk\n", INDEX] {
                let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
                store.create_table(&table).await.unwrap();
                let open = async |lines: &str, accepted: Option<&str>| {
                    let before = record::read(&store, &table, "E").await.unwrap();
                    let schema = schema(&format!("property A Edm.String\n{lines}"));
                    store_one(&store, &table, (&schema, before), false, accepted).await
                };
                open(part, None).await.unwrap();
                let error = open("", None).await.unwrap_err();
                assert_eq!(error.code(), ErrorCode::SchemaMismatch, "{part}");
                open("", Some("nothing reads it")).await.unwrap();
                open("property B Edm.String optional\n", None).await.unwrap();
            }
        });
    }

    #[test]
    fn the_record_of_a_new_table_is_kept_when_an_earlier_table_is_forgotten() {
        block_on(async {
            let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
            let (earlier, later) = (schema("property A Edm.String"), schema("property A Edm.Int64"));
            store.create_table(&table).await.unwrap();
            store_one(&store, &table, (&earlier, None), true, None).await.unwrap();
            let records = recorded(&store, &table).await.unwrap();
            store.delete_table(&table).await.unwrap();
            let before = record::read(&store, &table, "E").await.unwrap();
            store.create_table(&table).await.unwrap();
            store_one(&store, &table, (&later, before), true, None).await.unwrap();
            forget(&store, records).await.unwrap();
            let stored = record::read(&store, &table, "E").await.unwrap().unwrap();
            assert_eq!(stored.schema, later);
            forget(&store, recorded(&store, &table).await.unwrap()).await.unwrap();
            assert_eq!(record::read(&store, &table, "E").await.unwrap(), None);
        });
    }

    /// Tests that the rows that describe a deleted table are deleted, except sightings and grants, whose programs may write to a later table.
    #[test]
    fn the_rows_about_a_deleted_table_are_forgotten_except_for_those_of_programs() {
        block_on(async {
            let (store, table) = (Engine::in_memory(), TableName::new("Company").unwrap());
            let design = schema("property A Edm.String");
            store.create_table(&table).await.unwrap();
            store_one(&store, &table, (&design, None), true, None).await.unwrap();
            let layouts = record::table().unwrap();
            for row_key in ["\u{FFFC}owners", "\u{FFFC}granted"] {
                let row = crate::row::RowWriter::new().finish();
                let key = EntityKey::new(table.folded(), row_key).unwrap();
                request::write(&store, &layouts, key, OperationKind::Insert(row)).await.unwrap();
            }
            sighting::leave(&store, &table, "E").await.unwrap();
            let grants = (&store, &Retry::default());
            sighting::grant(grants, &table, ("E", design.fingerprint()), 7).await.unwrap();
            let keys = async || {
                let query = Query::new(KeyRange::partition(table.folded()));
                let page = store.query(&layouts, &query, None).await.unwrap();
                page.rows.iter().map(|row| row.row_key.to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(keys().await.len(), 5);
            forget(&store, recorded(&store, &table).await.unwrap()).await.unwrap();
            let granted = format!("\u{FFFC}granted E {}", design.fingerprint());
            assert_eq!(keys().await, [granted, "\u{FFFC}older E".to_owned()]);
        });
    }
}
