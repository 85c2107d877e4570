//! Tests lists that store whole keys, because the order of the entities' key parts is ambiguous or the parts are not strings.

use chrono::{DateTime, TimeDelta, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::queue::QueueName;
use table_core::table::TableStoreExt;
use table_core::{Entity, Value};

use crate::EntityStore;
use crate::outbox::Outbox;
use crate::work::Worker;

/// A visit. Its day is part of the `PartitionKey`. The key does not contain the instant, so index rows store it.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits", crate = table_core)]
#[partition_key(place, "_", truncate(pattern("yyyyMMdd", at)))]
#[row_key("visit_", id)]
#[index_entity(ByGuest, at_most = 100, row_key("guest_", guest))]
#[index_entity(Guests, at_most = 200, table = "Guests", partition_key(guest), row_key("all"))]
struct Visit {
    #[without('_')]
    place: String,
    id: u32,
    at: DateTime<Utc>,
    guest: String,
}

/// A ticket. Its number is also a property.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Tickets", crate = table_core)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
#[index_entity(Agents, at_most = 200, table = "Agents", partition_key(agent), row_key("all"))]
struct Ticket {
    tenant: String,
    #[digits(4)]
    #[property(also)]
    number: u32,
    agent: String,
}

/// Returns the properties of a row that contains a list, as text.
fn list(engine: &Engine, table: &str, [partition_key, row_key]: [&str; 2]) -> String {
    let key = table_core::key::EntityKey::new(partition_key, row_key).unwrap();
    let row = block_on(engine.untyped(table).unwrap().get(&key)).unwrap().expect("a list");
    let text = |(name, value): (&str, &Value)| match value {
        Value::String(text) => format!("{name} {text}"),
        other => panic!("{name} is {other:?}"),
    };
    row.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[test]
fn pat_ix_a_list_of_entities_whose_key_is_truncated_stores_keys() {
    let engine = Engine::in_memory();
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("indexes").unwrap());
    block_on(async {
        outbox.create_queues().await?;
        let visits = engine.entities_with_outbox::<Visit, _>(outbox.clone()).create_if_missing().await?;
        let noon = DateTime::from_timestamp(1_400_000_000, 0).expect("in 2014");
        let visit = |id, days| Visit {
            place: "Oslo".into(),
            id,
            at: noon + TimeDelta::days(days),
            guest: "Ada".into(),
        };
        for (id, days) in [(7, 0), (8, 0), (7, 1)] {
            visits.insert(&visit(id, days)).await?;
        }
        Worker::new(outbox.clone()).with_index_handler(&visits).run_until_idle().await?;
        let key = |id, days| visit(id, days).key_of();
        let here = visits.keys_of(Visit::by_guest("Oslo", noon, "Ada")).await?;
        assert_eq!(here, [key(7, 0)?, key(8, 0)?]);
        assert_eq!(visits.keys_of(Visit::guests("Ada")).await?, [key(7, 0)?, key(8, 0)?, key(7, 1)?]);
        let found = visits.get_by_index_eventual(Visit::guests("Ada")).await?;
        assert_eq!(found.len(), 3);
        assert_eq!(
            list(&engine, "Visits", ["Oslo_20140513", "guest_Ada"]),
            r#"VisitKeys ["visit_0000000007","visit_0000000008"]"#
        );
        assert!(visits.check().run().await?.is_clean());
        visits.delete(Visit::key("Oslo", noon, 7), IfMatch::Any).await?;
        Worker::new(outbox).with_index_handler(&visits).run_until_idle().await?;
        assert_eq!(visits.keys_of(Visit::guests("Ada")).await?, [key(8, 0)?, key(7, 1)?]);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_ix_a_list_of_entities_whose_key_field_is_also_a_number_stores_keys() {
    let engine = Engine::in_memory();
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("indexes").unwrap());
    block_on(async {
        outbox.create_queues().await?;
        let tickets = engine.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
        for number in [2, 1] {
            tickets.insert(&Ticket { tenant: "contoso".into(), number, agent: "Ada".into() }).await?;
        }
        Worker::new(outbox).with_index_handler(&tickets).run_until_idle().await?;
        let found = tickets.get_by_index(Ticket::by_agent("contoso", "Ada")).await?;
        assert_eq!(found.iter().map(|ticket| ticket.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            list(&engine, "Tickets", ["contoso", "agent_Ada"]),
            r#"TicketKeys ["ticket_0001","ticket_0002"]"#
        );
        assert_eq!(
            list(&engine, "Agents", ["Ada", "all"]),
            r#"TicketKeys [["contoso","ticket_0001"],["contoso","ticket_0002"]]"#
        );
        assert!(tickets.check().run().await?.is_clean());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
