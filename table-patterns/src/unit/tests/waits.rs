//! Tests transactions of one process that wait for each other: slow closures, closures that wait for another caller, and callers that stop polling. Time is
//! virtual.

use std::cell::Cell;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::lock::Mutex;
use futures_util::poll;
use pollster::block_on;
use proptest::prelude::*;
use table_core::Error;

use super::processes::{Counter, Counters, Run, entry};
use crate::EntityStore;
use crate::sequence::GaplessSequence;
use crate::unit::tests::timeline::Timeline;

/// The behaviour of a caller.
#[derive(Clone, Copy, Debug)]
enum Caller {
    Plain,
    /// A caller whose closure makes a slow call outside the store.
    Slow,
    /// A caller that holds one of the program's mutexes during its transaction.
    Holds,
    /// A caller whose closure waits for that mutex.
    Needs,
    /// A caller that polls its transaction a few times. It then either drops the transaction or keeps it without polling.
    Leaves {
        polls: usize,
        is_kept: bool,
    },
}

fn callers() -> impl Strategy<Value = Vec<(u64, Caller)>> {
    let caller = prop_oneof![
        4 => Just(Caller::Plain),
        1 => Just(Caller::Slow),
        1 => Just(Caller::Holds),
        1 => Just(Caller::Needs),
        2 => (1..12_usize, any::<bool>()).prop_map(|(polls, is_kept)| Caller::Leaves { polls, is_kept }),
    ];
    prop::collection::vec((0..40_u64, caller), 2..10)
}

const SLOW: Duration = Duration::from_mins(5);

/// The longest duration of a transaction with a fast closure. It allows for several timeouts of turns, but not for the closure of another caller.
const LONGEST: Duration = Duration::from_mins(1);

/// Increments the counter and inserts an entry with the next number, after `pause`.
async fn post(counters: &Counters, pause: impl AsyncFn()) -> Result<(), Error> {
    let numbers = GaplessSequence::new(counters, "entry")?;
    let posted = counters.transaction(Counter::partition("t"), async |unit| {
        let counter = unit.get(Counter::key("t")).await?.expect("inserted");
        pause().await;
        unit.update(&counter, |counter| counter.value += 1)?;
        let number: u32 = numbers.next_in(unit).await?;
        unit.insert(&entry(number))?;
        Ok::<_, Error>(())
    });
    posted.await.map(drop)
}

async fn call(counters: &Counters, caller: Caller, gate: &Mutex<()>, timeline: &Timeline) -> bool {
    let plain = async || {};
    match caller {
        Caller::Plain => post(counters, plain).await.unwrap(),
        Caller::Slow => post(counters, async || timeline.sleep(SLOW).await).await.unwrap(),
        Caller::Needs => post(counters, async || drop(gate.lock().await)).await.unwrap(),
        Caller::Holds => {
            let _held = gate.lock().await;
            post(counters, plain).await.unwrap();
        }
        Caller::Leaves { polls, is_kept } => {
            let mut left = Box::pin(post(counters, plain));
            for _ in 0..polls {
                if poll!(&mut left).is_ready() {
                    return true;
                }
                timeline.sleep(Duration::from_millis(3)).await;
            }
            if is_kept {
                timeline.sleep(12 * SLOW).await;
            }
            return false;
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_transaction_waits_for_the_function_of_another_caller(seed in any::<u32>(), callers in callers()) {
        let run = Run::new(u64::from(seed));
        let counters = run.process(0, Duration::from_millis(4));
        let (gate, posted, left) = (Mutex::new(()), Cell::new(0), Cell::new(0));
        let (counters, gate, posted, left, timeline) = (&counters, &gate, &posted, &left, &run.timeline);
        let tasks = callers.iter().map(|(start, caller)| -> LocalBoxFuture<'_, ()> {
            Box::pin(async move {
                timeline.sleep(Duration::from_millis(*start)).await;
                let began = timeline.now();
                if call(counters, *caller, gate, timeline).await {
                    posted.set(posted.get() + 1);
                    let took = timeline.now().saturating_sub(began);
                    assert!(took < LONGEST || matches!(caller, Caller::Slow), "{caller:?} took {took:?}");
                } else {
                    left.set(left.get() + 1);
                }
            })
        });
        timeline.run(tasks.collect());
        let counter = block_on(run.engine.entities::<Counter>().get(Counter::key("t"))).unwrap().unwrap();
        let value = usize::try_from(counter.value).unwrap();
        prop_assert!((posted.get()..=posted.get() + left.get()).contains(&value));
        run.check(value);
    }
}
