//! The behaviour suite for queues, which tests the requirements for every [`QueueStore`] (QUE-2 to QUE-16). Each scenario is an async function.
//!
//! Each scenario creates its own queue. The caller provides a function that lets time pass. It advances the clock of an engine, or waits in real time on other
//! backends. [`for_each_queue_scenario!`](crate::for_each_queue_scenario) lists all scenarios.

pub mod delivery;
pub mod messages;
pub mod names;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::Utc;
use table_core::queue::{Lease, PutMessage, QueueName};
use table_core::{Error, ErrorCode, QueueStore, Result};

use crate::suite::scene;

/// A queue created for one scenario, and its store.
pub struct QueueScene<'a, Q> {
    pub store: &'a Q,
    pub queue: QueueName,
    /// A function that lets the given time pass for the store.
    pub pass: &'a (dyn Fn(Duration) + Sync),
}

impl<Q> std::fmt::Debug for QueueScene<'_, Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueScene").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// The visibility timeout, in seconds, for a message that must stay hidden during a test. It is longer than any pause of a slow test machine.
pub const HIDDEN: u64 = 3_600;
/// The maximum number of seconds that a test waits for a message. It is a limit, not a delay.
const PASSES: usize = 300;

/// Returns a duration of `seconds` seconds.
#[must_use]
pub const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the text of each received message.
#[must_use]
pub fn texts(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.message.text.as_str()).collect()
}

/// Checks that an operation on a queue failed with the given error code. The error must contain the name of the queue. Returns the error.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(queue: &QueueName, result: Result<T>, code: ErrorCode) -> Error {
    let error = scene::refused(result, code);
    assert!(error.to_string().contains(queue.as_str()), "{error}");
    error
}

/// Returns a queue name never used in the store before.
#[must_use]
pub fn fresh_name() -> QueueName {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let moment = Utc::now().timestamp_micros();
    QueueName::new(&format!("suite-{}-{moment}-{count}", std::process::id())).unwrap()
}

impl<'a, Q: QueueStore> QueueScene<'a, Q> {
    pub async fn new(store: &'a Q, pass: &'a (dyn Fn(Duration) + Sync)) -> Self {
        let queue = fresh_name();
        assert!(store.create_queue(&queue).await.unwrap());
        Self { store, queue, pass }
    }

    pub async fn put(&self, text: &str) -> Lease {
        self.store.put(&self.queue, PutMessage::new(text)).await.unwrap()
    }

    pub async fn receive(&self, count: usize, hidden: u64) -> Vec<Lease> {
        self.store.receive(&self.queue, count, seconds(hidden)).await.unwrap()
    }

    /// Lets time pass until at least one message is visible, and receives all visible messages.
    pub async fn receive_when_shown(&self, hidden: u64) -> Vec<Lease> {
        for _ in 0..PASSES {
            let taken = self.receive(32, hidden).await;
            if !taken.is_empty() {
                return taken;
            }
            (self.pass)(seconds(1));
        }
        panic!("nothing shows in `{}`", self.queue);
    }

    /// Lets time pass until exactly the `expected` messages are visible.
    pub async fn wait_until_shown(&self, expected: &[&str]) {
        for _ in 0..PASSES {
            let seen = self.store.peek(&self.queue, 32).await.unwrap();
            if seen.iter().map(|message| message.text.as_str()).eq(expected.iter().copied()) {
                return;
            }
            (self.pass)(seconds(1));
        }
        panic!("`{}` does not come to show {expected:?} alone", self.queue);
    }

    pub async fn delete(&self, lease: &Lease) -> Result<()> {
        self.store.delete(&self.queue, &lease.message.id, &lease.receipt).await
    }
}

/// Calls a macro once per family of queue scenarios: `$run! { family, [scenario, …] }`.
#[macro_export]
macro_rules! for_each_queue_scenario {
    ($run:ident) => {
        $run! { names, [
            que_3_a_queue_is_created_once,
            que_3_and_13_missing_queues_and_messages_are_not_found,
            que_3_an_identifier_that_no_message_has_deletes_nothing,
            que_3_queues_do_not_share_messages,
        ] }
        $run! { messages, [
            que_5_a_message_is_received_as_it_was_put,
            que_4_a_text_that_xml_cannot_represent_is_refused,
            que_6_a_text_has_at_most_64_kib_of_utf8,
            que_7_an_expired_message_is_gone,
            que_7_a_message_without_an_expiry_stays,
            que_8_times_out_of_range_are_refused,
            que_9_a_batch_has_1_to_32_messages,
            que_10_peek_changes_nothing,
            que_3_clear_deletes_hidden_messages_too,
        ] }
        $run! { delivery, [
            que_8_a_message_put_hidden_becomes_visible_later,
            que_10_a_received_message_is_hidden_and_becomes_visible_again,
            que_11_a_receipt_stays_valid_until_the_next_receive,
            que_11_the_receipt_of_a_put_deletes,
            que_12_an_update_gives_a_new_receipt_text_and_time,
            que_13_a_deleted_message_is_not_found,
            que_14_delivery_is_roughly_in_the_order_of_puts,
            que_14_concurrent_receivers_share_no_message,
        ] }
    };
}
