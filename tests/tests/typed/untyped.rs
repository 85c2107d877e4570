//! Untyped tables and the blocking façade, on the engine in memory.

use table_core::embedded::Engine;
use table_core::query::TextRange;
use table_core::{ErrorCode, IfMatch, Result, Selection, TableEntity, TableStoreExt, Value};
use tests::employee::Employee;

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

        // DQ-5: the whole table is another verb.
        let error = table.query_text("Age gt 30").unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("DQ-5")));
        // ETAG-7: the Timestamp is not indexed.
        assert!(table.query_text("Timestamp ge datetime'2020-01-01T00:00:00Z'").is_err());
        assert_eq!(table.query_text("Age greater 30").unwrap_err().code(), ErrorCode::InvalidInput);
        assert_eq!(table.scan("all of it").max_rows(10).collect().await?.len(), 3);
        Ok(())
    })
}

#[test]
fn the_blocking_store_has_the_same_programs() -> Result<()> {
    let store = Engine::in_memory().blocking();
    let employees = store.table::<Employee>().create_if_missing()?;
    employees.insert(&Employee::new("Sales", 1))?;
    employees.bulk().insert_all((2..10).map(|id| Employee::new("Sales", id))).unwrap();
    let ada = employees.update(Employee::key("Sales", 1), |employee| employee.age = 31)?;
    employees.patch(Employee::key("Sales", 2)).set(Employee::AGE, 32).if_match(IfMatch::Any).send()?;
    let mut sales = employees.transaction(Employee::partition("Sales"))?;
    sales.replace(&Employee::new("Sales", 1), ada.etag())?.delete(Employee::key("Sales", 9), IfMatch::Any)?;
    sales.commit()?;
    let sales = || employees.query(Employee::partition("Sales")).top(3);
    assert_eq!(sales().collect()?.len(), 8);
    assert_eq!(
        sales().iter().map(|employee| employee.unwrap().id).collect::<Vec<_>>(),
        (1..9).collect::<Vec<_>>()
    );
    assert_eq!(sales().filter(Employee::AGE.eq(32)).first()?.unwrap().id, 2);
    assert_eq!(sales().page()?.items.len(), 3);
    assert_eq!(employees.scan("to count", 100).for_each(drop)?, 8);
    assert_eq!(store.tables("").collect::<Result<Vec<_>>>()?.len(), 1);
    assert_eq!(employees.get(Employee::key("Sales", 9))?, None);
    Ok(())
}
