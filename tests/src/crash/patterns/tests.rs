//! Tests of the check itself. It must accept correct data and detect every kind of corruption.

use std::sync::{LazyLock, Mutex, PoisonError};

use examples::model::helpdesk::Ticket;
use futures_util::TryStreamExt;
use pollster::block_on;
use table_core::query::{KeyRange, Query};
use table_core::{
    Entity, IfMatch, Operation, OperationKind, PartitionKey, QueueStore, Result, RowKey, Selection,
    TableEntity, TableName, TableStore, TableStoreExt, Transaction, Value,
};
use table_patterns::blob::object_store::path::Path;
use table_patterns::blob::object_store::{ObjectStore, ObjectStoreExt};
use table_patterns::large::whole;

use super::stores::{Counts, Queues, Stores};
use super::{HANDS, Hand, Ledger, Line, Recovery, books, check};

/// Lets the workload threads take turns until each has made `steps` changes. Returns the stores, and the evidence of the changes.
fn worked(folder: &std::path::Path, steps: usize) -> (Stores, Ledger) {
    let stores = block_on(Stores::open(folder, Queues::Durable)).unwrap();
    let ledger = Mutex::new(Ledger::default());
    let tell = |line: Line| {
        ledger.lock().unwrap_or_else(PoisonError::into_inner).record(line);
    };
    let mut hands: Vec<_> = (0..HANDS.len()).map(|number| Hand::new(&stores, number, 0, 1, &tell)).collect();
    for _ in 0..steps {
        for hand in &mut hands {
            block_on(hand.step()).unwrap();
        }
    }
    drop(hands);
    (stores, ledger.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A closed folder in which every workload thread has made changes, and the evidence of these changes.
static WORKED: LazyLock<(tempfile::TempDir, Ledger)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (stores, ledger) = worked(folder.path(), 30);
    drop(stores);
    (folder, ledger)
});

/// A copy of [`WORKED`] in which all pending work is complete. A corrupted copy of it can therefore be checked quickly.
static SETTLED: LazyLock<(tempfile::TempDir, Ledger)> = LazyLock::new(|| {
    let (folder, stores, mut ledger) = copied(&WORKED);
    assert_eq!(block_on(check(&stores, &mut ledger, Recovery::Whole)).unwrap(), Vec::<String>::new());
    drop(stores);
    (folder, ledger)
});

/// Opens a copy of [`WORKED`] or [`SETTLED`].
fn copied((folder, ledger): &(tempfile::TempDir, Ledger)) -> (tempfile::TempDir, Stores, Ledger) {
    let here = tempfile::tempdir().unwrap();
    copy(folder.path(), here.path());
    let stores = block_on(Stores::open(here.path(), Queues::Durable)).unwrap();
    (here, stores, ledger.clone())
}

/// Copies the files and folders in `from` to `to`.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Corrupts a copy of [`SETTLED`]. Returns the defects that the check finds.
fn found(recovery: Recovery, damage: impl AsyncFnOnce(&Stores) -> Result<()>) -> String {
    found_in(&SETTLED, recovery, damage)
}

fn found_in(
    template: &(tempfile::TempDir, Ledger),
    recovery: Recovery,
    damage: impl AsyncFnOnce(&Stores) -> Result<()>,
) -> String {
    let (_folder, stores, mut ledger) = copied(template);
    block_on(damage(&stores)).unwrap();
    match block_on(check(&stores, &mut ledger, recovery)) {
        Ok(wrong) => wrong.join("\n"),
        Err(error) => format!("unreadable: {error}"),
    }
}

/// Deletes the first row of a table whose `RowKey` starts with the given prefix.
async fn delete_first(stores: &Stores, table: &str, prefix: &str) -> Result<()> {
    let name = TableName::new(table)?;
    let page = stores.engine.query(&name, &Query::new(KeyRange::ALL), None).await?;
    let entity = page.rows.iter().find(|entity| entity.row_key.starts_with(prefix)).unwrap();
    // The delete goes directly to the engine. A `Table` refuses the keys of rows that belong to patterns.
    let limits = stores.engine.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(entity.partition_key)?, limits)?;
    let row_key = RowKey::new(entity.row_key)?;
    transaction.push(Operation { row_key, kind: OperationKind::Delete(IfMatch::Any) })?;
    stores.engine.submit(&name, transaction).await.map(drop)
}

