//! Tests queries over several periods on a store whose pages are not in key order.

use chrono::TimeDelta;
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine};
use table_core::testing::LimitedStore;
use table_core::ticks;

use super::{Attempts, LoginAttempt, PeriodTables, attempt, attempts, noon};
use crate::tests::faults::unordered;

type Scattered = PeriodTables<LoginAttempt, LimitedStore<Engine>>;

fn scattered() -> Scattered {
    let now = ticks::from_datetime(noon()).unwrap();
    PeriodTables::new(unordered()).retain(3).precreate(2).with_clock(Clock::new(move || now))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn cos_1_a_read_over_periods_is_in_key_order_where_a_store_answers_in_no_order(
        minutes in prop::collection::btree_set(0..4_000_i64, 0..120),
        users in 1..3_u32,
        limit in 1..200_usize,
    ) {
        let (ordered, _, _): (Attempts, _, _) = attempts();
        let scattered = scattered();
        for (at, minute) in minutes.iter().enumerate() {
            let user = u32::try_from(at).unwrap() % users;
            let one = attempt(user, noon() - TimeDelta::minutes(*minute));
            block_on(ordered.insert(&one)).unwrap();
            block_on(scattered.insert(&one)).unwrap();
        }
        let from = noon() - TimeDelta::days(3);
        for user in 0..users {
            let query = |of: &Scattered| block_on(of.query(LoginAttempt::partition(user), from, noon()).unwrap().limit(limit).collect());
            let expected = ordered.query(LoginAttempt::partition(user), from, noon()).unwrap().limit(limit);
            prop_assert_eq!(query(&scattered).unwrap(), block_on(expected.collect()).unwrap());
        }
    }
}

/// Tests that a read of several pages is in key order. The rows of each period do not fit into one page.
#[test]
fn cos_1_a_read_of_several_pages_is_in_key_order_too() {
    let scattered = scattered();
    for second in 0..2_500 {
        block_on(scattered.insert(&attempt(1, noon() - TimeDelta::seconds(second)))).unwrap();
    }
    let query = || scattered.query(LoginAttempt::partition(1), noon() - TimeDelta::days(1), noon()).unwrap();
    let all = block_on(query().collect()).unwrap();
    let expected: Vec<_> =
        (0..2_500).rev().map(|second| attempt(1, noon() - TimeDelta::seconds(second))).collect();
    assert_eq!(all, expected);
    assert_eq!(block_on(query().limit(3).collect()).unwrap(), expected[..3]);
}
