//! Tests table handles in a program that has only a SAS for a single partition.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::duplicated_attributes, reason = "two indexes are unique")]

use std::time::Duration;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode, PartitionKey, QueueName, TableName, ticks};
use table_patterns::feed::Cursor;
use table_patterns::grant::PartitionGrant;
use table_patterns::index::IndexState;
use table_patterns::outbox::Outbox;
use table_patterns::work::{Sweep, Worker};
use table_patterns::{Entities, EntityStore};
use table_wire::auth::AccountKey;
use table_wire::sas::{SasVerifier, TablePermissions, TableSas};
use tests::time::Time;

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
        let token = sas.valid_for(Utc::now(), Duration::from_secs(60 * 60)).sign(&key).unwrap();
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

/// Returns a store that executes only the operations that a SAS for one partition of `table` permits.
fn bearer(store: &Engine, table: &str) -> impl TableStore + Clone + 'static {
    let key = AccountKey::new("contoso", "a2V5").unwrap();
    let sas = TableSas::table(TableName::new(table).unwrap()).partition("contoso").unwrap();
    let sas = sas.allow(TablePermissions::read("raud").unwrap());
    let token = sas.valid_for(Utc::now(), Duration::from_secs(60 * 60)).sign(&key).unwrap();
    SasVerifier::new(key).scoped(store.clone(), &token)
}

fn in_an_hour() -> DateTime<Utc> {
    Utc::now() + Duration::from_secs(60 * 60)
}

fn contoso() -> PartitionKey {
    PartitionKey::new("contoso").unwrap()
}

/// An entity with indexes, one of which is in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels", feed)]
#[partition_key(tenant)]
#[row_key("parcel_", number)]
#[index(ByCode, unique, row_key("code_", code))]
#[index(Everywhere, unique, table = "Codes", partition_key("code"), row_key(code))]
struct Parcel {
    tenant: String,
    #[digits(6)]
    number: u32,
    code: String,
}

fn parcel(number: u32, code: &str) -> Parcel {
    Parcel { tenant: "contoso".into(), number, code: code.into() }
}

#[test]
fn a_grant_lets_a_bearer_read_by_indexes_and_write_feeds_and_steps() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("work").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue.clone(), time.runtime());
        outbox.create_queues().await.unwrap();
        let all = store.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(time.runtime());
        let all = all.create_if_missing().await.unwrap();
        let bearer = bearer(&store, "Parcels");
        let own = Outbox::with_runtime(bearer.clone(), Engine::in_memory(), queue, time.runtime());
        let unopened = || bearer.entities_with_outbox::<Parcel, _>(own.clone()).with_runtime(time.runtime());
        let refused = unopened().insert(&parcel(1, "a")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::AuthorizationFailure);

        let text = all.grant(&contoso(), in_an_hour()).await.unwrap().to_string();
        let grant: PartitionGrant = text.parse().unwrap();
        let parcels = unopened().with_grant(&grant).unwrap();
        parcels.insert(&parcel(1, "a")).await.unwrap();
        parcels.update(Parcel::key("contoso", 1), |one| one.code = "b".into()).await.unwrap();
        assert!(parcels.get(Parcel::by_code("contoso", "a")).await.unwrap().is_none());
        assert_eq!(
            parcels.get(Parcel::by_code("contoso", "b")).await.unwrap().as_deref(),
            Some(&parcel(1, "b"))
        );
        let taken = parcels.insert(&parcel(2, "b")).await.unwrap_err();
        assert_eq!(taken.code(), ErrorCode::UniqueViolation);

        // Programs with more permissions find the changes, although the bearer has neither registered the partition nor sent a message.
        let entries = all.feed().read(all.table().name().unwrap(), &contoso(), &Cursor::default(), 10).await;
        assert_eq!(entries.unwrap().len(), 2);
        time.pass(Duration::from_secs(600));
        Sweep::new(outbox.clone()).sweep_registered().await.unwrap();
        Worker::new(outbox).with_index_handler(&all).run_until_idle().await.unwrap();
        assert!(all.get_eventual(Parcel::everywhere("b")).await.unwrap().is_some());
        assert!(all.get_eventual(Parcel::everywhere("a")).await.unwrap().is_none());
        assert!(all.check().run().await.unwrap().is_clean());
    });
}

