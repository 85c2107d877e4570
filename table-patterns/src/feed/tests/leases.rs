//! Tests that a transaction is not sent if its lease expires while the feed is being read (EVO-3).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use table_core::Clock;
use table_core::key::RowKey;
use table_core::store::WriteLease;

use super::World;
use crate::feed::{Cursor, FeedChange};
use crate::tests::faults::{Call, Fault};

#[test]
fn evo_3_a_transaction_whose_lease_ends_at_any_request_for_its_feed_is_not_sent() {
    let mut refused = 0;
    for request in 0..6 {
        let world = World::new(100);
        let elapsed = Arc::new(AtomicU64::new(0));
        let measured = Arc::clone(&elapsed);
        let clock =
            Clock::new(|| 0).with_elapsed(move || Duration::from_secs(measured.load(Ordering::SeqCst)));
        let lease = WriteLease::new(&clock, Duration::from_secs(5));
        let slow = Arc::clone(&elapsed);
        world.store.script(move |call: Call, number| {
            let slow = Arc::clone(&slow);
            // If a transaction is submitted, it takes effect, because the store does not check its lease.
            match call {
                Call::Get if number == request => {
                    Fault::Meanwhile(Box::new(move || slow.store(6, Ordering::SeqCst)))
                }
                _ => Fault::None,
            }
        });
        let source = RowKey::new("7").unwrap();
        let changes = [FeedChange { source: &source, kind: "set", payload: b"" }];
        let feed = world.feed(0);
        let sent = block_on(feed.submit(&world.table, world.transaction().with_lease(lease), &changes));
        world.store.heal();
        let is_late = elapsed.load(Ordering::SeqCst) > 0;
        assert_eq!(sent.as_ref().is_err_and(WriteLease::has_ended), is_late, "request {request}: {sent:?}");
        assert_eq!(world.read(&feed, &Cursor::default(), 10).is_empty(), is_late, "request {request}");
        refused += u32::from(is_late);
    }
    assert!(refused > 0);
}
