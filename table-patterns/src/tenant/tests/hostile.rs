//! Tests with malformed rows under every reserved prefix. A later release, or a program with access to one partition, may write such rows. Every job must
//! complete, process all other rows, and report the malformed rows.

use std::time::Duration;

use pollster::block_on;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::{Row, RowWriter};
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, ValueRef};

use super::kit::{Agent, Step, Store, Ticket, TicketByTitle, World, some_steps};
use crate::copies::REFERENCE_PREFIX;
use crate::feed::{Cursor, FEED_PREFIX, FeedEntry};
use crate::index::{Finding, FindingKind};
use crate::outbox::guard::GUARD_PREFIX;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX};
use crate::sequence::{GaplessSequence, SEQUENCE_PREFIX};
use crate::unit::RESERVATION_PREFIX;
use crate::view::{Projection, VIEW_PREFIX, View, ViewTable};
use crate::work::Sweep;

/// A row of the test's view: the number of tickets of one tenant.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(tenant)]
#[row_key("all")]
pub(super) struct Total {
    tenant: String,
    pub(super) tickets: i64,
}

pub(super) struct Totals;

impl View for Totals {
    type Source = Ticket;
    type Row = Total;

    fn project(ticket: &Ticket, view: &mut Projection<Total>) -> table_core::Result<()> {
        view.add(Total::key(&ticket.tenant), Total::TICKETS, 1)
    }
}

/// The prefixes of all reserved rows, and one reserved prefix that no pattern uses.
const PREFIXES: [&str; 10] = [
    OUTBOX_PREFIX,
    POISON_PREFIX,
    GUARD_PREFIX,
    FEED_PREFIX,
    REFERENCE_PREFIX,
    SEQUENCE_PREFIX,
    RESERVATION_PREFIX,
    VIEW_PREFIX,
    "\u{FFFC}owners",
    "\u{FFFC}",
];

/// The property names that occur in reserved rows.
const NAMES: [&str; 26] = [
    "Intent",
    "Intent1",
    "Version",
    "Prompted",
    "Attempts",
    "NotBefore",
    "Claim",
    "Error",
    "Seal",
    "HoldMillis",
    "Next",
    "Kind",
    "Source",
    "Relation",
    "HolderTable",
    "HolderPartition",
    "HolderRow",
    "Id",
    "Last",
    "Floor",
    "Quiet",
    "Format",
    "Cursor",
    "Places",
    "Poison",
    "Holder",
];

/// Returns suffixes for test keys: an empty suffix, text, numbers with the width used by patterns, and a suffix of the maximum length.
fn endings(prefix: &str) -> Vec<String> {
    let longest = "k".repeat(512 - prefix.encode_utf16().count());
    let texts = [
        "",
        "x",
        "_",
        "head",
        "by_",
        "of_",
        "poison_",
        "!",
        "\u{FFFC}",
        "\u{FFFD}\u{10FFFF}\u{D7FF}",
        "ticket_000001\u{FFFC}",
    ];
    let mut endings: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    endings.extend([10, 16, 20, 32].map(|width| "0".repeat(width)));
    endings.extend([20, 32].map(|width| "9".repeat(width)));
    endings.extend(["ticket_000001", "agent_0001"].map(|row| format!("{row}\u{FFFC}{}", "0".repeat(32))));
    endings.push(format!("{:010}_{:016x}", 0, 7));
    endings.push(longest);
    endings
}

/// Numbers for the rows of [`typed`]. Their count is prime, so they occur in many combinations.
const NUMBERS: [i64; 7] = [0, 1, 2, 5, 1_000_000, i64::MAX - 1, i64::MAX];

