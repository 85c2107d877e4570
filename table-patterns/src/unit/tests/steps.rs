//! Tests steps that transactions record and that are committed in groups. They must leave the state of the last change.

use futures_util::future::join_all;
use proptest::prelude::*;
use table_core::TableStoreExt;

use super::transaction::pace;
use super::*;
use crate::work::Worker;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Lines")]
#[partition_key(tenant)]
#[row_key("line_", number)]
struct Line {
    tenant: String,
    #[digits(4)]
    number: u32,
    phone: i32,
}

/// The copy of a line in another table. A step writes it.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Phones")]
#[partition_key(tenant)]
#[row_key(number)]
struct Listing {
    tenant: String,
    #[digits(4)]
    number: u32,
    phone: i32,
}

type Lines = Entities<Line, Engine, Outbox<Engine, Engine>>;

/// A change to a line. It contains the line's number and the new phone; `None` deletes the line.
type Change = (u32, Option<i32>);

/// Changes a line, and records a step that changes its copy in the same way.
async fn change(lines: &Lines, (number, phone): Change) -> Result<()> {
    let done = lines.transaction(Line::partition("t"), async |unit| {
        let read = unit.get(Line::key("t", number)).await?;
        let step = match (phone, &read) {
            (Some(phone), _) => {
                unit.save(read.as_ref(), &Line { tenant: "t".into(), number, phone })?;
                Step::put(&Listing { tenant: "t".into(), number, phone })?
            }
            (None, Some(read)) => {
                unit.delete(read)?;
                Step::delete(Listing::key("t", number))?
            }
            (None, None) => return Ok(()),
        };
        unit.add_step(Line::key("t", number), step).map(drop)
    });
    done.await.map(drop)
}

/// Makes all changes at the same time, in groups, and performs their steps. Returns the phone of each line and the phone in its copy.
async fn phones_after(changes: &[Change]) -> Result<Vec<[Option<i32>; 2]>> {
    let store = Engine::in_memory();
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("work")?);
    outbox.create_queues().await?;
    let lines: Lines = store.entities_with_outbox(outbox.clone()).create_if_missing().await?;
    let (lines, phones) =
        (lines.with_runtime(pace(false)), store.table::<Listing>().create_if_missing().await?);
    // The turn is held until all transactions wait for it.
    let (table, partition_key) = (lines.table().name()?, PartitionKey::new("t")?);
    let held = lines.turns.enter(table, &partition_key, &pace(false)).await;
    let mut all = Box::pin(join_all(changes.iter().map(|one| change(&lines, *one))));
    assert!(futures_util::poll!(&mut all).is_pending());
    drop(held);
    all.await.into_iter().collect::<Result<()>>()?;
    Worker::new(outbox).run_until_idle().await?;
    let mut found = Vec::new();
    for number in 0..3 {
        let line = lines.get(Line::key("t", number)).await?.map(|line| line.phone);
        found.push([line, phones.get(Listing::key("t", number)).await?.map(|copy| copy.phone)]);
    }
    Ok(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_steps_of_a_group_leave_the_state_of_the_last_change(
        changes in proptest::collection::vec((0..3_u32, proptest::option::weighted(0.8, any::<i32>())), 1..12),
    ) {
        for [line, copy] in block_on(phones_after(&changes)).unwrap() {
            prop_assert_eq!(copy, line);
        }
    }
}
