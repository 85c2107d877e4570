//! Sends a transaction only while the program is permitted to write.

use table_store::Result;

use crate::store::{Committed, WriteLease};
use crate::transaction::Transaction;

/// Sends a transaction under the lease returned by `admit`. If the lease ends before the transaction is sent, `admit` and `send` are called one more time. A
/// store that retries requests then counts its attempts from zero again.
///
/// # Errors
/// Any error from `admit` or `send`; `ServerBusy` if the second lease has ended, too.
#[doc(hidden)]
pub async fn submit_admitted<A, S>(
    transaction: Transaction,
    admit: impl Fn() -> A + Send,
    send: impl Fn(Transaction) -> S + Send,
) -> Result<Committed>
where
    A: Future<Output = Result<Option<WriteLease>>> + Send,
    S: Future<Output = Result<Committed>> + Send,
{
    let mut is_first = true;
    loop {
        let Some(lease) = admit().await? else { return send(transaction).await };
        let leased = transaction.clone().with_lease(lease);
        // Some stores send each transaction only once and ignore its lease, so the lease is checked here.
        let outcome = match leased.check_lease() {
            Ok(()) => send(leased).await,
            Err(ended) => Err(ended),
        };
        match outcome {
            Err(error) if WriteLease::has_ended(&error) && is_first => is_first = false,
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use pollster::block_on;
    use table_store::{Clock, Error, ErrorCode, PartitionKey};

    use super::*;
    use crate::limits::Limits;

    fn lease(seconds: u64) -> WriteLease {
        WriteLease::new(&Clock::new(|| 7), Duration::from_secs(seconds))
    }

    /// Submits a transaction. Each item of `lengths` determines the lease granted by one admission. The first `ended` requests fail as if their lease had
    /// ended. Returns the outcome, the number of admissions and the number of requests.
    fn submitted(lengths: &[Option<u64>], ended: usize) -> (Result<Committed>, usize, usize) {
        let (admissions, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let transaction = Transaction::new(PartitionKey::default(), Limits::PORTABLE).unwrap();
        let admit = || {
            let at = admissions.fetch_add(1, Ordering::Relaxed);
            let length = lengths.get(at).copied().flatten();
            async move { Ok(length.map(lease)) }
        };
        let send = |_| {
            let is_late = requests.fetch_add(1, Ordering::Relaxed) < ended;
            let busy = Error::new(ErrorCode::ServerBusy, "busy");
            async move { if is_late { Err(WriteLease::ended(Some(busy))) } else { Ok(Committed::new()) } }
        };
        let outcome = block_on(submit_admitted(transaction, admit, send));
        (outcome, admissions.into_inner(), requests.into_inner())
    }

    #[test]
    fn evo_3_a_transaction_is_admitted_and_sent_at_most_twice() {
        for (lengths, ended, is_sent, admissions, requests) in [
            (&[None][..], 0, true, 1, 1),
            (&[Some(5)], 0, true, 1, 1),
            (&[Some(0), Some(5)], 0, true, 2, 1),
            (&[Some(0), Some(0)], 0, false, 2, 0),
            (&[Some(5), Some(5)], 1, true, 2, 2),
            (&[Some(5), Some(5)], 2, false, 2, 2),
            (&[Some(5), None], 1, true, 2, 2),
        ] {
            let (outcome, admitted, sent) = submitted(lengths, ended);
            assert_eq!(
                (outcome.is_ok(), admitted, sent),
                (is_sent, admissions, requests),
                "{lengths:?} {ended}"
            );
            assert!(outcome.is_ok() || WriteLease::has_ended(&outcome.unwrap_err()));
        }
    }
}
