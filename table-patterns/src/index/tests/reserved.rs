//! Tests that no index row gets a key that begins with U+FFFC. Such rows of other tools must be removed (PAT-EC-8).

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::transaction::Transaction;
use table_core::{Entity, Error, ErrorCode};

use super::kit::{Records, records, stored};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::changes::{ChangeKind, stored_changes};
use crate::index::{Finding, FindingKind};

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
        pub(super) area: String,
        pub(super) place: String,
        pub(super) tag: String,
    }
}

#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Desk", crate = table_core)]
#[partition_key(tenant)]
#[row_key("no_", number)]
#[index(Mails, unique, table = "Mails", partition_key("mails"), row_key(mail))]
#[index(Areas, unique, table = "Areas", partition_key(area, "|", place), row_key("area"))]
#[index(Places, unique, table = "Places", partition_key("all"), row_key(area, "|", place))]
#[index_entity(Tags, at_most = 9, table = "Tags", partition_key(tag), row_key("all"))]
#[index(ByMail, unique, row_key("mail_", mail))]
struct Ticket {
    tenant: String,
    #[digits(3)]
    number: u32,
    mail: String,
    #[without('|')]
    area: String,
    place: String,
    tag: String,
}

const TABLES: [&str; 5] = ["Desk", "Mails", "Areas", "Places", "Tags"];

fn ticket() -> Ticket {
    let [mail, area, place, tag] = ["ada", "north", "oslo", "red"].map(str::to_owned);
    Ticket { tenant: "contoso".into(), number: 1, mail, area, place, tag }
}

fn desk() -> (Engine, Entities<Ticket, Engine, Records>) {
    let engine = Engine::in_memory();
    let tickets = block_on(engine.entities_with_outbox::<Ticket, _>(Records::default()).create_if_missing());
    (engine, tickets.unwrap())
}

/// Stores a ticket as the earlier release did, without its index rows.
async fn store_as_before(engine: &Engine, ticket: &Ticket) -> table_core::Result<()> {
    let Ticket { tenant, number, mail, area, place, tag } = ticket.clone();
    engine
        .table::<before::Ticket>()
        .insert(&before::Ticket { tenant, number, mail, area, place, tag })
        .await?;
    Ok(())
}

#[test]
fn pat_ec_8_a_value_that_would_begin_a_reserved_index_key_is_refused_and_named() {
    let reserved = || "\u{FFFC}x".to_owned();
    let cases = [
        ("mail", "Mails", Ticket { mail: reserved(), ..ticket() }),
        ("area", "Areas", Ticket { area: reserved(), ..ticket() }),
        ("tag", "Tags", Ticket { tag: reserved(), ..ticket() }),
    ];
    for (field, index, wrong) in cases {
        block_on(async {
            let (engine, tickets) = desk();
            let refused = |error: Error| {
                assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("PAT-EC-8")));
                let text = error.to_string();
                assert!(
                    text.contains(&format!("`{field}`")) && text.contains(&format!("`{index}`")),
                    "{text}"
                );
            };
            refused(tickets.insert(&wrong).await.unwrap_err());
            refused(tickets.insert_or_replace(&wrong).await.unwrap_err());
            assert!(stored(&engine, &TABLES).await?.is_empty());
            tickets.insert(&ticket()).await?;
            let before = stored(&engine, &TABLES).await?;
            refused(tickets.update(Ticket::key("contoso", 1), |now| *now = wrong.clone()).await.unwrap_err());
            refused(tickets.replace(&wrong, IfMatch::Any).await.unwrap_err());
            assert_eq!(stored(&engine, &TABLES).await?, before);
            assert_eq!(records::<Ticket, _>(&engine, "contoso").await?.len(), 1);
            Ok::<_, Error>(())
        })
        .unwrap();
    }
    // After a literal, the character is allowed, because it is then part of a value.
    let inside = Ticket { mail: "a\u{FFFC}".into(), place: reserved(), ..ticket() };
    assert!(stored_changes((None, [None; 2]), (Some(&inside), [None; 2])).is_ok());
}

#[test]
fn pat_ec_8_an_index_entry_with_a_reserved_key_is_removed() {
    let old = Ticket { mail: "\u{FFFC}x".into(), ..ticket() };
    let removed = stored_changes((Some(&old), [None; 2]), (None, [None; 2])).unwrap();
    assert_eq!(removed.len(), Ticket::INDEXES.len());
    assert!(
        removed.iter().any(|change| change.key.row_key.is_reserved() && change.kind == ChangeKind::Remove)
    );
    block_on(async {
        let (engine, tickets) = desk();
        store_as_before(&engine, &old).await?;
        let mails: &IndexOf<Ticket> = Ticket::INDEXES.first().unwrap();
        let entry = mails.entry(&old)?.unwrap();
        let mut rows = Transaction::new(entry.key.partition_key.clone(), Limits::PORTABLE)?;
        let kind = OperationKind::Insert(entry.row.clone());
        rows.push(Operation { row_key: entry.key.row_key.clone(), kind })?;
        engine.submit(&TableName::new("Mails")?, rows).await?;
        let report = tickets.check().run().await?;
        let is_bad = |index: &str| {
            let of_index = |finding: &&Finding| finding.index == index;
            report.findings.iter().filter(of_index).any(|finding| finding.kind == FindingKind::BadEntity)
        };
        assert!(is_bad("Mails"), "{report:?}");
        tickets.update(Ticket::key("contoso", 1), |now| now.mail = "ada".into()).await?;
        for (_, changes) in records::<Ticket, _>(&engine, "contoso").await? {
            for change in changes {
                tickets.settle(&change).await?;
            }
        }
        let all = stored(&engine, &["Mails"]).await?;
        let keys: Vec<&EntityKey> = all.keys().map(|(_, key)| key).collect();
        assert!(keys.iter().all(|key| !key.row_key.as_str().starts_with("\u{FFFC}x")), "{keys:?}");
        assert!(keys.iter().any(|key| key.row_key.as_str() == "ada"), "{keys:?}");
        let left = engine.get(&TableName::new("Mails")?, &entry.key, &Select::All).await?;
        assert!(left.is_none());
        Ok::<_, Error>(())
    })
    .unwrap();
}