/// Returns a row whose properties have the types that patterns write, with a combination of numbers that `seed` determines.
fn typed(seed: usize) -> Row {
    let mut row = RowWriter::new();
    for (at, name) in NAMES.into_iter().enumerate() {
        let number = NUMBERS[(at * (seed + 1) + seed) % NUMBERS.len()];
        let value = match name {
            "Intent" | "Intent1" => ValueRef::Binary(br#"{"Version":1,"Source":"ticket_000001","Steps":[]}"#),
            "Version" | "Prompted" | "Attempts" | "NotBefore" | "HoldMillis" | "Next" | "Id" | "Last"
            | "Floor" => ValueRef::Int64(number),
            "Quiet" => ValueRef::Boolean(seed.is_multiple_of(2)),
            "Source" | "HolderRow" => ValueRef::String("ticket_000001"),
            "HolderPartition" => ValueRef::String("adatum"),
            "HolderTable" => ValueRef::String("Desk"),
            "Cursor" => ValueRef::String(r#"{"feed":1,"number":5}"#),
            _ => ValueRef::String("x"),
        };
        row.property(name, value);
    }
    row.finish()
}

/// Returns the contents of malformed rows: none, properties with wrong types, arbitrary text, extreme values, later formats, and the largest possible
/// row. In the last rows, the properties have the types that patterns write, but arbitrary numbers.
pub(super) fn bodies() -> Vec<Row> {
    let all = |value: ValueRef<'_>| {
        let mut row = RowWriter::new();
        for name in NAMES {
            row.property(name, value);
        }
        row.finish()
    };
    let mut rows = vec![
        RowWriter::new().finish(),
        all(ValueRef::String("\u{FFFD}\u{FFFF}\u{D7FF}\u{10FFFF}\u{0}")),
        all(ValueRef::String("")),
        all(ValueRef::String(r#"{"PartitionKey":"a/b","RowKey":"x","Error":"","feed":1,"number":1}"#)),
        all(ValueRef::Int32(i32::MIN)),
        all(ValueRef::Int64(i64::MAX)),
        all(ValueRef::Int64(i64::MIN)),
        all(ValueRef::Double(f64::NAN)),
        all(ValueRef::Boolean(true)),
        all(ValueRef::Binary(&[0xFF, 0xFE, 0xED, 0xA0, 0x80])),
        all(ValueRef::Binary(br#"{"Version":4294967295,"Source":"x","SourceVersion":1,"Steps":[]}"#)),
        all(ValueRef::Binary(br#"{"Version":1,"Source":"x","Steps":[{"Do":"Later"}]}"#)),
    ];
    let mut huge = RowWriter::new();
    let bytes = vec![b'['; 64 * 1024];
    for name in NAMES.iter().take(15) {
        huge.property(name, ValueRef::Binary(&bytes));
    }
    rows.push(huge.finish());
    rows.extend((0..5).map(typed));
    rows
}

/// Inserts rows into a partition, skipping keys that exist. Returns the number of inserted rows.
fn insert(world: &World, table: &str, partition_key: &str, rows: Vec<(String, Row)>) -> usize {
    let (engine, table) = (world.store.inner(), TableName::new(table).unwrap());
    let mut inserted = 0;
    for (row_key, row) in rows {
        let partition_key = PartitionKey::new(partition_key).unwrap();
        let mut transaction = Transaction::new(partition_key, engine.capabilities().limits).unwrap();
        let Ok(row_key) = RowKey::new(row_key) else { continue };
        if transaction.push(Operation { row_key, kind: OperationKind::Insert(row) }).is_ok() {
            inserted += usize::from(block_on(engine.submit(&table, transaction)).is_ok());
        }
    }
    inserted
}

/// Returns malformed rows whose keys begin with `prefix`: one row for each suffix, with content determined by `seed`.
fn odd_rows(prefix: &str, seed: usize) -> Vec<(String, Row)> {
    let bodies = bodies();
    let endings = endings(prefix).into_iter().enumerate();
    let pick = |at: usize| bodies[(at * 7 + seed) % bodies.len()].clone();
    endings.map(|(at, ending)| (format!("{prefix}{ending}"), pick(at))).collect()
}

/// The failed jobs of a test.
pub(super) struct Faults {
    pub(super) context: String,
    pub(super) found: Vec<String>,
}

impl Faults {
    /// Returns the result of a successful job. If the job failed, records its error and returns `None`.
    pub(super) fn of<T, E: std::fmt::Display>(&mut self, job: &str, outcome: Result<T, E>) -> Option<T> {
        outcome.map_err(|error| self.found.push(format!("{job}: {error}"))).ok()
    }

    pub(super) fn expect(&mut self, job: &str, is_right: bool) {
        if !is_right {
            self.found.push(format!("{job}: wrong result"));
        }
    }

    pub(super) fn end(self) {
        assert!(self.found.is_empty(), "{}:\n{}", self.context, self.found.join("\n"));
    }
}

/// Runs a sweep and a worker three times. Afterwards, all pending records have been performed or have become poison.
pub(super) fn work(world: &World, faults: &mut Faults) {
    for _ in 0..3 {
        let sweep = Sweep::new(world.outbox.clone()).min_age(Duration::ZERO);
        faults.of("sweep", block_on(sweep.sweep_registered()));
        faults.of("worker", block_on(world.work()));
    }
}

/// Writes through the handles, in units of work, and with a sequence.
pub(super) fn write(world: &World, tenant: &str, faults: &mut Faults) {
    let insert = Step::Insert { title: 1, topic: 0, agent: Some(1), file: Some(9) };
    faults.of("insert", block_on(world.act(tenant, &insert)));
    faults.of("update", block_on(world.act(tenant, &Step::Retitle { number: 1, title: 2, topic: 1 })));
    faults.of("update of a source", block_on(world.act(tenant, &Step::Rename { agent: 1, name: 3 })));
    let numbers = GaplessSequence::new(&world.tickets, "other").unwrap();
    let next = numbers
        .next::<u32>(Ticket::partition(tenant), |_, unit| unit.require(Agent::key(tenant, 1)).map(drop));
    let next = faults.of("sequence", block_on(next));
    faults.expect("sequence", next == Some(1));
}

/// Returns `true` if a finding reports a malformed row under `prefix` and gives the reason.
fn is_odd(prefix: &str, finding: &Finding) -> bool {
    finding.kind == FindingKind::OddRow
        && finding.at.row_key.as_str().starts_with(prefix)
        && finding.reason.is_some()
}

/// Applies all changes to a view. The view must reach the end of every feed that it can read.
pub(super) fn catch_up(job: &str, view: &ViewTable<Totals, Store>, faults: &mut Faults) {
    let is_behind = (0..20).all(|_| {
        let caught = faults.of(job, block_on(view.catch_up(1_000)));
        caught.is_some_and(|caught| caught.is_behind)
    });
    faults.expect(job, !is_behind);
}

/// Checks and rebuilds the derived rows, and reads the feed and a view.
fn derive(world: &World, view: &ViewTable<Totals, Store>, prefix: &str, faults: &mut Faults) {
    let (desk, contoso) = (TableName::new("Desk").unwrap(), PartitionKey::new("contoso").unwrap());
    faults.expect("check", world.findings() == 0);
    let odd = block_on(world.tickets.check().run()).unwrap();
    let is_checked = [FEED_PREFIX, REFERENCE_PREFIX].contains(&prefix);
    faults.expect("odd rows in the check", is_checked == odd.findings.iter().any(|one| is_odd(prefix, one)));
    block_on(world.tickets.rebuild::<TicketByTitle>()).unwrap();
    let built = block_on(world.tickets.backfill::<TicketByTitle>().assume_no_older_programs().run());
    let built = faults.of("backfill", built);
    faults.expect("backfill", built.is_some_and(|built| built.found == 0));
    faults.of("backfill of holders", block_on(world.tickets.backfill_copies().run()));
    faults.of("backfill of sources", block_on(world.agents.backfill_copies().run()));
    faults.of("settling of copies", block_on(world.agents.settle_copies(Agent::key("contoso", 1))));
    let feed = world.tickets.feed();
    let entries = faults.of("feed", block_on(feed.read(&desk, &contoso, &Cursor::default(), 10_000)));
    let has_first =
        |entries: Vec<FeedEntry>| entries.iter().any(|one| one.source.as_str() == "ticket_000001");
    faults.expect("feed", entries.is_some_and(has_first));
    let count = Some(i64::try_from(world.tickets_of("contoso").len()).unwrap());
    let shown = || block_on(async { view.table().await?.get(Total::key("contoso")).await });
    catch_up("catching up", view, faults);
    let total = faults.of("view", shown()).flatten();
    faults.expect("view", total.map(|total| total.tickets) == count);
    faults.of("poison of the view", block_on(view.poison()));
    faults.of("retry of poison", block_on(view.retry_poison()));
    faults.of("freshness", block_on(view.freshness()));
    faults.of("rebuild", block_on(view.rebuild().run()));
    let total = faults.of("view", shown()).flatten();
    faults.expect("rebuilt view", total.map(|total| total.tickets) == count);
    let end = faults.of("end of the feed", block_on(feed.end(&desk, &contoso)));
    faults.of("trim", block_on(feed.trim(&desk, &contoso, &end.unwrap_or_default())));
}

/// Exports, imports and erases the tenant.
fn transfer(world: &World, faults: &mut Faults) {
    let (tenant, to) = (world.tenant("contoso"), World::new());
    faults.of("count", block_on(tenant.count()));
    let before = world.tickets_of("contoso");
    let copied = block_on(tenant.copy_to(&to.tenant("contoso")));
    if faults.of("copy", copied).is_some() {
        work(&to, faults);
        faults.expect("copy", to.tickets_of("contoso") == before && to.findings() == 0);
    }
    let adatum = world.tickets_of("adatum");
    if faults.of("erasure", block_on(tenant.erase())).is_some() {
        let left = faults.of("proof of the erasure", block_on(tenant.remaining()));
        faults.expect("erasure", left == Some(0));
    }
    work(world, faults);
    faults.expect("the other tenant", world.tickets_of("adatum") == adatum && world.findings() == 0);
}

/// Inserts malformed rows into a tenant's partition, then runs all jobs.
fn run_all(prefix: &str, seed: usize) {
    let world = World::after(&some_steps());
    let view = block_on(ViewTable::<Totals, _>::new(world.store.clone()).create_if_missing()).unwrap();
    block_on(view.rebuild().run()).unwrap();
    let mut odd = 0;
    for partition in ["contoso", "topic0"] {
        for table in ["Desk", "Codes", "Directory", "Topics", "Totals"] {
            odd += insert(&world, table, partition, odd_rows(prefix, seed));
        }
    }
    odd += insert(&world, "Totals", "view", odd_rows(prefix, seed));
    assert!(odd > 50, "{odd} odd rows below {prefix:?}");
    let mut faults = Faults { context: format!("{prefix:?}, seed {seed}"), found: Vec::new() };
    for tenant in ["contoso", "adatum"] {
        write(&world, tenant, &mut faults);
    }
    work(&world, &mut faults);
    let poison = faults.of("poison", block_on(world.outbox.poison(32))).unwrap_or_default();
    // A record that no worker can perform must be reported as poison.
    faults.expect("poison", prefix != OUTBOX_PREFIX || !poison.is_empty());
    derive(&world, &view, prefix, &mut faults);
    transfer(&world, &mut faults);
    faults.end();
}

macro_rules! hostile {
    ($($name:ident: $prefix:expr,)+) => {
        $(
            #[test]
            fn $name() {
                (0..bodies().len()).for_each(|seed| run_all(PREFIXES[$prefix], seed));
            }
        )+
    };
}

hostile! {
    odd_records_stop_no_job: 0,
    odd_poison_stops_no_job: 1,
    odd_guards_stop_no_job: 2,
    odd_feed_entries_stop_no_job: 3,
    odd_references_stop_no_job: 4,
    odd_sequences_stop_no_job: 5,
    odd_reservations_stop_no_job: 6,
    odd_rows_of_views_stop_no_job: 7,
    odd_rows_of_owners_stop_no_job: 8,
    odd_reserved_rows_stop_no_job: 9,
}
