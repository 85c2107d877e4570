//! Tests the queue of a row. Writers wait in arrival order, and writers that give up leave nothing behind.

use std::collections::VecDeque;
use std::future::pending;

use super::super::{SHORT, Turn, Turns};
use super::*;

/// A step of a random history of writers.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Some writers join the queue.
    Enter(usize),
    /// Some writers join the queue and immediately give up.
    Pass(usize),
    /// A waiting writer at a random position gives up.
    Leave(prop::sample::Index),
    /// The writer with the turn ends its turn.
    End,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => (1..6_usize).prop_map(Event::Enter),
        2 => (1..80_usize).prop_map(Event::Pass),
        3 => any::<prop::sample::Index>().prop_map(Event::Leave),
        2 => Just(Event::End),
    ];
    prop::collection::vec(event, 1..60)
}

/// Writers that queue for one row. The first writer has the turn.
struct Row {
    turns: Turns,
    table: TableName,
    key: EntityKey,
    runtime: Runtime,
}

impl Row {
    fn new() -> Self {
        let runtime = Runtime::new().sleep_by(|_| pending().boxed());
        let (table, key) = (TableName::new("Rows").unwrap(), EntityKey::new("p", "r").unwrap());
        Self { turns: Turns::default(), table, key, runtime }
    }

    /// Starts a writer and polls it once.
    fn enter(&self) -> (Option<Turn>, BoxFuture<'_, Turn>) {
        let mut writer = self.turns.enter_entity(&self.table, &self.key, &self.runtime).boxed();
        ((&mut writer).now_or_never(), writer)
    }

    /// Returns the length of the queue. Writers that have given up are counted.
    fn len(&self) -> usize {
        self.turns.lock().values().map(|line| line.waiters.len()).sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn writers_that_give_up_leave_a_bounded_queue_and_the_others_keep_their_order(events in events()) {
        let row = Row::new();
        let mut turn = row.enter().0;
        let mut waiting = VecDeque::new();
        let mut most = 0;
        for event in events {
            match event {
                Event::Enter(writers) => {
                    for _ in 0..writers {
                        let (entered, writer) = row.enter();
                        prop_assert!(entered.is_none());
                        waiting.push_back(writer);
                    }
                }
                Event::Pass(writers) => {
                    for _ in 0..writers {
                        prop_assert!(row.enter().0.is_none());
                    }
                }
                Event::Leave(at) if !waiting.is_empty() => drop(waiting.remove(at.index(waiting.len()))),
                Event::Leave(_) => {}
                Event::End => {
                    drop(turn.take());
                    turn = match waiting.pop_front() {
                        Some(mut next) => (&mut next).now_or_never(),
                        None => row.enter().0,
                    };
                    prop_assert!(turn.is_some(), "the next writer has the turn");
                }
            }
            most = waiting.len().max(most);
            prop_assert!(row.len() <= 2 * most + SHORT, "{} writers, {most} of them wait", row.len());
            prop_assert_eq!(turn.as_ref().map(Turn::has_waiters), Some(!waiting.is_empty()));
        }
    }
}
