//! A queue client that puts, receives and deletes messages. It counts started calls and acknowledged calls.

use std::time::Duration;

use table_core::queue::{PutMessage, QueueName};
use table_core::{QueueStore, Result};

/// The visibility timeout of received messages. It is longer than any test run.
const HIDDEN: Duration = Duration::from_secs(24 * 60 * 60);
/// One in `KEEP_EVERY` received messages is kept. The others are deleted.
const KEEP_EVERY: u64 = 8;

/// The number of started calls to a queue, and the number of acknowledged ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    puts_begun: u64,
    puts: u64,
    deletes_begun: u64,
    deletes: u64,
}

impl Tally {
    /// Checks the number of messages in a queue. A call that was started but not acknowledged may or may not have taken effect.
    fn judge(&self, queue: &QueueName, count: u64) -> Option<String> {
        let (least, most) = (self.puts.saturating_sub(self.deletes_begun), self.puts_begun - self.deletes);
        (!(least..=most).contains(&count))
            .then(|| format!("queue {queue}: {count} messages, where {least} to {most} belong ({self:?})"))
    }
}

/// Returns the name of the queue that belongs to a client.
///
/// # Errors
/// Never occurs in practice, because the name is valid.
pub(super) fn queue(hand: usize) -> Result<QueueName> {
    QueueName::new(&format!("torture-{hand}"))
}

/// Puts a message, receives a message, and usually deletes the received message.
///
/// # Errors
/// Any error from the store. `tally` then includes the calls that have already been started.
pub(super) async fn step(store: &impl QueueStore, hand: usize, tally: &mut Tally) -> Result<()> {
    let queue = queue(hand)?;
    tally.puts_begun += 1;
    store.put(&queue, PutMessage::new(format!("message {}", tally.puts_begun))).await?;
    tally.puts += 1;
    for lease in store.receive(&queue, 1, HIDDEN).await? {
        if !tally.puts.is_multiple_of(KEEP_EVERY) {
            tally.deletes_begun += 1;
            store.delete(&queue, &lease.message.id, &lease.receipt).await?;
            tally.deletes += 1;
        }
    }
    Ok(())
}

/// Compares the number of messages in a queue with its tally.
///
/// # Errors
/// Any error from the store.
pub(super) async fn check(store: &impl QueueStore, hand: usize, tally: &Tally) -> Result<Option<String>> {
    let queue = queue(hand)?;
    Ok(tally.judge(&queue, store.approximate_count(&queue).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_out_of_bounds_is_wrong() {
        let queue = queue(0).unwrap();
        let tally = Tally { puts_begun: 11, puts: 10, deletes_begun: 4, deletes: 3 };
        for (count, wrong) in [(5, true), (6, false), (8, false), (9, true)] {
            assert_eq!(tally.judge(&queue, count).is_some(), wrong, "{count}");
        }
    }
}
