//! Tests a process with concurrent transactions, which are committed in groups, while other processes write to the partition.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use pollster::block_on;
use table_core::{Entity, Error};

use super::{Counter, Counters, Run};
use crate::EntityStore;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters")]
#[partition_key(tenant)]
#[row_key("account_", number)]
struct Account {
    tenant: String,
    #[digits(6)]
    number: u32,
    bookings: i64,
}

/// The number of accounts. One task of a process uses each of them.
const ACCOUNTS: u32 = 6;
const BOOKINGS: u32 = 4;

/// Increments an account, and the counter that all accounts share.
async fn book(process: &Counters, number: u32) {
    let booked = process.transaction(Counter::partition("t"), async |unit| {
        let account = unit.get(Account::key("t", number)).await?.expect("inserted");
        let counter = unit.get(Counter::key("t")).await?.expect("inserted");
        unit.update(&account, |account| account.bookings += 1)?;
        unit.update(&counter, |counter| counter.value += 1).map(drop)
    });
    booked.await.map_err(|error: Error| error.to_string()).unwrap();
}

/// Tests that the reservation of a transaction does not delay other transactions of its process. They read rows that the transaction itself has not read, so
/// they find the reservation.
#[test]
fn no_transaction_waits_for_a_reservation_of_its_own_process() {
    for (seed, latency) in [(30, 10), (31, 20), (32, 40), (33, 40), (34, 100), (35, 100)] {
        let run = Run::new(seed);
        let accounts = run.engine.entities::<Account>();
        for number in 0..=ACCOUNTS {
            block_on(accounts.insert(&Account { tenant: "t".into(), number, bookings: 0 })).unwrap();
        }
        let slow = run.process(0, Duration::from_millis(latency));
        let near = run.process(1, Duration::from_millis(1));
        let (random, left) = (run.timeline.runtime(seed), Cell::new(ACCOUNTS));
        let (slow, near, random, left, timeline) = (&slow, &near, &random, &left, &run.timeline);
        let tasks = (0..ACCOUNTS).map(|number| -> LocalBoxFuture<'_, ()> {
            Box::pin(async move {
                for _ in 0..BOOKINGS {
                    timeline.sleep(Duration::from_millis(random.random() % (10 * latency))).await;
                    book(slow, number).await;
                }
                left.set(left.get() - 1);
            })
        });
        let others: LocalBoxFuture<'_, ()> = Box::pin(async move {
            while left.get() > 0 {
                book(near, ACCOUNTS).await;
            }
        });
        timeline.run(tasks.chain([others]).collect());
        for number in 0..ACCOUNTS {
            let account = block_on(accounts.get(Account::key("t", number))).unwrap().expect("inserted");
            assert_eq!(account.bookings, i64::from(BOOKINGS));
        }
        assert_eq!(run.reservations(), 0);
        let expiries =
            [slow, near].map(|process| process.table().store().sent.expiries.load(Ordering::Relaxed));
        assert_eq!(expiries, [0, 0], "seed {seed}: reservations whose hold time ended");
    }
}
