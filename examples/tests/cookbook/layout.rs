//! Tests of layouts printed as text.

use table_core::{Entity, TableStoreExt};

use examples::layout::*;
use examples::model::company::{Employee, Expense, Review, employees, reviews};
use examples::store;

#[test]
fn a_layout_names_every_piece_in_order() {
    let text = of(Expense::SCHEMA).to_string();
    let expected = "\
┌─────────────────────────────────────────────────────────┐
│ Part           Of         Written as    Width   Ordered │
╞═════════════════════════════════════════════════════════╡
│ PartitionKey              'empid_'          6           │
│ PartitionKey   employee   digits(6)         6   yes     │
│ RowKey         at         desc(ticks)      19   yes     │
│ RowKey                    '_'               1           │
│ RowKey         number     digits(3)         3   yes     │
│ Amount         amount     Edm.Int64                     │
│ Purpose        purpose    Edm.String                    │
└─────────────────────────────────────────────────────────┘";
    assert_eq!(text, expected);
}

#[test]
fn golden_rows_match_the_schema_despite_a_shared_key_prefix() {
    pollster::block_on(async {
        let store = store::in_memory();
        store
            .table::<Employee>()
            .create_if_missing()
            .await
            .unwrap()
            .bulk()
            .insert_all(employees())
            .await
            .unwrap();
        store.table::<Review>().bulk().insert_all(reviews()).await.unwrap();
        let text = golden(&store, Review::SCHEMA).await.unwrap().to_string();
        assert!(text.contains("empid_000123_2011") && text.contains("empid_000123_2012"), "{text}");
        assert!(!text.contains("FirstName") && !text.contains("2013"), "{text}");
    });
}
