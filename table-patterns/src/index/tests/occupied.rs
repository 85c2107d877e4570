//! Tests that an index never replaces a row that is not one of its entries, such as an entity of another type (PAT-HET-2).

use pollster::block_on;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::table::TableStoreExt;
use table_core::{Entity, Error, ErrorCode, Result, ToEntity};

use super::kit::{Records, Rows, records, stored};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::FindingKind;

/// An earlier release of the program, which does not have the indexes.
mod before {
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Desk", crate = table_core)]
    #[partition_key(tenant)]
    #[row_key("no_", number)]
    pub(super) struct Ticket {
        pub(super) tenant: String,
        #[digits(3)]
        pub(super) number: u32,
        pub(super) mail: String,
        pub(super) rank: u32,
    }

    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Staff", crate = table_core)]
    #[partition_key(department)]
    #[row_key(id)]
    pub(super) struct Employee {
        pub(super) department: String,
        #[digits(3)]
        pub(super) id: u32,
        pub(super) badge: String,
    }
}

/// An entity with copies in its partition and in another table. The key of its second copy in the partition contains the entity's whole key.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Desk", crate = table_core)]
#[partition_key(tenant)]
#[row_key("no_", number)]
#[index(ByMail, unique, row_key("mail_", mail))]
#[index(ByRank, row_key("rank_", rank, "_", number))]
#[index_entity(Ranked, at_most = 9, row_key("list_", rank))]
#[index(Cards, table = "Cards", partition_key("cards"), row_key(tenant, "_", number))]
struct Ticket {
    #[without('_')]
    tenant: String,
    #[digits(3)]
    number: u32,
    mail: String,
    #[digits(2)]
    rank: u32,
}

/// An employee. Its copies have `RowKey`s in the same format as the entities.
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Staff", crate = table_core)]
#[partition_key(department)]
#[row_key(id)]
#[index(ByBadge, unique, partition_key("badge_", badge), row_key(id))]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    badge: String,
}

const TABLES: [&str; 2] = ["Desk", "Cards"];
/// The keys of [`ticket`]'s index rows in its partition.
const ROWS: [&str; 3] = ["mail_ada", "rank_07_001", "list_07"];

fn ticket() -> Ticket {
    Ticket { tenant: "contoso".into(), number: 1, mail: "ada".into(), rank: 7 }
}

fn invoice(partition_key: &str, row_key: &str) -> TableEntity {
    TableEntity::new(partition_key, row_key).unwrap().with("Amount", 5)
}

fn desk() -> (Engine, Entities<Ticket, Engine, Records>) {
    let engine = Engine::in_memory();
    let tickets = block_on(engine.entities_with_outbox::<Ticket, _>(Records::default()).create_if_missing());
    (engine, tickets.unwrap())
}

async fn all(engine: &Engine) -> Result<Rows> {
    stored(engine, &TABLES).await
}

fn assert_occupied(error: &Error, at: (&str, &str)) {
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-HET-2")), "{error}");
    assert_eq!(error.key(), Some(at), "{error}");
}

#[test]
fn pat_het_2_a_write_whose_index_row_exists_as_an_entity_is_refused_by_every_verb() {
    for row_key in ROWS {
        block_on(async {
            let (engine, tickets) = desk();
            engine.untyped("Desk")?.insert(&invoice("contoso", row_key)).await?;
            let before = all(&engine).await?;
            let own = ticket();
            let mut errors = vec![
                tickets.insert(&own).await.map(drop).unwrap_err(),
                tickets.insert_or_replace(&own).await.map(drop).unwrap_err(),
                tickets.insert_or_merge(&own).await.map(drop).unwrap_err(),
            ];
            let bulk = tickets.bulk().insert_all([own.clone()]).await;
            assert!(bulk.is_err());
            assert_eq!(all(&engine).await?, before, "{row_key}");
            // The list for another rank is an entry of the same entity.
            let other = Ticket { mail: "bob".into(), rank: 9, ..own.clone() };
            tickets.insert(&other).await?;
            let before = all(&engine).await?;
            errors.push(tickets.replace(&own, IfMatch::Any).await.map(drop).unwrap_err());
            let key = Ticket::key("contoso", 1);
            errors.push(tickets.update(key, |now| *now = own.clone()).await.map(drop).unwrap_err());
            assert_eq!(all(&engine).await?, before, "{row_key}");
            for error in &errors {
                match row_key {
                    "list_07" => assert_eq!(error.code(), ErrorCode::EntityMismatch),
                    _ => assert_occupied(error, ("contoso", row_key)),
                }
            }
            tickets.delete(Ticket::key("contoso", 1), IfMatch::Any).await?;
            assert_eq!(all(&engine).await?.len(), 1);
            Ok::<_, Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_het_2_a_copy_that_an_older_program_left_is_replaced() {
    block_on(async {
        let (engine, tickets) = desk();
        tickets.insert(&ticket()).await?;
        let old = engine.table::<before::Ticket>();
        old.delete(before::Ticket::key("contoso", 1), IfMatch::Any).await?;
        tickets.insert(&Ticket { mail: "ada".into(), ..ticket() }).await?;
        assert!(tickets.get(Ticket::by_mail("contoso", "ada")).await?.is_some());
        let report = tickets.check().run().await?;
        assert!(report.findings.iter().all(|finding| finding.index == "Cards"), "{report:?}");
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn pat_het_2_settling_a_change_replaces_no_entity_in_the_table_of_the_index() {
    block_on(async {
        let (engine, tickets) = desk();
        engine.untyped("Cards")?.insert(&invoice("cards", "contoso_001")).await?;
        tickets.insert(&ticket()).await?;
        let before = all(&engine).await?;
        for (_, changes) in records::<Ticket, _>(&engine, "contoso").await? {
            for change in changes {
                let error = tickets.settle(&change).await.unwrap_err();
                assert_occupied(&error, ("contoso", "no_001"));
                assert!(error.to_string().contains("RowKey='contoso_001'"), "{error}");
            }
        }
        assert_eq!(all(&engine).await?, before);
        // The other row remains even if the ticket is deleted.
        tickets.delete(Ticket::key("contoso", 1), IfMatch::Any).await?;
        for (_, changes) in records::<Ticket, _>(&engine, "contoso").await? {
            for change in changes {
                let _ = tickets.settle(&change).await;
            }
        }
        let key = EntityKey::new("cards", "contoso_001")?;
        assert!(engine.untyped("Cards")?.get(&key).await?.is_some_and(|row| row.get("Amount").is_some()));
        Ok::<_, Error>(())
    })
    .unwrap();
}

/// Tests that a backfill keeps an entity that an older release has stored in a partition of an index, even if the entity's key looks like the key of a copy.
#[test]
fn pat_het_2_a_backfill_removes_no_entity_from_the_partitions_of_its_index() {
    block_on(async {
        let engine = Engine::in_memory();
        let old = engine.table::<before::Employee>().create_if_missing().await?;
        let hidden = before::Employee { department: "badge_7".into(), id: 1, badge: "8".into() };
        let open = before::Employee { department: "Sales".into(), id: 1, badge: "7".into() };
        old.insert(&hidden).await?;
        old.insert(&open).await?;
        let staff =
            engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let _ = staff.backfill::<EmployeeByBadge>().assume_no_older_programs().run().await;
        let report = staff.check().repair().run().await?;
        assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Unreadable), "{report:?}");
        let key = EntityKey::new("badge_7", "001")?;
        let row = engine.untyped("Staff")?.get(&key).await?.unwrap();
        assert_eq!(row.entity_row()?, hidden.to_row()?);
        Ok::<_, Error>(())
    })
    .unwrap();
}
