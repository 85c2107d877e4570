//! Measures three things:
//! - reading the first entity of a partition in which all earlier entities have been deleted
//! - receiving from a queue that has already delivered many messages
//! - the number of bytes that an idle engine writes

use std::thread::sleep;
use std::time::{Duration, Instant};

use pollster::block_on;
use table_core::embedded::{Durability, Engine, EngineOptions, Statistics};
use table_core::limits::Limits;
use table_core::query::{KeyRange, Query};
use table_core::queue::{PutMessage, QueueName, QueueStore};
use table_core::row::RowWriter;
use table_core::{
    IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
};

use crate::Outcome;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// The number of operations per transaction.
const BATCH: u32 = 100;
/// The number of reads averaged for each result.
const READS: u32 = 200;
/// The number of rounds. In each round, both queues are measured in turn.
const ROUNDS: usize = 15;
/// The time within which merges must purge deleted rows from the base.
const SECONDS: Duration = Duration::from_secs(3);
/// The time for which an idle engine is observed.
const IDLE: Duration = Duration::from_secs(2);

/// Measures reads after deletions, queue operations, and the writes of an idle engine. Adds the results to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let (count, folder) = (stage.options.entities, stage.folder.inside("deletions"));
    let options = EngineOptions::new().durability(Durability::Relaxed);
    let engine = options.open(folder.join("engine"))?;
    first_entity(&engine, count, report)?;
    queue_head(&engine, count, report)?;
    let before = settled(&engine)?;
    sleep(IDLE);
    let after = engine.statistics()?;
    let written = (after.flushed_bytes + after.merged_bytes) - (before.flushed_bytes + before.merged_bytes);
    #[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
    let written = written as f64;
    report.line(
        "bytes written by an idle engine",
        short(written),
        String::new(),
        written,
        Target::AtMost(0.0),
    );
    Ok(())
}

/// Waits until the engine has neither flushed nor merged for half a second. Returns its statistics.
fn settled(engine: &Engine) -> Outcome<Statistics> {
    let mut before = engine.statistics()?;
    loop {
        sleep(Duration::from_millis(500));
        let now = engine.statistics()?;
        if (now.merges, now.flushes) == (before.merges, before.flushes) {
            return Ok(now);
        }
        before = now;
    }
}

fn first_entity(engine: &Engine, count: u32, report: &mut Report) -> Outcome<()> {
    let table = TableName::new("Deletions")?;
    block_on(engine.create_table(&table))?;
    let row = {
        let mut row = RowWriter::new();
        row.property("Bytes", ValueRef::Binary(&[7; 200]));
        row.finish()
    };
    write(engine, &table, count, || OperationKind::Insert(row.clone()))?;
    block_on(engine.checkpoint())?;
    let before = head(engine, &table)?;
    write(engine, &table, count - 1, || OperationKind::Delete(IfMatch::Any))?;
    sleep(SECONDS);
    let after = head(engine, &table)?;
    let shown = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    report.line(
        &format!("first entity after {} deletions", short(f64::from(count))),
        shown(after),
        format!("before {}", shown(before)),
        after.as_secs_f64() / before.as_secs_f64(),
        Target::AtMost(10.0),
    );
    Ok(())
}

/// Writes or deletes the entities with numbers from 0 to `count` (exclusive), in batches.
fn write(engine: &Engine, table: &TableName, count: u32, kind: impl Fn() -> OperationKind) -> Outcome<()> {
    let numbers: Vec<u32> = (0..count).collect();
    for batch in numbers.chunks(BATCH as usize) {
        let mut transaction = Transaction::new(PartitionKey::new("p")?, Limits::PORTABLE)?;
        for number in batch {
            let row_key = RowKey::new(format!("{number:010}"))?;
            transaction.push(Operation { row_key, kind: kind() })?;
        }
        block_on(engine.submit(table, transaction))?;
    }
    Ok(())
}

/// Returns the average time to read the first entity in a table.
fn head(engine: &Engine, table: &TableName) -> Outcome<Duration> {
    let mut query = Query::new(KeyRange::partition("p"));
    query.top = Some(1);
    let start = Instant::now();
    for _ in 0..READS {
        let mut from = None;
        loop {
            let page = block_on(engine.query(table, &query, from.as_ref()))?;
            if !page.rows.is_empty() {
                break;
            }
            from = Some(page.continuation.ok_or("the first entity is gone")?);
        }
    }
    Ok(start.elapsed() / READS)
}

fn queue_head(engine: &Engine, count: u32, report: &mut Report) -> Outcome<()> {
    let (fresh, used) = (QueueName::new("fresh")?, QueueName::new("used")?);
    for queue in [&fresh, &used] {
        block_on(engine.create_queue(queue))?;
    }
    for number in 0..count / 2 {
        block_on(engine.put(&used, PutMessage::new(number.to_string())))?;
        for lease in block_on(engine.receive(&used, 1, Duration::from_secs(10 * 60)))? {
            block_on(engine.delete(&used, &lease.message.id, &lease.receipt))?;
        }
    }
    settled(engine)?;
    let mut times = [(); ROUNDS].map(|()| (Duration::ZERO, Duration::ZERO));
    for time in &mut times {
        *time = (put_and_receive(engine, &fresh)?, put_and_receive(engine, &used)?);
    }
    let median = |of: fn(&(Duration, Duration)) -> Duration| {
        let mut sorted = times.map(|time| of(&time));
        sorted.sort_unstable();
        sorted[ROUNDS / 2]
    };
    let (fresh, used) = (median(|time| time.0), median(|time| time.1));
    let shown = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    report.line(
        &format!("put and receive after {} messages", short(f64::from(count / 2))),
        shown(used),
        format!("fresh {}", shown(fresh)),
        used.as_secs_f64() / fresh.as_secs_f64(),
        Target::AtMost(2.0),
    );
    Ok(())
}

/// Returns the average time to put and receive a message.
fn put_and_receive(engine: &Engine, queue: &QueueName) -> Outcome<Duration> {
    let start = Instant::now();
    for number in 0..READS {
        block_on(engine.put(queue, PutMessage::new(number.to_string())))?;
        block_on(engine.receive(queue, 1, Duration::from_secs(10 * 60)))?;
    }
    Ok(start.elapsed() / READS)
}
