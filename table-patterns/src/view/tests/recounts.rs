//! Tests recounts of several rows of sums in one partition of a view, after an interrupted recount and with concurrent writers.

use std::collections::BTreeMap;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::{Entity, ErrorCode, Result, TableStoreExt};

use crate::EntityStore;
use crate::entities::Entities;
use crate::tests::faults::{Fault, FaultyStore};
use crate::view::{Projection, View, ViewTable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", feed)]
#[partition_key(department)]
#[row_key("e_", id)]
struct Member {
    department: String,
    #[digits(6)]
    id: u32,
    age: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(department)]
#[row_key(row)]
struct Total {
    department: String,
    row: String,
    members: i64,
    years: i64,
}

/// Returns the rows of sums to which the member `id` contributes.
fn rows(id: u32) -> [String; 3] {
    ["all".to_owned(), format!("half_{}", id % 2), format!("third_{}", id % 3)]
}

struct ByGroup;

impl View for ByGroup {
    type Source = Member;
    type Row = Total;

    fn project(member: &Member, view: &mut Projection<Total>) -> Result<()> {
        for row in rows(member.id) {
            view.add(Total::key(&member.department, &row), Total::MEMBERS, 1)?;
            view.add(Total::key(&member.department, &row), Total::YEARS, member.age)?;
        }
        Ok(())
    }
}

/// The number of members.
const MEMBERS: u32 = 6;

/// The handles of one process.
#[derive(Clone)]
struct Process {
    store: FaultyStore<Engine>,
    members: Entities<Member, FaultyStore<Engine>>,
    view: ViewTable<ByGroup, FaultyStore<Engine>>,
}

impl Process {
    fn on(engine: &Engine) -> Self {
        let store = FaultyStore::new(engine.clone());
        let retry = Retry::new(1_000, Duration::from_micros(10), Duration::from_millis(1));
        let view = block_on(ViewTable::new(store.clone()).create_if_missing()).unwrap();
        let view = view.with_retry(retry.clone()).with_lease(Duration::ZERO);
        Self { members: store.entities().with_retry(retry), view, store }
    }

    /// Runs a rebuild whose request with the number `stop` fails.
    fn interrupted_at(&self, stop: usize) {
        self.store.script(
            move |_, call| {
                if call == stop { Fault::Before(ErrorCode::ServerBusy) } else { Fault::None }
            },
        );
        let _ = block_on(self.view.rebuild().run());
        self.store.heal();
    }

    /// Changes two members, and applies the changes.
    fn change(&self, id: u32) {
        for id in [id % MEMBERS, (id + 1) % MEMBERS] {
            block_on(self.members.update(Member::key("A", id), |member| member.age += 3)).unwrap();
        }
        while block_on(self.view.catch_up(100)).unwrap().changes > 0 {}
    }
}

/// The numbers of the requests at which rebuilds are interrupted.
const STOPS: std::ops::Range<usize> = 20..70;

/// Returns a store with a view that has wrong sums in two rows.
fn drifted(first: u32, drift: (i64, i64)) -> Engine {
    let engine = Engine::in_memory();
    block_on(engine.entities::<Member>().create_if_missing()).unwrap();
    let others = Process::on(&engine);
    for id in 0..MEMBERS {
        block_on(others.members.insert(&Member { department: "A".into(), id, age: 30 })).unwrap();
    }
    others.change(first);
    let totals = engine.table::<Total>();
    for (row, drift) in [("all", drift.0), ("half_0", drift.1)] {
        block_on(totals.update(Total::key("A", row), |row| row.years += drift)).unwrap();
    }
    engine
}

/// Tests that the interruptions in the next test leave rows marked by a recount.
#[test]
fn imp_6_interrupted_recounts_leave_marked_rows() {
    let is_marked = |stop: &usize| {
        let engine = drifted(0, (1, 1));
        Process::on(&engine).interrupted_at(*stop);
        let marked = engine.untyped("Totals").unwrap().scan("all are compared").max_rows(100);
        let rows = block_on(marked.collect()).unwrap();
        rows.iter().any(|row| row.get("ViewRecount").is_some())
    };
    let marked = STOPS.filter(is_marked).count();
    assert!(marked >= 4, "{marked}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn imp_6_a_recount_after_an_interrupted_one_gives_correct_sums(
        stops in prop::collection::vec(STOPS, 1..3),
        (from, at) in (0..60_usize, 1..4_usize),
        drift in (-2_i64..3, -2_i64..3),
        first in 0..MEMBERS,
    ) {
        let engine = drifted(first, drift);
        let (process, others) = (Process::on(&engine), Process::on(&engine));
        let totals = engine.table::<Total>();
        for stop in stops {
            process.interrupted_at(stop);
        }
        let (own, mut left) = (others.clone(), 20);
        process.store.script(move |_, call| {
            if call < from || call % at != 0 || left == 0 {
                return Fault::None;
            }
            left -= 1;
            let (others, id) = (own.clone(), first + left);
            Fault::Meanwhile(Box::new(move || others.change(id)))
        });
        block_on(process.view.rebuild().run()).unwrap();
        let mut expected = BTreeMap::<String, (i64, i64)>::new();
        for member in block_on(engine.table::<Member>().query(Member::rows("A")).collect()).unwrap() {
            for row in rows(member.id) {
                let sums = expected.entry(row).or_default();
                *sums = (sums.0 + 1, sums.1 + member.age);
            }
        }
        let stored = block_on(totals.query(Total::rows("A")).collect()).unwrap();
        let stored: BTreeMap<_, _> = stored.into_iter().map(|row| (row.row, (row.members, row.years))).collect();
        prop_assert_eq!(stored, expected);
    }
}
