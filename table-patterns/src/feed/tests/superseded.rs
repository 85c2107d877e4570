//! Tests a backfill of a feed while another program begins a new pass.

use pollster::block_on;
use table_core::Entity;
use table_core::embedded::Engine;
use table_core::table::SchemaRecord;

use crate::EntityStore;
use crate::entities::Entities;
use crate::fence;
use crate::tests::faults::{Call, Fault, FaultyStore};

#[derive(Entity)]
#[entity(table = "Visits", feed)]
#[partition_key(site)]
#[row_key(number)]
struct Visit {
    site: String,
    number: u32,
}

const NOTE: &str = "keeps feed";

/// Makes the feed pending, with a new pass.
fn restart<O>(visits: &Entities<Visit, FaultyStore<Engine>, O>, pass: u64) {
    let restart = |record: &mut SchemaRecord| fence::restart(record, NOTE, pass);
    block_on(visits.table().update_schema_record(restart)).unwrap();
}

#[test]
fn imp_6_a_superseded_backfill_of_a_feed_asks_for_another_run() {
    let mut superseded = 0;
    for request in 0..10 {
        let engine = Engine::in_memory();
        let store = FaultyStore::new(engine.clone());
        let visits = block_on(store.entities::<Visit>().create_if_missing()).unwrap();
        restart(&visits, 6);
        let rival = block_on(FaultyStore::new(engine).entities::<Visit>().create_if_missing()).unwrap();
        let mut rival = Some(rival);
        store.script(move |_: Call, number| match rival.take_if(|_| number == request) {
            Some(rival) => Fault::Meanwhile(Box::new(move || restart(&rival, 7))),
            None => Fault::None,
        });
        let delay = block_on(visits.backfill_feed().assume_no_older_programs().run()).unwrap();
        store.heal();
        let record = block_on(visits.table().schema_record()).unwrap().unwrap();
        let is_pending = record.pending.iter().any(|pending| pending == NOTE);
        assert_eq!(is_pending, delay.is_some(), "request {request}");
        superseded += u32::from(is_pending);
    }
    assert!(superseded > 0);
}
