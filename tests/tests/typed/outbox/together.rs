//! Tests workers that process several intents (recorded work) concurrently (PAT-EC-1, PAT-EC-4, PAT-EC-7).

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pollster::block_on;
use table_core::{Result, RowKey, TableStore, Transaction};
use table_patterns::outbox::{Intent, Step};
use table_patterns::work::{Delivery, Handler, Sweep, Worker, WorkerOptions};
use tests::faults::Control;

use crate::outbox::claims::{Named, record, sales};
use crate::outbox::company::{Company, Store, employees};

fn worker(company: &Company, control: &Control, options: WorkerOptions) -> Worker<Store, Store> {
    block_on(company.outbox(&Control::default()).notify(&employees(), &sales())).unwrap();
    Worker::with_options(company.outbox(control), options)
}

/// A handler whose calls return only once `of` calls have begun. The calls must therefore run concurrently.
#[derive(Clone)]
struct Meeting {
    of: usize,
    come: Arc<AtomicUsize>,
}

impl Handler<Named> for Meeting {
    async fn handle(&self, _: &Named, _: Delivery<'_>) -> Result<()> {
        self.come.fetch_add(1, Ordering::SeqCst);
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if self.come.load(Ordering::SeqCst) < self.of { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        Ok(())
    }
}

#[test]
fn pat_ec_7_intents_of_several_sources_are_processed_concurrently() {
    let company = Company::new();
    record(&company, (0..8).map(|job| job.to_string()));
    let options = WorkerOptions { concurrency: 4, ..WorkerOptions::default() };
    let meeting = Meeting { of: 4, come: Arc::default() };
    let worker = worker(&company, &Control::default(), options).handler(meeting.clone());
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((company.pending(), meeting.come.load(Ordering::SeqCst)), (0, 8));
}

/// A handler that records the beginning and the end of each job. It yields in between.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Handler<Named> for Diary {
    async fn handle(&self, Named(job): &Named, call: Delivery<'_>) -> Result<()> {
        let note = |what| self.0.lock().unwrap().push(format!("{} {job} {what}", call.source.as_str()));
        note("begins");
        let mut waits = 3;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            waits -= 1;
            if waits > 0 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        note("ends");
        Ok(())
    }
}

#[test]
fn pat_ec_1_intents_of_one_source_are_processed_in_the_order_of_changes() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    for job in 0..6 {
        company.pass(Duration::from_secs(1));
        let mut transaction = Transaction::new(sales(), outbox.store().capabilities().limits).unwrap();
        let source = RowKey::new(if job % 3 == 0 { "bob" } else { "ada" }).unwrap();
        let intent = Intent::of(source).step(Step::call(&Named(job.to_string())).unwrap());
        outbox.record(&mut transaction, &intent).unwrap();
        let sealed = block_on(outbox.seal(&employees(), transaction)).unwrap();
        block_on(outbox.store().submit(&employees(), sealed)).unwrap();
    }
    let diary = Diary::default();
    let worker = worker(&company, &Control::default(), WorkerOptions::default()).handler(diary.clone());
    block_on(worker.run_until_idle()).unwrap();
    let diary = diary.0.lock().unwrap();
    let of = |source: &str| -> Vec<_> {
        diary.iter().filter_map(|line| line.strip_prefix(source)).map(str::to_owned).collect()
    };
    let in_turn = |jobs: &[u32]| -> Vec<_> {
        jobs.iter().flat_map(|job| [format!(" {job} begins"), format!(" {job} ends")]).collect()
    };
    assert_eq!(of("ada"), in_turn(&[1, 2, 4, 5]));
    assert_eq!(of("bob"), in_turn(&[0, 3]));
    assert_ne!(diary.iter().position(|line| line == "ada 1 begins"), Some(2), "{diary:?}");
}

/// A handler that never returns for one of its jobs.
#[derive(Clone)]
struct Stuck {
    at: &'static str,
    done: Arc<Mutex<BTreeSet<String>>>,
}

impl Handler<Named> for Stuck {
    async fn handle(&self, Named(job): &Named, _: Delivery<'_>) -> Result<()> {
        if job == self.at {
            std::future::pending::<()>().await;
        }
        self.done.lock().unwrap().insert(job.clone());
        Ok(())
    }
}

#[test]
fn pat_ec_4_a_job_that_kills_its_workers_is_poison_and_affects_no_other() {
    let company = Company::new();
    let jobs: BTreeSet<String> = (0..20).map(|job| format!("{job:02}")).collect();
    record(&company, jobs.iter().cloned());
    let stuck = Stuck { at: "07", done: Arc::default() };
    let options = WorkerOptions { poison_after: 2, ..WorkerOptions::default() };
    let outbox = company.outbox(&Control::default());
    for _ in 0..6 {
        let worker = worker(&company, &Control::default(), options).handler(stuck.clone());
        let mut running = Box::pin(worker.run_until_idle());
        // The worker runs until it ends or makes no more progress. Then its process is killed.
        for _ in 0..10_000 {
            if running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                break;
            }
        }
        drop(running);
        company.pass(Duration::from_secs(700));
        block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap();
    }
    let poison = block_on(outbox.poison(32)).unwrap();
    assert_eq!((poison.len(), company.pending()), (1, 1), "{poison:?}");
    let done = stuck.done.lock().unwrap();
    assert_eq!(done.len(), 19, "{done:?}");
}

#[test]
fn the_rows_of_sixteen_intents_start_and_end_in_one_transaction_each() {
    let company = Company::new();
    record(&company, (0..32).map(|job| job.to_string()));
    let control = Control::default();
    let worker = worker(&company, &control, WorkerOptions::default()).handler(Diary::default());
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(company.pending(), 0);
    // The eight calls are:
    // 1. a receive
    // 2. a range query
    // 3. a get of the seal key
    // 4. a transaction that begins sixteen intents
    // 5. a transaction that ends these intents, and begins sixteen more
    // 6. a transaction that ends the latter
    // 7. the deletion of the message
    // 8. a receive that finds nothing
    assert_eq!(control.calls(), 8);
}

#[test]
fn pat_ec_3_the_claims_of_all_rows_in_hand_are_extended_with_the_lease() {
    /// A handler whose concurrent jobs last several times as long as their leases.
    #[derive(Clone)]
    struct Long(Arc<Company>);
    impl Handler<Named> for Long {
        async fn handle(&self, _: &Named, call: Delivery<'_>) -> Result<()> {
            for _ in 0..6 {
                self.0.pass(Duration::from_secs(2));
                call.keep().await?;
            }
            Ok(())
        }
    }
    let company = Arc::new(Company::new());
    record(&company, (0..12).map(|job| job.to_string()));
    let worker =
        worker(&company, &Control::default(), WorkerOptions::default()).handler(Long(Arc::clone(&company)));
    block_on(worker.run_until_idle()).unwrap();
    let metrics = worker.metrics();
    assert_eq!((metrics.done, metrics.failures, metrics.lost, company.pending()), (12, 0, 0, 0));
}
