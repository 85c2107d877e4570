//! Tests each operation of the older program. Before one of the calls of the operation, the newer program sets the new property.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{IfMatch, Result};
use table_patterns::work::Worker;
use tests::faults::{Control, Controlled};
use tests::time::Time;

use super::super::kit::{Process, raced};
use super::super::refused;
use super::crew::{after, before, copied, person};
use super::{Older, Work, check, newer, older, outbox, write};

type Old = Older<Controlled<Engine>>;

/// The number of operations. They are the operations of [`write`], operations that replace the entire row, a repair, and an update of a copy.
const VERBS: u32 = 11 + 4 + 2;

async fn verb(old: Old, verb: u32) -> Result<()> {
    let (key, person) = (|| before::Person::key("Sales", 1), person(1, verb + 11));
    match verb {
        0..11 => write(&old, 1, verb + 11).await,
        11 => old.replace(&person, IfMatch::Any).await.map(drop),
        12 => {
            let read = old.get(key()).await?.unwrap();
            old.replace(&person, read.etag()).await.map(drop)
        }
        13 => old.insert_or_replace(&person).await.map(drop),
        14 => {
            let written = old.bulk().insert_or_replace_all([person]).await;
            written.map(drop).map_err(|error| error.source)
        }
        15 => old.check().repair().run().await.map(drop),
        _ => old.settle(&copied(1)).await.map(drop),
    }
}

/// The state of the newer program when the older one begins to write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Newer {
    /// The newer program has already written, and the older program knows the newer schema.
    Known,
    /// The newer program opens the table while the older program writes.
    Opens,
}

/// Makes the first `calls` store calls of an operation of the older program, and lets the newer program write. Then completes the operation. Returns `false` if
/// the operation ended before the newer program wrote.
fn interleave(number: u32, calls: usize, state: Newer) -> bool {
    let (time, control) = (Time::default(), Control::default());
    let engine = time.engine();
    let controlled = outbox(&time, &control.over(engine.clone()), &engine);
    let plain: Work<Engine> = outbox(&time, &engine, &engine);
    let old = block_on(older(&time, &controlled));
    block_on(old.insert(&person(1, 1))).unwrap();
    let name = |name: &str| {
        let new = block_on(newer(&time, &plain));
        block_on(new.update(after::Person::key("Sales", 1), |one| one.nickname = Some(name.to_owned())))
            .unwrap();
    };
    if state == Newer::Known {
        name("first");
    }
    time.pass(std::time::Duration::from_secs(6));
    let stepped = control.stepped();
    let mut writing: Process<Result<()>> = Box::pin(verb(old.clone(), number));
    if (0..calls).any(|_| stepped.step(&mut writing).is_some()) {
        return false;
    }
    name("last");
    if number >= 15 {
        // Completes all recorded work. Afterwards, no worker will write the copy again.
        let new = block_on(newer(&time, &plain));
        block_on(Worker::new(plain.clone()).with_index_handler(&new).run_until_idle()).unwrap();
    }
    let outcome = loop {
        if let Some(outcome) = stepped.step(&mut writing) {
            break outcome;
        }
    };
    if number < 11 || !refused(outcome.clone()) {
        raced(outcome);
    }
    block_on(async {
        let (old, new) = (older(&time, &plain).await, newer(&time, &plain).await);
        check(&old, &new, &Worker::new(plain.clone()).with_index_handler(&new)).await;
        let person = new.get(after::Person::key("Sales", 1)).await.unwrap().unwrap();
        assert_eq!(person.nickname.as_deref(), Some("last"), "verb {number} after {calls} calls, {state:?}");
    });
    true
}

#[test]
fn no_verb_of_an_older_program_removes_a_property_that_is_written_at_any_of_its_calls() {
    let mut interrupted = 0;
    for number in 0..VERBS {
        for state in [Newer::Known, Newer::Opens] {
            interrupted += (0..40).take_while(|calls| interleave(number, *calls, state)).count();
        }
    }
    assert!(interrupted > 100, "{interrupted} interruptions");
}
