//! Tests that a table is copied over the Table service protocol into a container and back.

use table_azure::AzureTables;
use table_core::{Entity, TableName, TableStoreExt};
use table_cosmos::Options;
use table_patterns::migrate::Migration;

use crate::{runtime, store};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(device, day)]
#[row_key(minute)]
struct Reading {
    device: String,
    #[digits(3)]
    day: u16,
    #[digits(4)]
    minute: u16,
    celsius: f64,
    count: i64,
    note: Option<String>,
}

#[test]
fn dq_12_a_table_of_the_table_service_is_copied_to_a_container_and_back() {
    runtime().block_on(async {
        let [service, home] =
            [(); 2].map(|()| AzureTables::from_connection_string(&tests::served::for_the_process()).unwrap());
        let name = TableName::new("Readings").unwrap();
        let readings = service.table::<Reading>().create_if_missing().await.unwrap();
        for number in 0..120_u16 {
            let (device, celsius) = (format!("d{} é", number % 7), f64::from(number) / 3.0);
            let note = (number % 2 == 0).then(|| "東京 🚀".to_owned());
            let (day, count) = (number % 5, i64::from(number) << 40);
            readings.insert(&Reading { device, day, minute: number, celsius, count, note }).await.unwrap();
        }
        let store = store(16, Options::new().levels_of::<Reading>()).await;
        store.create("Readings", 2);

        // Each copy is interrupted after one page, and resumed from its stored checkpoint.
        let begin = || Migration::new(&service, &store.store, name.clone()).page(50);
        let mut there = begin();
        assert!(there.step().await.unwrap());
        let mut there = begin().resume(there.position().to_string().parse().unwrap()).unwrap();
        while there.step().await.unwrap() {}
        let begin = || Migration::new(&store.store, &home, name.clone()).page(50);
        let mut back = begin();
        assert!(back.step().await.unwrap());
        let mut back = begin().resume(back.position().to_string().parse().unwrap()).unwrap();
        while back.step().await.unwrap() {}

        let (from, to) = there.checksums().await.unwrap();
        assert_eq!((from, from.rows()), (to, 120));
        assert_eq!(back.checksums().await.unwrap(), (to, from));
        let found = home.table::<Reading>().query(Reading::within("d3 é")).collect().await.unwrap();
        assert_eq!(found.len(), 17);
    });
}
