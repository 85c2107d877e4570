//! Visits, a second entity type in the table of the tickets. In runs with an older release, that release writes visits without the indexes added by the newer
//! release, until a backfill of these indexes has completed.

use std::collections::BTreeMap;

use pollster::block_on;
use rand::RngExt;
use rand::rngs::StdRng;
use table_core::{ErrorCode, IfMatch, PartitionKey, Result, TableStoreExt, ticks};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::grant::PartitionGrant;
use table_patterns::index::IndexState;

use crate::together::bad;
use crate::together::desk::{Audit, TENANT, Visit, VisitByTag, VisitRounds, before};
use crate::together::odd;
use crate::together::world::{Desk, Process, Store, Work, World};

/// The number of different visits.
const NUMBERS: u32 = 4;

type Model = BTreeMap<u32, Visit>;

/// A change to a visit.
#[derive(Clone, Debug)]
enum Verb {
    Insert(Visit),
    Put(Visit),
    Update(Visit),
    /// Writes the visit and an audit row in one transaction.
    Unit(Visit),
    Delete,
}

/// The visits a run should have stored.
#[derive(Debug, Default)]
pub struct Visits {
    model: Model,
    /// The number of audit rows written in the same transaction as a visit.
    rows: u64,
    /// The last grant that a program of the older release received, and the expiry of the grant in ticks.
    granted: Option<(PartitionGrant, u64)>,
    /// `true` if a backfill found visits that it could not read.
    had_bad: bool,
}

/// Returns the process's handle for writing visits.
pub fn handle(process: &Process) -> Entities<Visit, Desk, Work> {
    let outbox = process.outbox().clone();
    Desk::from(outbox.store().clone())
        .entities_with_outbox::<Visit, _>(outbox)
        .with_runtime(process.runtime().clone())
}

/// Returns the process's handle for writing visits in the older release.
fn older(process: &Process) -> Entities<before::Visit, Store> {
    process.outbox().store().entities::<before::Visit>().with_runtime(process.runtime().clone())
}

/// Runs one pass of the backfill for each index that the newer release adds. A backfill that completes an index must report the visits that it cannot read.
/// Returns `true` if there are such visits.
fn backfill(world: &World, process: &Process) -> bool {
    let visits = handle(process);
    let mut bad = bad::keys(&world.engine, "Desk");
    bad.retain(|key| key.row_key.as_str().starts_with("visit_"));
    let ready = || {
        let states = block_on(handle(&world.alive()).states()).unwrap();
        states.into_iter().filter(|(_, state)| *state == IndexState::Ready).map(|(name, _)| name)
    };
    block_on(async {
        let before: Vec<_> = ready().collect();
        let by_tag = visits.backfill::<VisitByTag>().page(2).run().await;
        let rounds = visits.backfill::<VisitRounds>().page(2).run().await;
        for (name, report) in [("ByTag", by_tag), ("Rounds", rounds)] {
            let is_done = !before.contains(&name) && ready().any(|index| index == name);
            if let (true, Ok(report)) = (is_done, report) {
                assert!(bad.is_empty() || !report.is_clean(), "{name} is ready without {bad:?}: {report:?}");
            }
        }
    });
    !bad.is_empty()
}

fn stored(world: &World) -> Model {
    let visits = world.engine.table::<Visit>();
    let stored = |number| block_on(visits.get(Visit::key(TENANT, number))).unwrap();
    (0..NUMBERS).filter_map(|number| Some((number, stored(number)?.into_value()))).collect()
}

/// Returns a random visit.
fn visit(rng: &mut StdRng) -> Visit {
    let mut text = |texts: [&str; 3]| texts[rng.random_range(0..3)].to_owned();
    let (place, tag) = (text(["Rome", "Oslo", "Bern"]), text(["long", "short", ""]));
    let number = rng.random_range(0..NUMBERS);
    Visit { tenant: TENANT.to_owned(), number, place, tag: Some(tag).filter(|tag| !tag.is_empty()) }
}

