//! Tests an optional property that is added while an older release writes entities. Indexes contain complete copies of the entities. No write may be rejected.
//! Neither entities nor copies may lose the property.

mod bulk;
mod cold;
mod crew;
mod interleaved;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::store::TableStore;
use table_core::{ErrorCode, IfMatch, QueueName, Result};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;
use tests::time::Time;

use super::kit::{raced, under_load};
use super::settling::shared;
use crew::{after, before, person, person_with};

type Work<S> = Outbox<S, Engine>;
type Older<S> = Entities<before::Person, S, Work<S>>;
type Newer<S> = Entities<after::Person, S, Work<S>>;

/// The number of persons that the older program neither deletes nor inserts.
const KEPT: u32 = 4;
const PERSONS: u32 = 8;

fn outbox<S: TableStore + Clone>(time: &Time, store: &S, engine: &Engine) -> Work<S> {
    let queue = QueueName::new("work").unwrap();
    let outbox = Outbox::with_runtime(store.clone(), engine.clone(), queue, time.runtime());
    block_on(outbox.create_queues()).unwrap();
    outbox
}

async fn older<S: TableStore + Clone + 'static>(time: &Time, outbox: &Work<S>) -> Older<S> {
    let store = outbox.store().clone();
    let older = store.entities_with_outbox(outbox.clone()).with_runtime(time.runtime());
    older.create_if_missing().await.unwrap()
}

async fn newer<S: TableStore + Clone + 'static>(time: &Time, outbox: &Work<S>) -> Newer<S> {
    let store = outbox.store().clone();
    let newer = store.entities_with_outbox(outbox.clone()).with_runtime(time.runtime());
    newer.create_if_missing().await.unwrap()
}

/// Writes a person with one of the operations that an older program may still use. The property has already been added.
async fn write<S: TableStore + Clone + 'static>(older: &Older<S>, id: u32, round: u32) -> Result<()> {
    let (key, person) = (|| before::Person::key("Sales", id), person(id, round));
    let is_kept = id < KEPT;
    match round % 11 {
        0 if !is_kept => older.delete(key(), IfMatch::Any).await,
        1 if !is_kept => older.insert(&person).await.map(drop),
        0 | 2 => older.merge(&person, IfMatch::Any).await.map(drop),
        1 | 3 => older.update(key(), |one| one.email.clone_from(&person.email)).await.map(drop),
        // This removes a property.
        4 => older.update(key(), |one| one.level = None).await.map(drop),
        5 => older.patch(key()).set(before::Person::TEAM, person.team.as_str()).send().await.map(drop),
        6 => {
            let mut unit = older.unit(before::Person::partition("Sales"))?;
            match older.get(key()).await? {
                Some(read) => unit.update(&read, |one| one.email.clone_from(&person.email))?,
                None => unit.insert(&person)?,
            };
            unit.commit().await.map(drop)
        }
        7 => older.bulk().insert_or_merge_all([person]).await.map(drop).map_err(|error| error.source),
        8 => {
            let decided = older.transaction(before::Person::partition("Sales"), async |unit| {
                let read = unit.get(key()).await?;
                unit.save(read.as_ref(), &person)?;
                Ok::<_, table_core::Error>(())
            });
            decided.await.map(drop)
        }
        9 => match older.get(key()).await? {
            Some(read) => older.update(read, |one| one.is_active = !one.is_active).await.map(drop),
            None => older.insert(&person).await.map(drop),
        },
        _ => older.insert_or_merge(&person).await.map(drop),
    }
}

/// Checks with both the newer and the older program that the copies of all entities are complete.
async fn check<S: TableStore + Clone + 'static>(
    older: &Older<S>,
    newer: &Newer<S>,
    worker: &Worker<S, Engine>,
) {
    worker.run_until_idle().await.unwrap();
    let report = newer.check().run().await.unwrap();
    assert!(report.is_clean(), "the newer program: {report:?}");
    let report = older.check().repair().run().await.unwrap();
    assert!(report.is_clean(), "the older program: {report:?}");
    let report = newer.check().run().await.unwrap();
    assert!(report.is_clean(), "after a repair of the older program: {report:?}");
}

fn both_programs_write<S: TableStore + Clone + 'static>(time: &Time, store: &S, engine: &Engine) {
    let outbox = outbox(time, store, engine);
    let old = block_on(older(time, &outbox));
    for id in 0..PERSONS {
        block_on(old.insert(&person(id, id))).unwrap();
    }
    let new = block_on(newer(time, &outbox));
    // The random values of the test can cause a conflict with the value of another entity. Such a conflict is not a race.
    let expected = |outcome: Result<()>| match outcome {
        Err(error) if error.code() == ErrorCode::UniqueViolation => {}
        outcome => raced(outcome),
    };
    let names = Mutex::new(vec![None; KEPT as usize]);
    let worker = Worker::new(outbox.clone()).with_index_handler(&old);
    let refused = AtomicU64::new(0);
    let older_write = |round: u32| {
        expected(block_on(write(&old, round % PERSONS, round)));
        let whole = block_on(old.insert_or_replace(&person(round % KEPT, round)));
        refused
            .fetch_add(u64::from(whole.is_err_and(|error| error.rule() == Some("EVO-3"))), Ordering::Relaxed);
        let _ = block_on(worker.run_once());
    };
    // Until the newer program has written once, no row has the new property. The older program may therefore still replace rows.
    block_on(new.update(after::Person::key("Sales", 0), |one| one.nickname = Some("first".into()))).unwrap();
    under_load(time, 300, older_write, |round| {
        let id = (round * 7) % PERSONS;
        let name = format!("name{round}");
        let key = || after::Person::key("Sales", id);
        let outcome = match round % 3 {
            0 => block_on(new.patch(key()).set(after::Person::NICKNAME, Some(name.clone())).send()).map(drop),
            1 if id >= KEPT => block_on(new.insert_or_replace(&person_with(id, round, &name))).map(drop),
            _ => block_on(new.update(key(), |one| one.nickname = Some(name.clone()))).map(drop),
        };
        let is_written = outcome.is_ok();
        expected(outcome);
        if let Some(last) = names.lock().unwrap().get_mut(id as usize).filter(|_| is_written) {
            *last = Some(name);
        }
    });
    assert!(refused.load(Ordering::Relaxed) > 100, "a replace is refused");
    block_on(async {
        let all = Worker::new(outbox).with_index_handler(&new);
        check(&old, &new, &all).await;
        let names = names.into_inner().unwrap();
        for (id, name) in (0..KEPT).zip(names) {
            let person = new.get(after::Person::key("Sales", id)).await.unwrap().unwrap();
            assert_eq!(person.nickname, name, "{id}");
            let copy = new.get(after::Person::by_email("Sales", &person.email)).await.unwrap().unwrap();
            assert_eq!(*copy, *person, "{id}");
            let copies =
                new.query_eventual(after::Person::directory("Sales", &person.email)).collect().await.unwrap();
            let copy = copies.into_iter().find(|copy| copy.possibly_stale().id == id).unwrap();
            assert_eq!(*copy.possibly_stale(), *person, "{id}");
        }
    });
}

#[test]
fn two_programs_under_load_are_not_refused_and_no_copy_loses_an_optional_property() {
    let time = Time::default();
    let engine = time.engine();
    both_programs_write(&time, &engine, &engine);
    let time = Time::default();
    let engine = time.engine();
    both_programs_write(&time, &shared(engine.clone()), &engine);
}
