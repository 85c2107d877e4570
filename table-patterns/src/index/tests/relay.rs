//! Tests remote indexes with an outbox, workers and sweeps. After a crash at any request, the indexes must finally agree with their entities (PAT-INTER-3).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use table_core::Result;
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::etag::IfMatch;
use table_core::queue::QueueName;

use super::disturbed::{Disturbed, Fault};
use super::kit::{expected, stored};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::fixture::{Employee, jones};
use crate::outbox::Outbox;
use crate::work::{Runtime, Sweep, Worker};

type Company = Entities<Employee, Disturbed, Outbox<Disturbed, Engine>>;

/// Returns a clock that shows the real time plus the given number of ticks.
fn clock(passed: &Arc<AtomicU64>) -> Clock {
    let (real, passed) = (Runtime::new(), Arc::clone(passed));
    Clock::new(move || real.now() + passed.load(Ordering::SeqCst))
}

async fn opened(passed: &Arc<AtomicU64>) -> Result<(Disturbed, Outbox<Disturbed, Engine>, Company)> {
    let store = Disturbed::new(EngineOptions::new().clock(clock(passed)).in_memory());
    let outbox = Outbox::with_runtime(
        store.clone(),
        Engine::in_memory(),
        QueueName::new("indexes")?,
        Runtime::new().sleep_by(|_| Box::pin(async {})),
    );
    outbox.create_queues().await?;
    let table = store.entities_with_outbox::<Employee, _>(outbox.clone()).create_if_missing().await?;
    Ok((store, outbox, table))
}

/// Runs a new process that finds and settles the recorded changes. It starts an hour later, when the claims of the dead process have expired. The queue has
/// lost all messages.
async fn recovered(
    store: &Disturbed,
    outbox: &Outbox<Disturbed, Engine>,
    passed: &Arc<AtomicU64>,
) -> Result<()> {
    passed.fetch_add(36_000_000_000, Ordering::SeqCst);
    let later = clock(passed);
    let fresh = Outbox::with_runtime(
        store.clone(),
        EngineOptions::new().clock(later.clone()).in_memory(),
        outbox.queue().clone(),
        Runtime::new().clock(later).sleep_by(|_| Box::pin(async {})),
    );
    fresh.create_queues().await?;
    let table = store.entities_with_outbox::<Employee, _>(fresh.clone()).create_if_missing().await?;
    Sweep::new(fresh.clone()).min_age(Duration::ZERO).sweep_registered().await?;
    Worker::new(fresh).with_index_handler(&table).run_until_idle().await
}

#[test]
fn pat_ec_8_indexes_converge_after_a_crash_at_any_submit() {
    let moved = |now: &mut Employee| {
        (now.last_name, now.email, now.badge) = ("Cao".to_owned(), "cao".to_owned(), Some(8));
    };
    for fault in [Fault::Before, Fault::After] {
        for at in 0..24 {
            block_on(async {
                let passed = Arc::default();
                let (store, outbox, table) = opened(&passed).await?;
                let jones = Employee { badge: Some(7), ..jones() };
                let other = Employee {
                    department: "Marketing".to_owned(),
                    id: 9,
                    email: "x".to_owned(),
                    badge: None,
                    ..jones.clone()
                };
                let worker = || Worker::new(outbox.clone()).with_index_handler(&table);
                store.die_at(at, fault);
                let _ = table.insert(&jones).await;
                let _ = table.insert(&other).await;
                let _ = worker().run_once().await;
                let _ = table.update(Employee::key("Sales", 223), moved).await;
                let _ = table.delete(Employee::key("Marketing", 9), IfMatch::Any).await;
                let _ = worker().run_once().await;
                store.live();
                recovered(&store, &outbox, &passed).await?;
                let mut left = table.query(Employee::partition("Sales")).collect().await?;
                left.extend(table.query(Employee::partition("Marketing")).collect().await?);
                assert_eq!(
                    stored(&store.engine, &["Company", "Badges"]).await?,
                    expected(&left),
                    "{fault:?} {at}"
                );
                assert!(table.check().run().await?.is_clean());
                Ok::<(), table_core::Error>(())
            })
            .unwrap();
        }
    }
}