impl Visits {
    /// Creates the table. In a run with an older release, that release creates it first.
    pub fn open(world: &World, has_older: bool) -> Self {
        let process = world.alive();
        if has_older {
            let older = block_on(older(&process).create_if_missing()).unwrap();
            let visit =
                before::Visit { tenant: TENANT.to_owned(), number: 0, place: "Rome".to_owned(), tag: None };
            block_on(older.insert(&visit)).unwrap();
        }
        let visits = block_on(handle(&process).create_if_missing()).unwrap();
        let expected = if has_older { IndexState::Building } else { IndexState::Ready };
        let states = block_on(visits.states()).unwrap();
        assert!(states.iter().all(|(name, state)| *name == "ByPlace" || *state == expected), "{states:?}");
        Self { model: stored(world), rows: 0, granted: None, had_bad: false }
    }

    /// Lets a process change a visit or run a backfill. Records the outcome.
    pub fn step(&mut self, world: &World, process: &Process, rng: &mut StdRng) {
        let visit = visit(rng);
        let number = visit.number;
        let verb = match rng.random_range(0..9) {
            0 => {
                self.had_bad |= backfill(world, process);
                return;
            }
            1 | 2 => Verb::Insert(visit),
            3 => Verb::Put(visit),
            4 | 5 => Verb::Update(visit),
            6 => Verb::Unit(visit),
            _ => Verb::Delete,
        };
        let outcome = block_on(self.write(process, number, &verb));
        self.settle(world, process, (number, &verb), &outcome);
    }

    async fn write(&mut self, process: &Process, number: u32, verb: &Verb) -> Result<()> {
        let (visits, key) = (handle(process), || Visit::key(TENANT, number));
        match verb {
            Verb::Insert(visit) => visits.insert(visit).await.map(drop),
            Verb::Put(visit) => visits.insert_or_replace(visit).await.map(drop),
            Verb::Update(visit) => visits.update(key(), |one| one.clone_from(visit)).await.map(drop),
            Verb::Unit(visit) => {
                self.rows += 1;
                let id = format!("visit_{}", self.rows);
                let mut unit = visits.unit(Visit::partition(TENANT))?;
                unit.save(visits.get(key()).await?.as_ref(), visit)?;
                unit.insert(&Audit { tenant: TENANT.to_owned(), id, ticket: -1, difference: 0 })?;
                unit.commit().await.map(drop)
            }
            Verb::Delete => visits.delete(key(), IfMatch::Any).await,
        }
    }

    /// Lets a process of the older release change a visit. Records the outcome.
    pub fn older_step(&mut self, world: &World, process: &Process, rng: &mut StdRng) {
        let newer = visit(rng);
        let (number, Visit { tenant, place, tag, .. }) = (newer.number, newer.clone());
        let visit = before::Visit { tenant, number, place, tag };
        let verb = match rng.random_range(0..4) {
            0 => Verb::Insert(newer),
            1 | 2 => Verb::Put(newer),
            _ => Verb::Delete,
        };
        if rng.random_range(0..8) == 0 {
            let (partition_key, hours) = (PartitionKey::new(TENANT).unwrap(), rng.random_range(1..6));
            let expiry = world.expiry(hours * 3_600);
            let granted = block_on(older(process).grant(&partition_key, expiry));
            let expiry = ticks::from_datetime(expiry).unwrap();
            self.granted = granted.ok().map(|grant| (grant, expiry)).or(self.granted.take());
        }
        // After the expiry of the grant, the store rejects requests that were signed with it.
        let granted = self.granted.as_ref().filter(|(_, expiry)| world.now() < *expiry);
        let granted = granted.filter(|_| rng.random_range(0..2) == 0);
        let outcome = block_on(async {
            let table = match granted {
                Some((grant, _)) => older(process).with_grant(grant)?,
                None => older(process).create_if_missing().await?,
            };
            match &verb {
                Verb::Insert(_) => table.insert(&visit).await.map(drop),
                Verb::Delete => table.delete(before::Visit::key(TENANT, number), IfMatch::Any).await,
                _ => table.insert_or_replace(&visit).await.map(drop),
            }
        });
        if outcome.as_ref().is_err_and(|error| error.code() == ErrorCode::SchemaMismatch) {
            assert!(granted.is_none(), "a bearer is refused: {outcome:?}");
            let layout = block_on(world.engine.table::<Visit>().schema_record()).unwrap().unwrap();
            assert!(
                !layout.is_announced("ByTag") || !layout.is_announced("Rounds"),
                "refused beside announced indexes: {outcome:?}"
            );
            assert_eq!(stored(world), self.model);
            return;
        }
        self.settle(world, process, (number, &verb), &outcome);
    }

