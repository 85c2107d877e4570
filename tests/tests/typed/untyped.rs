//! Tests tables with untyped entities, on the in-memory engine.

use table_core::embedded::Engine;
use table_core::query::TextRange;
use table_core::{ErrorCode, IfMatch, Result, Selection, TableEntity, TableStoreExt, Value};

fn bag(row_key: &str, age: i32) -> Result<TableEntity> {
    Ok(TableEntity::new("Sales", row_key)?.with("Age", age).with("Name", row_key))
}

#[test]
fn bags_have_the_verbs_of_typed_entities() -> Result<()> {
    pollster::block_on(async {
        let table = Engine::in_memory().untyped("Anything")?.create_if_missing().await?;
        let etag = table.insert(&bag("a", 30)?).await?;
        table.bulk().insert_all([bag("b", 31)?, bag("c", 32)?]).await.unwrap();
        let read = table.get(Selection::point("Sales", "a")).await?.unwrap();
        assert_eq!((read.etag(), read.value().etag()), (&etag, Some(&etag)));

        let updated = table.update(&read, |bag| drop(bag.remove("Name"))).await?;
        assert_eq!(updated.value().etag(), Some(updated.etag()));
        assert_eq!(updated.value().get("Name"), None);
        let again = table.get(read.value().key()).await?.unwrap();
        assert_eq!(again.value(), updated.value());

        let mut sales = table.transaction(Selection::partition("Sales"))?;
        sales.merge(&bag("b", 40)?, IfMatch::Any)?.delete(Selection::point("Sales", "c"), IfMatch::Any)?;
        sales.commit().await?;
        let all = table.query(Selection::partition("Sales")).collect().await?;
        assert_eq!(
            all.iter().map(|bag| bag.get("Age").cloned()).collect::<Vec<_>>(),
            [30, 40].map(|age| Some(age.into()))
        );
        assert_eq!(table.query(Selection::rows("Sales", TextRange::prefix("b"))).collect().await?.len(), 1);
        Ok(())
    })
}

#[test]
fn filters_and_names_as_text() -> Result<()> {
    pollster::block_on(async {
        let table = Engine::in_memory().untyped("Anything")?.create_if_missing().await?;
        for (row_key, age) in [("a", 30), ("b", 31), ("c", 32)] {
            table.insert(&bag(row_key, age)?).await?;
        }
        let query = table.query_text("PartitionKey eq 'Sales' and RowKey ge 'b' and Age lt 32")?;
        let found = query.select(["Name"]).collect().await?;
        assert_eq!(
            found.iter().flat_map(TableEntity::iter).collect::<Vec<_>>(),
            [("Name", &Value::from("b"))]
        );
        let narrowed =
            table.query(Selection::partition("Sales")).filter_text("Age gt 30")?.filter_text(" ")?;
        assert_eq!(narrowed.collect().await?.len(), 2);

        // A query over the entire table requires a different function (DQ-5).
        let error = table.query_text("Age gt 30").unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("DQ-5")));
        // The Timestamp is not indexed (ETAG-7).
        assert!(table.query_text("Timestamp ge datetime'2020-01-01T00:00:00Z'").is_err());
        assert_eq!(table.query_text("Age greater 30").unwrap_err().code(), ErrorCode::InvalidInput);
        assert_eq!(table.scan("all of it").max_rows(10).collect().await?.len(), 3);
        Ok(())
    })
}
