//! Tests consistency checks and workers of an older program that start after a newer program has opened the table. The older program does not know the new
//! property.

use pollster::block_on;
use table_core::Result;
use table_core::embedded::Engine;
use table_core::store::TableStore;
use table_patterns::work::Worker;
use tests::time::Time;

use super::super::settling::shared;
use super::crew::{after, copied, person};
use super::{KEPT, Newer, Older, Work, newer, older, outbox};

/// A task that the older program starts while it does not know the newer schema.
#[derive(Clone, Copy, Debug)]
enum Task {
    Checks,
    Repairs,
    Settles,
    Works,
}

async fn run<S: TableStore + Clone + 'static>(task: Task, old: &Older<S>, outbox: &Work<S>) -> Result<()> {
    match task {
        Task::Checks | Task::Repairs => {
            let check = old.check();
            let check = if matches!(task, Task::Repairs) { check.repair() } else { check };
            let report = check.run().await?;
            assert!(report.is_clean(), "{task:?}: {report:?}");
        }
        Task::Settles => {
            for id in 0..KEPT {
                old.settle(&copied(id)).await?;
            }
        }
        Task::Works => {
            Worker::new(outbox.clone()).with_index_handler(old).run_until_idle().await.map(drop)?;
        }
    }
    Ok(())
}

/// Checks that each copy in the other table contains `nickname`.
async fn are_whole<S: TableStore + Clone + 'static>(new: &Newer<S>, nickname: &str, task: Task) {
    for id in 0..KEPT {
        let email = person(id, id).email;
        let copies = new.query_eventual(after::Person::directory("Sales", &email)).collect().await.unwrap();
        let copy = copies.into_iter().find(|copy| copy.possibly_stale().id == id).unwrap();
        assert_eq!(copy.possibly_stale().nickname.as_deref(), Some(nickname), "{task:?}: {id}");
    }
    let report = new.check().run().await.unwrap();
    assert!(report.is_clean(), "{task:?}: {report:?}");
}

fn without_knowledge<S: TableStore + Clone + 'static>(time: &Time, store: &S, engine: &Engine, task: Task) {
    block_on(async {
        let outbox = outbox(time, store, engine);
        let old = older(time, &outbox).await;
        for id in 0..KEPT {
            old.insert(&person(id, id)).await.unwrap();
        }
        let new = newer(time, &outbox).await;
        let worker = Worker::new(outbox.clone()).with_index_handler(&new);
        let name = async |name: &str| {
            for id in 0..KEPT {
                let key = after::Person::key("Sales", id);
                new.update(key, |one| one.nickname = Some(name.to_owned())).await.unwrap();
            }
        };
        name("first").await;
        worker.run_until_idle().await.unwrap();
        are_whole(&new, "first", task).await;
        if matches!(task, Task::Works) {
            name("second").await;
            run(task, &old, &outbox).await.unwrap();
            are_whole(&new, "second", task).await;
        } else {
            run(task, &old, &outbox).await.unwrap();
            are_whole(&new, "first", task).await;
        }
    });
}

#[test]
fn a_program_that_does_not_know_the_newer_schema_yet_removes_no_property_from_copies() {
    for task in [Task::Checks, Task::Repairs, Task::Settles, Task::Works] {
        let time = Time::default();
        let engine = time.engine();
        without_knowledge(&time, &engine, &engine, task);
        let time = Time::default();
        let engine = time.engine();
        without_knowledge(&time, &shared(engine.clone()), &engine, task);
    }
}
