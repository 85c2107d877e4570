//! Tests that an outage of any length makes no work poison, even if the store also fails now and then, or workers are stopped during their attempts.

use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Context, Waker};

use super::*;

/// The time between two deliveries, in ticks. It exceeds every delay between attempts.
const ROUND: u64 = 20 * 600_000_000;
/// One of this many deliveries has a fault.
const EVERY: usize = 3;

/// A handler whose target does not answer while it is down. If `hangs` is `true`, the call never ends.
#[derive(Clone, Default)]
struct Webhook {
    is_down: Arc<AtomicBool>,
    hangs: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
}

impl Handler<Mail> for Webhook {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        if self.hangs.load(Ordering::SeqCst) {
            pending::<()>().await;
        }
        if self.is_down.load(Ordering::SeqCst) {
            return Err(work::outage("no answer"));
        }
        self.sent.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// The fault in every third delivery.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// The store refuses this request of the delivery and all later ones.
    Refuses(usize),
    /// The store applies this request of the delivery and all later ones, but their responses are lost.
    Loses(usize),
    /// The worker is stopped while the handler runs.
    Stops,
}

#[test]
fn pat_ec_5_no_outage_makes_work_poison_however_long_it_lasts() {
    let requests = 0..12;
    let troubles = requests.clone().map(Trouble::Refuses).chain(requests.map(Trouble::Loses));
    for trouble in troubles.chain([Trouble::Stops]) {
        let (outbox, engine, time) = outbox();
        let table = TableName::new("Company").unwrap();
        block_on(engine.create_table(&table)).unwrap();
        for partition in ["Sales", "Legal", "Staff"] {
            record(&outbox, &table, partition);
        }
        let store = FaultyStore::new(engine.clone());
        let (queue, runtime) = (outbox.queue().clone(), outbox.runtime().clone());
        let faulty = Outbox::with_runtime(store.clone(), engine, queue, runtime);
        let hook = Webhook::default();
        hook.is_down.store(true, Ordering::SeqCst);
        let worker = Worker::new(faulty).handler(hook.clone());
        for round in 0..60 {
            time.fetch_add(ROUND, Ordering::SeqCst);
            let is_faulty = round % EVERY == 0;
            hook.hangs.store(is_faulty && matches!(trouble, Trouble::Stops), Ordering::SeqCst);
            store.script(move |_, at| match trouble {
                Trouble::Refuses(first) if is_faulty && at >= first => Fault::Before(ErrorCode::ServerBusy),
                Trouble::Loses(first) if is_faulty && at >= first => {
                    Fault::After(ErrorCode::OperationTimedOut)
                }
                _ => Fault::None,
            });
            let mut delivery = pin!(worker.run_until_idle());
            let _ = delivery.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        store.heal();
        hook.hangs.store(false, Ordering::SeqCst);
        hook.is_down.store(false, Ordering::SeqCst);
        for _ in 0..3 {
            time.fetch_add(ROUND, Ordering::SeqCst);
            block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap();
            block_on(worker.run_until_idle()).unwrap();
        }
        let metrics = worker.metrics();
        assert_eq!((metrics.poisoned, hook.sent.load(Ordering::SeqCst)), (0, 3), "{trouble:?}: {metrics:?}");
        assert_eq!(block_on(Sweep::new(outbox).sweep_registered()).unwrap().pending, 0, "{trouble:?}");
    }
}