mod before {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Parcels")]
    #[partition_key(tenant)]
    #[row_key("parcel_", number)]
    pub(super) struct Parcel {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub code: String,
    }
}

mod after {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Parcels")]
    #[partition_key(tenant)]
    #[row_key("parcel_", number)]
    #[index(ByCode, unique, row_key("code_", code))]
    pub(super) struct Parcel {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub code: String,
    }
}

async fn backfill(new: &Entities<after::Parcel, Engine>) -> Option<Duration> {
    new.backfill::<after::ParcelByCode>().run().await.unwrap().retry_after
}

#[test]
fn a_backfill_begins_after_the_grants_of_older_schemas_have_expired() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = store.entities::<before::Parcel>().with_runtime(time.runtime());
        let old = old.create_if_missing().await.unwrap();
        let hours = |hours: u64| Duration::from_secs(hours * 60 * 60);
        let now = || ticks::to_datetime(time.runtime().now()).unwrap();
        old.grant(&contoso(), now() + hours(5)).await.unwrap();
        let grant = old.grant(&contoso(), now() + hours(3)).await.unwrap(); // the first grant remains
        let bearer = bearer(&store, "Parcels").entities::<before::Parcel>().with_grant(&grant).unwrap();

        let new = store.entities::<after::Parcel>().with_runtime(time.runtime());
        let new = new.create_if_missing().await.unwrap();
        new.grant(&contoso(), now() + hours(1_000)).await.unwrap(); // does not delay the backfill of its own schema
        let (start, mut number) = (now(), 0);
        while let Some(rest) = backfill(&new).await {
            time.pass(rest / 2);
            if now() < start + hours(5) {
                number += 1;
                let parcel = before::Parcel { tenant: "contoso".into(), number, code: format!("c{number}") };
                bearer.insert(&parcel).await.unwrap();
            }
        }
        assert!(
            now() + Duration::from_secs(1) >= start + hours(6) && number > 2,
            "{number} parcels, {}",
            now() - start
        );
        assert_eq!(new.states().await.unwrap(), [("ByCode", IndexState::Ready)]);
        assert!(new.get(after::Parcel::by_code("contoso", format!("c{number}"))).await.unwrap().is_some());
        assert!(new.check().run().await.unwrap().is_clean());
        // From now on, the older release is rejected and cannot make a grant.
        time.pass(Duration::from_secs(6));
        let refused = old.grant(&contoso(), now() + hours(1)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::SchemaMismatch);
    });
}

#[test]
fn a_grant_for_another_schema_or_table_is_refused() {
    block_on(async {
        let store = Engine::in_memory();
        let old = store.entities::<before::Parcel>().create_if_missing().await.unwrap();
        let grant = old.grant(&contoso(), in_an_hour()).await.unwrap();
        for refused in [
            store.entities::<after::Parcel>().with_grant(&grant).map(drop),
            store.entities::<Ticket>().with_grant(&grant).map(drop),
            "{}".parse::<PartitionGrant>().map(drop),
        ] {
            assert_eq!(refused.unwrap_err().code(), ErrorCode::InvalidInput);
        }
        // A grant does not cover an index that is not ready.
        let new = store.entities::<after::Parcel>().create_if_missing().await.unwrap();
        let grant = new.grant(&contoso(), in_an_hour()).await.unwrap();
        let new = bearer(&store, "Parcels").entities::<after::Parcel>().with_grant(&grant).unwrap();
        assert!(new.get(after::Parcel::by_code("contoso", "a")).await.is_err());
    });
}
