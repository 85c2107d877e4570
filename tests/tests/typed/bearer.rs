//! Tests of handles for the bearer of a shared access signature of one partition.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, PartitionKey, TableName};
use table_patterns::EntityStore;
use table_patterns::feed::Cursor;
use table_wire::auth::AccountKey;
use table_wire::sas::{SasVerifier, TablePermissions, TableSas};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByMail, unique, row_key("mail_", mail))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    mail: String,
}

#[test]
fn a_bearer_writes_an_entity_with_a_feed_into_a_partition_that_is_kept_listed() {
    block_on(async {
        let store = Engine::in_memory();
        let all = store.entities::<Ticket>().create_if_missing().await.unwrap();
        let (desk, contoso) = (TableName::new("Desk").unwrap(), PartitionKey::new("contoso").unwrap());
        let key = AccountKey::new("contoso", "a2V5").unwrap();
        let sas = TableSas::table(desk.clone()).partition("contoso").unwrap();
        let sas = sas.allow(TablePermissions::read("raud").unwrap());
        let token = sas.valid_for(chrono::Utc::now(), Duration::from_secs(60 * 60)).sign(&key).unwrap();
        let bearer = SasVerifier::new(key).scoped(store.clone(), &token);
        let tickets = bearer.entities::<Ticket>().assume_indexes_ready();
        let ticket = |number| Ticket { tenant: "contoso".into(), number, mail: format!("m{number}") };
        assert!(tickets.insert(&ticket(1)).await.is_err(), "the bearer cannot list the partition");

        let feed = all.feed();
        feed.keep_listed(&desk, &contoso).await.unwrap();
        for number in 1..3 {
            tickets.insert(&ticket(number)).await.unwrap();
        }
        assert!(tickets.get(Ticket::by_mail("contoso", "m2")).await.unwrap().is_some());
        let entries = feed.read(&desk, &contoso, &Cursor::default(), 10).await.unwrap();
        let sources: Vec<_> = entries.iter().map(|entry| entry.source.as_str()).collect();
        assert_eq!(sources, ["ticket_000001", "ticket_000002"]);
    });
}
