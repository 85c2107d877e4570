//! Tests that the store of the examples counts requests and rows.

use table_core::TableStoreExt;

use examples::model::company::{Employee, employees};
use examples::store;

#[test]
fn metered_requests_are_counted_and_unmetered_ones_are_not() {
    pollster::block_on(async {
        let store = store::in_memory();
        let mut before = store.cost();
        let mut cost = || {
            let now = store.cost();
            (now - std::mem::replace(&mut before, now)).to_string()
        };
        let table = store.unmetered().table::<Employee>().create_if_missing().await.unwrap();
        table.bulk().insert_all(employees()).await.unwrap();
        assert_eq!(cost(), "0 requests, 0 rows read, 0 returned");

        let table = store.table::<Employee>();
        table.get(Employee::key("Sales", 223)).await.unwrap();
        table.get(Employee::key("Sales", 224)).await.unwrap();
        assert_eq!(cost(), "2 requests, 1 row read, 1 returned");
        let young = table.query(Employee::partition("Sales")).filter(Employee::AGE.lt(30));
        assert_eq!(young.collect().await.unwrap().len(), 1);
        assert_eq!(cost(), "1 request, 5 rows read, 1 returned");
        table.patch(Employee::key("Sales", 223)).set(Employee::AGE, 33).send().await.unwrap();
        assert_eq!(cost(), "1 request, 0 rows read, 0 returned, 1 written");
    });
}