    /// Checks that the stored visits agree with the outcome of a change, and updates the expected visits.
    fn settle(
        &mut self,
        world: &World,
        process: &Process,
        (number, verb): (u32, &Verb),
        outcome: &Result<()>,
    ) {
        let (is, after) = (stored(world), self.after(number, verb));
        match outcome {
            Ok(()) => assert_eq!(Some(&is), after.as_ref(), "{verb:?}"),
            Err(error) if process.control.is_dead() || error.code() == ErrorCode::ServerBusy => {
                assert!(is == self.model || Some(&is) == after.as_ref(), "{verb:?}: {is:?}");
            }
            Err(error) if error.code() == ErrorCode::EntityMismatch && bad::exists(&world.engine) => {
                assert_eq!(is, self.model, "{verb:?}");
            }
            Err(error) => {
                let codes = [ErrorCode::EntityAlreadyExists, ErrorCode::ResourceNotFound];
                assert!(codes.contains(&error.code()) && after.is_none(), "{verb:?}: {error}");
                assert_eq!(is, self.model);
            }
        }
        self.model = is;
    }

    /// Returns the expected visits after a change, or `None` if the change is impossible.
    fn after(&self, number: u32, verb: &Verb) -> Option<Model> {
        let mut model = self.model.clone();
        let is_there = model.contains_key(&number);
        match verb {
            Verb::Insert(_) if is_there => return None,
            Verb::Update(_) if !is_there => return None,
            Verb::Insert(visit) | Verb::Put(visit) | Verb::Update(visit) | Verb::Unit(visit) => {
                model.insert(number, visit.clone());
            }
            Verb::Delete => drop(model.remove(&number)?),
        }
        Some(model)
    }

    /// Completes the indexes. Then checks that they contain exactly the stored visits.
    pub fn check(&self, world: &World) {
        let visits = block_on(handle(&world.alive()).create_if_missing()).unwrap();
        block_on(async {
            loop {
                let by_tag = visits.backfill::<VisitByTag>().run().await.unwrap();
                let rounds = visits.backfill::<VisitRounds>().run().await.unwrap();
                let Some(rest) = by_tag.retry_after.max(rounds.retry_after) else { break };
                world.pass(rest.as_secs() + 1);
            }
            if self.had_bad {
                visits.check().repair().run().await.unwrap();
            }
            let report = visits.check().run().await.unwrap();
            let wrong = report.findings.iter().filter(|found| !odd::is_place(&found.at));
            assert_eq!(wrong.count(), 0, "{report:?}");
            let all: Vec<_> = visits.query(Visit::rows(TENANT)).collect().await.unwrap();
            assert_eq!(all, self.model.values().cloned().collect::<Vec<_>>());
            for visit in &all {
                let found = visits.query(Visit::by_place(TENANT, &visit.place)).collect().await.unwrap();
                assert!(found.contains(visit), "{visit:?} by place");
                let found =
                    visits.query_eventual(Visit::rounds(TENANT, &visit.place)).collect().await.unwrap();
                assert!(found.iter().any(|found| *found.possibly_stale() == *visit), "{visit:?} by round");
                if let Some(tag) = &visit.tag {
                    let found = visits.query(Visit::by_tag(TENANT, tag)).collect().await.unwrap();
                    assert!(found.contains(visit), "{visit:?} by tag");
                }
            }
        });
    }
}
