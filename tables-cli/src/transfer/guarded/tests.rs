//! Tests that concurrent writes by a program to the same wide entities and sequences neither mix parts of different writes nor rewind a sequence.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use table_core::query::{KeyRange, Query};
use table_core::store::Capabilities;
use table_core::{Engine, FromEntity, IfMatch, TableStore, TableStoreExt, Transaction};
use uuid::Uuid;

use super::*;
use crate::hooked::{Hooked, Hooks};
use crate::transfer::writer::Writer;

const SEQUENCE: &str = "\u{FFFC}sequence_orders";

/// An action that a program performs before one of the writer's requests.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Allocates ten numbers of the sequence.
    TakeNumbers,
    /// Replaces the wide entity `w` with one that has the given number of parts.
    Rewrite(usize),
    /// Deletes all parts of the wide entity `w`.
    Delete,
    /// Changes another property of the first part.
    Merge,
    /// Writes a row that is not a part under the RowKey of the third part.
    Plain,
}

/// A store in which a concurrent program acts before one request, counted from 0, or before every request.
#[derive(Debug)]
struct Shared {
    engine: Engine,
    capabilities: Capabilities,
    requests: AtomicUsize,
    /// The sequence's next number after the program's last allocation.
    taken: AtomicI64,
    at: Option<usize>,
    work: Work,
}

fn part(row_key: &str, write: u128) -> TableEntity {
    TableEntity::new("p", row_key).unwrap().with(WRITE_ID, Value::Guid(Uuid::from_u128(write)))
}

fn sequence(next: i64) -> TableEntity {
    TableEntity::new("p", SEQUENCE).unwrap().with("Next", next)
}

fn things() -> TableName {
    TableName::new("Things").unwrap()
}

async fn rows(engine: &Engine) -> Vec<TableEntity> {
    let page = engine.query(&things(), &Query::new(KeyRange::ALL), None).await.unwrap();
    page.rows.iter().map(|row| TableEntity::from_entity(row).unwrap()).collect()
}

/// Replaces and deletes rows in one transaction.
async fn write(engine: &Engine, replaced: &[TableEntity], deleted: &[TableEntity]) -> table_core::Result<()> {
    let mut unit = Transaction::new(PartitionKey::new("p")?, engine.capabilities().limits)?;
    for row in replaced {
        let kind = OperationKind::InsertOrReplace(row.to_row()?);
        unit.push(Operation { row_key: row.key().row_key.clone(), kind })?;
    }
    for row in deleted {
        let kind = OperationKind::Delete(IfMatch::Any);
        unit.push(Operation { row_key: row.key().row_key.clone(), kind })?;
    }
    if !unit.operations().is_empty() {
        engine.submit(&things(), unit).await?;
    }
    Ok(())
}

impl Shared {
    async fn work(&self) -> table_core::Result<()> {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        if self.at.is_some_and(|at| at != request) {
            return Ok(());
        }
        let table = self.engine.untyped("Things")?;
        let stored = rows(&self.engine).await;
        let parts: Vec<_> = stored.iter().filter(|row| row.get(WRITE_ID).is_some()).collect();
        match self.work {
            Work::TakeNumbers => {
                let next = stored.iter().find_map(|row| match row.get("Next") {
                    Some(Value::Int64(next)) => Some(*next),
                    _ => None,
                });
                let next = next.unwrap_or(1) + 10;
                self.taken.store(next, Ordering::Relaxed);
                write(&self.engine, &[sequence(next)], &[]).await?;
            }
            Work::Merge if parts.is_empty() => {}
            Work::Merge => {
                table.insert_or_merge(&TableEntity::new("p", "w_01")?.with("Age", 7)).await?;
            }
            Work::Plain if parts.iter().any(|part| part.key().row_key.as_str() == "w_03") => {}
            Work::Plain => {
                table.insert_or_replace(&TableEntity::new("p", "w_03")?.with("Age", 7)).await?;
            }
            Work::Rewrite(_) | Work::Delete => {
                let count = if let Work::Rewrite(count) = self.work { count } else { 0 };
                let parts_of = |number| part(&format!("w_{number:02}"), 1_000 + request as u128);
                let wanted: Vec<_> = (1..=count).map(parts_of).collect();
                let is_left = |stored: &TableEntity| wanted.iter().any(|part| part.key() == stored.key());
                let deleted: Vec<_> = parts.into_iter().filter(|part| !is_left(part)).cloned().collect();
                write(&self.engine, &wanted, &deleted).await?;
            }
        }
        Ok(())
    }
}

impl Hooks for Shared {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn before_get(&self, _: &TableName) -> table_core::Result<()> {
        self.work().await
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        self.work().await
    }

    async fn before_submit(&self, _: &TableName, _: &Transaction) -> table_core::Result<()> {
        self.work().await
    }
}

/// The result of writing rows while a concurrent program acts.
struct Outcome {
    /// All rows of the table.
    stored: Vec<TableEntity>,
    rejected: usize,
    requests: usize,
    /// The minimum next number the sequence must have.
    taken: i64,
}

