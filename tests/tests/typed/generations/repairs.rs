//! Tests index repairs by an older program. Once a newer release has blocked its writes, the repairs must not change any rows.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::entity::Entity;
use table_core::table::LEASE;
use table_core::{EntityKey, IfMatch, QueueName, TableEntity, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::index::{Derived, EntryFingerprint, RemoteChange};
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;
use tests::time::Time;

use super::refused;

macro_rules! release {
    ($release:ident $(, $index:meta)?) => {
        mod $release {
            #[derive(table_core::Entity, Clone, Debug)]
            #[entity(table = "Members")]
            #[partition_key(club)]
            #[row_key("member_", id)]
            #[index(ByMail, row_key("mail_", mail, "_", id))]
            #[index(Mails, table = "Mails", partition_key("in_", club), row_key(mail, "_", id))]
            $(#[$index])?
            pub(super) struct Member {
                pub club: String,
                #[digits(4)]
                pub id: u32,
                #[without('_')]
                pub mail: String,
                pub badge: u32,
            }
        }
    };
}

release!(before);
release!(after, index(ByBadge, row_key("badge_", badge, "_", id)));

/// Damage to an index by another tool.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The index row with this key has been deleted.
    Missing(&'static str, &'static str, &'static str),
    /// The index row with this key has been copied to a key that belongs to no entity.
    Dangling(&'static str, &'static str, &'static str),
}

const DAMAGES: [Damage; 4] = [
    Damage::Missing("Members", "chess", "mail_ada_0001"),
    Damage::Missing("Mails", "in_chess", "ada_0001"),
    Damage::Dangling("Members", "chess", "mail_ada_0001"),
    Damage::Dangling("Mails", "in_chess", "ada_0001"),
];

async fn inflict(store: &Engine, damage: Damage) {
    let (Damage::Missing(table, club, row) | Damage::Dangling(table, club, row)) = damage;
    let (rows, key) = (store.untyped(table).unwrap(), EntityKey::new(club, row).unwrap());
    if matches!(damage, Damage::Missing(..)) {
        return rows.delete(&key, IfMatch::Any).await.unwrap();
    }
    let found = rows.get(&key).await.unwrap().unwrap();
    let mut copy = TableEntity::new(club, row.replace("ada", "zoe")).unwrap();
    found.iter().for_each(|(name, value)| drop(copy.insert(name, value.clone())));
    rows.insert(&copy).await.unwrap();
}

async fn stored(store: &Engine) -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for table in ["Members", "Mails"] {
        let scan = store.untyped(table).unwrap().scan("to compare").max_rows(1_000);
        rows.extend(scan.collect().await.unwrap());
    }
    rows
}

#[test]
fn a_refused_program_repairs_and_settles_nothing() {
    for damage in DAMAGES {
        block_on(async {
            let time = Time::default();
            let store = time.engine();
            let queue = QueueName::new("work").unwrap();
            let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
            outbox.create_queues().await.unwrap();
            let old = store.entities_with_outbox::<before::Member, _>(outbox.clone());
            let old = old.with_runtime(time.runtime()).create_if_missing().await.unwrap();
            let ada = before::Member { club: "chess".into(), id: 1, mail: "ada".into(), badge: 7 };
            old.insert(&ada).await.unwrap();
            Worker::new(outbox.clone()).with_index_handler(&old).run_until_idle().await.unwrap();
            let new = store.entities_with_outbox::<after::Member, _>(outbox);
            let new = new.with_runtime(time.runtime()).create_if_missing().await.unwrap();
            new.backfill::<after::MemberByBadge>().assume_no_older_programs().run().await.unwrap();
            time.pass(LEASE * 2);
            assert!(new.check().run().await.unwrap().is_clean());

            inflict(&store, damage).await;
            let rows = stored(&store).await;
            assert!(refused(old.check().repair().run().await), "{damage:?}");
            let index = before::Member::SCHEMA.indexes.iter().find(|index| index.name == "Mails").unwrap();
            let change = RemoteChange {
                of: Derived::Index(index),
                owner: before::Member::key("chess", 1).key().unwrap(),
                keys: vec![EntityKey::new("in_chess", "ada_0001").unwrap()],
                fingerprint: EntryFingerprint::Unknown,
            };
            assert!(refused(old.settle(&change).await), "{damage:?}");
            assert_eq!(stored(&store).await, rows, "{damage:?}");
            assert_eq!(new.check().repair().run().await.unwrap().repaired, 1, "{damage:?}");
        });
    }
}
