//! Tests of the columns of tables without stored schemas. They cover samples, types missing from the sample, and tables with many properties.

mod common;

use common::answer;
use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt, Value};
use table_sql::{SqlOptions, session};

#[tokio::test]
async fn a_value_of_a_type_that_no_sampled_row_had_ends_the_statement() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Late").unwrap().create_if_missing().await.unwrap();
    for (at, amount) in
        [Value::Int32(1), Value::Int32(2), Value::Int64(5_000_000_000)].into_iter().enumerate()
    {
        let entity = TableEntity::new("p", at.to_string()).unwrap().with("Amount", amount);
        table.insert(&entity).await.unwrap();
    }
    let store = DynTableStore::new(engine);
    let statement = "SELECT sum(Amount) FROM Late";
    for (sample, is_complete) in [(Some(2), false), (Some(3), true), (None, true)] {
        let session = session(&store, &SqlOptions { sample, ..SqlOptions::default() }).await.unwrap();
        let summed = session.sql(statement).await.unwrap().collect().await;
        assert_eq!(summed.is_ok(), is_complete, "{sample:?}: {summed:?}");
        if let Err(error) = summed {
            let text = error.to_string();
            assert!(
                text.contains("`Amount` of ('p', '2') is of type Edm.Int64") && text.contains("--sample 0"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn a_sample_has_the_declared_number_of_rows() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Long").unwrap().create_if_missing().await.unwrap();
    for at in 0..1_300 {
        let name = if at == 1_199 { "Late" } else { "Early" };
        let entity = TableEntity::new("p", format!("{at:04}")).unwrap().with(name, at);
        table.insert(&entity).await.unwrap();
    }
    let store = DynTableStore::new(engine);
    for (sample, is_known) in [(999, false), (1_000, false), (1_199, false), (1_200, true), (5_000, true)] {
        let session =
            session(&store, &SqlOptions { sample: Some(sample), ..SqlOptions::default() }).await.unwrap();
        assert_eq!(session.sql("SELECT \"Late\" FROM \"Long\"").await.is_ok(), is_known, "{sample}");
    }
}

#[tokio::test]
async fn a_statement_reads_more_properties_than_a_request_can_name() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Wide").unwrap().create_if_missing().await.unwrap();
    for row in 0..3 {
        let names = (0..100).map(|at| format!("P{row}x{at}"));
        let entity = TableEntity::new("p", row.to_string()).unwrap();
        let entity = names.fold(entity, |entity, name| entity.with(&*name, "a"));
        table.insert(&entity).await.unwrap();
    }
    let session = session(&DynTableStore::new(engine), &SqlOptions::default()).await.unwrap();
    let all = session.sql("SELECT * FROM Wide").await.unwrap().collect().await.unwrap();
    assert_eq!((all[0].num_columns(), all.iter().map(|batch| batch.num_rows()).sum::<usize>()), (303, 3));
    let sum: usize = all.iter().flat_map(|batch| batch.columns()).map(|column| column.null_count()).sum();
    assert_eq!(sum, 600);
}

#[tokio::test]
async fn a_condition_that_is_too_long_for_a_request_is_not_sent() {
    let engine = Engine::in_memory();
    let table = engine.untyped("Texts").unwrap().create_if_missing().await.unwrap();
    let long = "é".repeat(10_000);
    table.insert(&TableEntity::new("p", "1").unwrap().with("Text", long.as_str())).await.unwrap();
    let session = session(&DynTableStore::new(engine), &SqlOptions::default()).await.unwrap();
    for (text, is_sent) in [("é", true), (&*long, false)] {
        let condition = format!("\"Text\" = '{text}'");
        assert_eq!(answer(&session, "Texts", &condition).await.len(), usize::from(!is_sent));
        let plan = session.sql(&format!("EXPLAIN SELECT RowKey FROM Texts WHERE {condition}")).await.unwrap();
        let plan = format!("{:?}", plan.collect().await.unwrap());
        assert_eq!(plan.contains("Text eq "), is_sent);
    }
}