/// Writes rows to a table with a sequence and a wide entity of two parts, while a concurrent program acts.
async fn written(
    work: Work,
    at: Option<usize>,
    mode: Mode,
    has_checks: bool,
    written: &[TableEntity],
) -> Outcome {
    let engine = Engine::in_memory();
    engine.create_table(&things()).await.unwrap();
    write(&engine, &[sequence(100), part("w_01", 1), part("w_02", 1)], &[]).await.unwrap();
    let mut capabilities = engine.capabilities().clone();
    capabilities.checks = has_checks;
    let (requests, taken) = (AtomicUsize::new(0), AtomicI64::new(100));
    let shared = Arc::new(Shared { engine: engine.clone(), capabilities, requests, taken, at, work });
    let store = DynTableStore::new(Hooked(Arc::clone(&shared)));
    let mut writer = Writer::new(store, things(), mode, None).guarding_parts().tolerant();
    for (line, row) in (1..).zip(written) {
        writer.push(line, Change::Write(row.clone())).await.unwrap();
    }
    writer.flush().await.unwrap();
    let rejected = writer.take_rejected().len();
    assert_eq!(writer.settled(), written.len() as u64);
    let (requests, taken) = (shared.requests.load(Ordering::Relaxed), shared.taken.load(Ordering::Relaxed));
    Outcome { stored: rows(&engine).await, rejected, requests, taken }
}

/// Returns a description of the defect of the stored rows, if any: a sequence that is behind the numbers allocated by the program, or an entity with parts from
/// several writes.
fn fault(outcome: &Outcome) -> Option<String> {
    let rows = &outcome.stored;
    let next = rows.iter().find_map(|row| row.get("Next").cloned());
    if !matches!(next, Some(Value::Int64(next)) if next >= outcome.taken) {
        return Some(format!("the sequence is at {next:?}, below {}", outcome.taken));
    }
    let writes: BTreeSet<_> =
        rows.iter().filter_map(|row| Some(format!("{:?}", row.get(WRITE_ID)?))).collect();
    (writes.len() > 1).then(|| format!("parts of {writes:?}"))
}

#[tokio::test]
async fn a_program_that_writes_before_any_request_keeps_its_entities_and_numbers() {
    let plain = || TableEntity::new("p", "a_01").unwrap().with("Age", 1);
    let rows = [
        vec![sequence(100), plain()],
        vec![sequence(105)],
        vec![TableEntity::new("p", SEQUENCE).unwrap().with("Age", 1)],
        vec![part("w_01", 1), plain(), part("w_02", 1)],
        vec![part("w_02", 1)],
        vec![part("w_03", 1), plain()],
        vec![part("w_01", 1).with("Age", 3), part("w_02", 1), part("w_03", 1)],
        vec![TableEntity::new("p", "w_02").unwrap().with("Age", 3)],
    ];
    let works = [
        Work::TakeNumbers,
        Work::Rewrite(2),
        Work::Rewrite(1),
        Work::Rewrite(3),
        Work::Delete,
        Work::Merge,
        Work::Plain,
    ];
    let mut faults = Vec::new();
    for (rows, work) in rows.iter().flat_map(|rows| works.map(|work| (rows, work))) {
        for (mode, has_checks) in [Mode::Replace, Mode::Merge, Mode::Insert]
            .into_iter()
            .flat_map(|mode| [(mode, true), (mode, false)])
        {
            let Outcome { requests, .. } = written(work, Some(usize::MAX), mode, has_checks, rows).await;
            // A disturbed writer sends a few more requests. With `None`, the program acts before every request.
            for at in (0..requests + 6).map(Some).chain([None]) {
                let outcome = written(work, at, mode, has_checks, rows).await;
                let name = format!("{rows:?}, {work:?} at {at:?}, {mode:?}, checks: {has_checks}");
                faults.extend(fault(&outcome).map(|fault| format!("{name}: {fault}")));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults, first {}", faults.len(), faults[0]);
}

#[tokio::test]
async fn rows_are_written_again_after_a_program_has_changed_other_properties() {
    let parts = [part("w_01", 1).with("Age", 3), part("w_02", 1)];
    for at in 0..2 {
        let Outcome { stored: found, rejected, .. } =
            written(Work::Merge, Some(at), Mode::Replace, true, &parts).await;
        let age = found.iter().find_map(|row| row.get("Age").cloned());
        assert_eq!((rejected, age), (0, Some(Value::Int32(3))), "{at}");
    }
    // The third part replaces the row written by the program.
    let third = [part("w_03", 1)];
    for (at, has_checks) in (0..3).flat_map(|at| [(at, true), (at, false)]) {
        let Outcome { stored: found, rejected, .. } =
            written(Work::Plain, Some(at), Mode::Replace, has_checks, &third).await;
        assert_eq!((rejected, found.iter().filter(|row| has_write(row)).count()), (0, 3), "{at}");
    }
}