#[test]
fn an_undamaged_store_has_no_findings_and_the_ledger_continues() {
    let folder = tempfile::tempdir().unwrap();
    let (stores, mut ledger) = worked(folder.path(), 45);
    for _ in 0..2 {
        assert_eq!(block_on(check(&stores, &mut ledger, Recovery::Whole)).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn pat_ec_8_lost_messages_are_found_without_a_sweep_and_restored_by_one() {
    let lose = async |stores: &Stores| stores.outbox.queues().clear(stores.outbox.queue()).await;
    let wrong = found_in(&WORKED, Recovery::WithoutSweep, lose);
    assert!(wrong.contains("Missing") && wrong.contains("Ages lacks"), "{wrong}");
    assert_eq!(found_in(&WORKED, Recovery::Whole, lose), "");
}

#[test]
fn pat_intra_4_a_missing_and_a_superfluous_row_of_an_index_are_found() {
    for prefix in ["email_", "age_", "lastname_"] {
        let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Company", prefix).await);
        assert!(wrong.contains("Missing") && wrong.contains("Company lacks"), "{prefix}: {wrong}");
    }
    let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Company", "empid_").await);
    assert!(wrong.contains("Dangling") && wrong.contains("was acknowledged"), "{wrong}");
}

#[test]
fn pat_inter_3_a_missing_cross_partition_copy_is_found_after_settlement() {
    let damage = async |stores: &Stores| {
        stores.worker().run_until_idle().await?;
        delete_first(stores, "Ages", "").await
    };
    let wrong = found(Recovery::Whole, damage);
    assert!(wrong.contains("Missing") && wrong.contains("Ages lacks"), "{wrong}");
}

#[test]
fn pat_ser_3_a_missing_or_extra_increment_is_found() {
    for by in [-1, 1] {
        let damage = async |stores: &Stores| {
            stores.counts.increment(&Counts { series: 1, day: 0 }, 0, by).await.map(drop)
        };
        let wrong = found(Recovery::Whole, damage);
        assert!(wrong.starts_with("series 0/0: "), "{wrong}");
    }
}

#[test]
fn pat_log_4_a_lost_event_is_found() {
    let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Events", "").await);
    assert!(wrong.starts_with("log ") && wrong.contains("None is stored"), "{wrong}");
}

#[test]
fn pat_wide_4_a_missing_part_is_found() {
    let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Sheets", "").await);
    assert!(wrong.starts_with("unreadable: "), "{wrong}");
}

#[test]
fn pat_large_2_a_lost_blob_and_an_orphan_are_found() {
    let damage = async |stores: &Stores| {
        let documents = stores.documents.table().scan("damage").max_rows(100).collect().await?;
        let path = documents[0].content.as_ref().unwrap().path().into();
        stores.blobs.delete(&path).await.unwrap();
        Ok(())
    };
    let wrong = found(Recovery::Whole, damage);
    assert!(wrong.starts_with("large "), "{wrong}");
    // The blobs of replaced values are orphans until they are collected.
    let wrong = found_in(&WORKED, Recovery::WithoutCollection, async |_| Ok(()));
    assert!(wrong.contains("no row names the blob"), "{wrong}");
}

#[test]
fn pat_hvd_1_a_lost_row_and_a_recreated_table_are_found() {
    let tables = async |stores: &Stores| stores.attempts(0).tables().await;
    let wrong = found_in(&WORKED, Recovery::Whole, async |stores| {
        let table = tables(stores).await?.pop().unwrap().0;
        stores.engine.delete_table(&table).await
    });
    assert!(wrong.starts_with("period ") && wrong.contains("None is stored"), "{wrong}");
    let wrong = found_in(&WORKED, Recovery::Whole, async |stores| {
        stores.engine.create_table(&TableName::new("Attempts2014010100")?).await
    });
    assert!(wrong.contains("its table is there"), "{wrong}");
}

#[test]
fn pat_ec_8_a_change_missing_from_the_feed_is_found() {
    let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Fed", "\u{FFFC}feed_").await);
    assert!(wrong.starts_with("feed row_"), "{wrong}");
}

#[test]
fn pat_den_2_a_stale_copy_and_a_lost_reference_are_found() {
    let wrong = found(Recovery::Whole, async |stores| {
        stores.worker().run_until_idle().await?;
        let owned = stores.rooms.table().scan("damage").max_rows(100).collect().await?;
        let room = owned.into_iter().find(|room| room.owner.is_some()).unwrap();
        // Writes as a tool would that is unaware of copies.
        let rooms = stores.engine.untyped("Rooms")?;
        let key = super::copies::Room::key(room.floor, room.id).into_key()?;
        let change = |room: &mut TableEntity| drop(room.insert("OwnerName", Value::from("nobody")));
        rooms
            .update(Selection::point(key.partition_key.as_str(), key.row_key.as_str()), change)
            .await
            .map(drop)
    });
    assert!(wrong.contains("it has Some(\"nobody\")"), "{wrong}");
    let wrong = found(Recovery::Whole, async |stores| {
        stores.worker().run_until_idle().await?;
        delete_first(stores, "People", "\u{FFFC}copy_").await
    });
    assert!(wrong.contains("references and"), "{wrong}");
}

#[test]
fn imp_6_a_wrong_sum_and_an_unreported_change_are_found() {
    let wrong = found(Recovery::Whole, async |stores| {
        while stores.view.catch_up(100).await?.changes > 0 {}
        let totals = stores.totals.scan("damage").max_rows(100).collect().await?;
        let key = super::views::Total::key(totals[0].buyer);
        stores.totals.update(key, |total| total.amount += 1).await.map(drop)
    });
    assert!(wrong.starts_with("view: "), "{wrong}");
    let wrong = found(Recovery::Whole, async |stores| {
        let table = stores.sales.table();
        let sale = table.query(super::views::Sale::partition("north")).first().await?.unwrap();
        while stores.view.catch_up(100).await?.changes > 0 {}
        // Writes as a tool would that is unaware of the feed.
        let key = sale.key_of()?;
        let row = Selection::point(key.partition_key.as_str(), key.row_key.as_str());
        let amount = sale.amount + 1;
        let tool = table.store().untyped("Sales")?;
        tool.update(row, |bag| drop(bag.insert("Amount", amount))).await.map(drop)
    });
    assert!(wrong.contains("view: ") && wrong.contains("viewed north/"), "{wrong}");
}

/// Returns the paths of all blobs in the folder for index lists.
async fn list_blobs(stores: &Stores) -> Vec<Path> {
    let blobs: Vec<_> = stores.list_blobs.list(None).try_collect().await.unwrap();
    blobs.into_iter().map(|meta| meta.location).collect()
}

#[test]
fn pat_ix_4_a_lost_an_orphaned_and_a_swapped_list_blob_are_found() {
    let settled = async |stores: &Stores| {
        stores.worker().run_until_idle().await?;
        check::collect(stores).await?;
        assert!(list_blobs(stores).await.len() > 1, "entities name all remaining blobs");
        Ok::<(), table_core::Error>(())
    };
    let wrong = found(Recovery::Whole, async |stores| {
        settled(stores).await?;
        stores.list_blobs.delete(&list_blobs(stores).await[0]).await.unwrap();
        Ok(())
    });
    assert!(wrong.contains("lists: ") && wrong.contains("is named and cannot be read"), "{wrong}");
    let wrong = found(Recovery::Whole, async |stores| {
        settled(stores).await?;
        let blobs = list_blobs(stores).await;
        stores.list_blobs.copy(&blobs[0], &blobs[1]).await.unwrap();
        Ok(())
    });
    assert!(wrong.contains("lists: "), "{wrong}");
    // Each change to a list turns its previous blob into an orphan.
    let wrong = found_in(&WORKED, Recovery::WithoutCollection, async |_| Ok(()));
    assert!(wrong.contains("lists: no row names the blob"), "{wrong}");
}

#[test]
fn pat_ix_1_a_list_without_a_member_and_one_without_an_entity_are_found() {
    let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Readers", "town_").await);
    assert!(wrong.contains("lists: ") && wrong.contains("Readers lacks"), "{wrong}");
    let wrong = found(Recovery::Whole, async |stores| {
        stores.worker().run_until_idle().await?;
        delete_first(stores, "Towns", "").await
    });
    assert!(wrong.contains("Towns lacks"), "{wrong}");
    let wrong = found(Recovery::Whole, async |stores| delete_first(stores, "Readers", "reader_").await);
    assert!(wrong.contains("Dangling") && wrong.contains("listed "), "{wrong}");
    let wrong = found(Recovery::Whole, async |stores| {
        let row = TableEntity::new("east", "town_Nowhere")?.with("ReaderIDs", "[\"000001\"]");
        stores.engine.untyped("Readers")?.insert(&row).await.map(drop)
    });
    assert!(wrong.contains("which no reader calls for"), "{wrong}");
}

#[test]
fn lost_and_duplicate_rows_of_a_help_desk_are_found() {
    let wrong = found_in(&WORKED, Recovery::WithoutCollection, async |stores| {
        stores.worker().run_until_idle().await?;
        while stores.desk.sums.catch_up(100).await?.changes > 0 {}
        delete_first(stores, "HelpDeskMail", "mail_").await?;
        let (day, _) = stores.desk.audit.tables().await?.swap_remove(0);
        delete_first(stores, day.as_str(), "").await?;
        delete_first(stores, "HelpDeskSums", "sums").await?;
        // The blob of a replaced attachment is an orphan until it is collected.
        let tickets = stores.desk.tickets.query(Ticket::rows("adatum")).collect().await?;
        let ticket = tickets.into_iter().find(|ticket| ticket.agent.is_some()).unwrap();
        for _ in 0..2 {
            let content = [Ticket::ATTACHMENT_BLOB.content(whole(super::helpdesk::attached(&ticket)))];
            stores.desk.attachments.set(Ticket::key("adatum", ticket.number), content).await?;
        }
        // Writes as a tool would that is unaware of copies.
        let key = ticket.key_of()?;
        let row = Selection::point(key.partition_key.as_str(), key.row_key.as_str());
        let tool = stores.engine.untyped("HelpDesk")?;
        tool.update(row, |bag| drop(bag.insert("AgentName", "Nobody"))).await.map(drop)
    });
    for finding in [
        "help desk: the notifications are",
        "help desk: the entries of the audit log are",
        "help desk: the sums are",
        "help desk: no ticket names the blob",
        "shows Some(\"Nobody\")",
    ] {
        assert!(wrong.contains(finding), "{finding}: {wrong}");
    }
    let wrong =
        found(Recovery::Whole, async |stores| delete_first(stores, "HelpDesk", "ticket_000001").await);
    assert!(wrong.contains("ticket 2 of adatum has the place of 1") && wrong.contains("Dangling"), "{wrong}");
}

#[test]
fn lost_and_duplicated_rows_of_a_ledger_are_found() {
    for (prefix, finding) in [
        ("entry_", "has the place of"),
        ("posting_", "the statements have"),
        ("request_", "answer"),
        ("audit_", "the audit log has"),
        ("month_", "the trial balance differs"),
        ("date_", "Missing"),
        ("\u{FFFC}feed_", "the feed has"),
    ] {
        let wrong = found(Recovery::Whole, async |stores| books::delete_row(stores, prefix).await);
        assert!(wrong.contains(finding), "{prefix}: {wrong}");
    }
    let wrong = found(Recovery::Whole, async |stores| books::add_cent(&stores.books).await);
    assert!(wrong.contains("account 3 has the balance"), "{wrong}");
}
