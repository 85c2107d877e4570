//! Random histories of both releases and their workers, compared with the stored entities.

use std::time::Duration;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::Engine;
use table_core::{ErrorCode, IfMatch, Result, TableStore};
use table_patterns::Entities;
use table_patterns::index::{Finding, FindingKind};
use table_patterns::outbox::Outbox;
use table_patterns::work::{Sweep, Worker};
use tests::time::Time;

use super::{Newer, Older, Work, after, before, employee, open, outbox};
use crate::generations::settling::shared;

const EMPLOYEES: u32 = 4;
const EMAILS: [&str; 5] = ["ada", "grace", "joan", "mary", "hedy"];

struct Run<S> {
    time: Time,
    outbox: Work<S>,
    old: Older<S>,
    new: Newer<S>,
    rng: StdRng,
    /// `true` if the newer release writes entities without the removed property. The older release cannot read them.
    drops: bool,
}

impl<S: TableStore + Clone + 'static> Run<S> {
    fn text(&mut self, texts: &[&str]) -> String {
        texts[self.rng.random_range(0..texts.len())].to_owned()
    }

    fn older_employee(&mut self, id: u32) -> before::Employee {
        let (email, note, phone) = (self.text(&EMAILS), self.text(&["a", "b"]), self.text(&["7", "9"]));
        before::Employee { grade: self.rng.random_range(0..4), note, phone, ..employee(id, &email) }
    }

    fn newer_employee(&mut self, id: u32) -> after::Employee {
        let before::Employee { department, id, email, grade, note, .. } = self.older_employee(id);
        let mobile = Some(self.text(&["1", "2"])).filter(|_| self.rng.random_bool(0.8));
        after::Employee { department, id, email, grade, note, mobile }
    }

    async fn older_write(&mut self, id: u32) -> Result<()> {
        let (key, one) = (|| before::Employee::key("Sales", id), self.older_employee(id));
        match self.rng.random_range(0..10) {
            0 => self.old.insert(&one).await.map(drop),
            1 => self.old.delete(key(), IfMatch::Any).await,
            2 => self.old.merge(&one, IfMatch::Any).await.map(drop),
            3 => self.old.insert_or_merge(&one).await.map(drop),
            4 => self.old.update(key(), |now| now.note.clone_from(&one.note)).await.map(drop),
            5 => self.old.update(key(), |now| now.email.clone_from(&one.email)).await.map(drop),
            6 => self.old.patch(key()).set(before::Employee::NOTE, one.note.as_str()).send().await.map(drop),
            7 => {
                let other = self.older_employee((id + 1) % EMPLOYEES);
                let mut unit = self.old.unit(before::Employee::partition("Sales"))?;
                for one in [one, other] {
                    let read = self.old.get(before::Employee::key("Sales", one.id)).await?;
                    unit.save(read.as_ref(), &one)?;
                }
                unit.commit().await.map(drop)
            }
            8 => self.old.bulk().insert_or_merge_all([one]).await.map(drop).map_err(|error| error.source),
            _ => self.old.update(key(), |now| *now = one.clone()).await.map(drop),
        }
    }

    async fn newer_write(&mut self, id: u32) -> Result<()> {
        let (key, one) = (|| after::Employee::key("Sales", id), self.newer_employee(id));
        match self.rng.random_range(0..6) {
            0 => self.new.delete(key(), IfMatch::Any).await,
            1 if self.drops => self.new.insert_or_replace(&one).await.map(drop),
            2 if self.drops => self.new.insert(&one).await.map(drop),
            1 | 2 => self.new.update(key(), |now| now.email.clone_from(&one.email)).await.map(drop),
            3 => self.new.update(key(), |now| now.mobile.clone_from(&one.mobile)).await.map(drop),
            4 => self.new.patch(key()).set(after::Employee::NOTE, one.note.as_str()).send().await.map(drop),
            _ => self.new.update(key(), |now| *now = one.clone()).await.map(drop),
        }
    }

    /// Lets a worker process all work. Nothing may fail.
    async fn work(&self, is_older: bool) {
        let worker = Worker::new(self.outbox.clone());
        let worker = if is_older {
            worker.with_index_handler(&self.old)
        } else {
            worker.with_index_handler(&self.new)
        };
        worker.run_until_idle().await.unwrap();
        assert_eq!((worker.metrics().failures, worker.metrics().poisoned), (0, 0), "{:?}", worker.metrics());
    }

    async fn step(&mut self) {
        let id = self.rng.random_range(0..EMPLOYEES);
        match self.rng.random_range(0..10) {
            0 => self.time.pass(Duration::from_secs(self.rng.random_range(1..20))),
            1 => {
                let is_older = !self.drops && self.rng.random_bool(0.7);
                self.work(is_older).await;
            }
            2 => {
                let report = self.old.check().repair().run().await.unwrap();
                let kinds = [FindingKind::Stale, FindingKind::Missing, FindingKind::Dangling];
                // The older release reports entities that it cannot read, and leaves their copies unchanged.
                let is_expected =
                    |found: &Finding| kinds.contains(&found.kind) || (self.drops && !found.repaired);
                assert!(report.findings.iter().all(is_expected), "{report:?}");
            }
            3..=6 => {
                let outcome = self.older_write(id).await;
                self.expect(outcome);
            }
            _ => {
                let outcome = self.newer_write(id).await;
                self.expect(outcome);
            }
        }
        self.check_own_partition().await;
    }

    fn expect(&self, outcome: Result<()>) {
        let Err(error) = outcome else { return };
        let is_unread = error.code() == ErrorCode::EntityMismatch && error.rule() != Some("PAT-HET-2");
        let codes = [ErrorCode::UniqueViolation, ErrorCode::ResourceNotFound, ErrorCode::EntityAlreadyExists];
        assert!(codes.contains(&error.code()) || (self.drops && is_unread), "{error}");
    }

    /// Checks that the index in the partition of the entities returns exactly the stored entities.
    async fn check_own_partition(&self) {
        let all = self.new.query(after::Employee::rows("Sales")).collect().await.unwrap();
        for email in EMAILS {
            let found = self.new.get(after::Employee::by_email("Sales", email)).await.unwrap();
            let wanted = all.iter().find(|one| one.email == email);
            assert_eq!(found.as_deref(), wanted, "{email}");
        }
        for grade in 0..4 {
            let found = self.new.query(after::Employee::by_grade("Sales", grade)).collect().await.unwrap();
            let wanted: Vec<_> = all.iter().filter(|one| one.grade == grade).cloned().collect();
            assert_eq!(found, wanted, "{grade}");
        }
    }

    /// Completes all work. Then checks that the indexes are complete. The copies of the older release may still have the removed property.
    async fn check(&self) {
        for _ in 0..4 {
            self.time.pass(Duration::from_secs(800));
            Sweep::new(self.outbox.clone()).sweep_registered().await.unwrap();
            self.work(false).await;
        }
        let report = self.new.check().repair().run().await.unwrap();
        assert!(report.findings.iter().all(|found| found.kind == FindingKind::Stale), "{report:?}");
        let report = self.new.check().run().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
        let backlog = self.outbox.backlog().await.unwrap();
        assert_eq!((backlog.poison, backlog.waiting), (0, 0));
    }
}

async fn run<S: TableStore + Clone + 'static>(
    (time, store, engine): (Time, S, Engine),
    seed: u64,
    drops: bool,
) {
    let outbox: Outbox<S, Engine> = outbox(&time, &store, &engine);
    let old: Entities<before::Employee, _, _> = open(&time, &outbox).await;
    for id in 0..EMPLOYEES {
        old.insert(&employee(id, EMAILS[id as usize])).await.unwrap();
    }
    let new: Entities<after::Employee, _, _> = open(&time, &outbox).await;
    let mut run = Run { time, outbox, old, new, rng: StdRng::seed_from_u64(seed), drops };
    for _ in 0..40 {
        run.step().await;
    }
    run.check().await;
}

#[test]
fn two_releases_with_different_required_and_optional_properties_maintain_all_copies() {
    for seed in 0..30 {
        for drops in [false, true] {
            let time = Time::default();
            let engine = time.engine();
            block_on(run((time, engine.clone(), engine), seed, drops));
            let time = Time::default();
            let engine = time.engine();
            block_on(run((time, shared(engine.clone()), engine), seed, drops));
        }
    }
}
