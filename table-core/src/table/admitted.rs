//! Sends a transaction only while the program may write.

use table_store::Result;

use crate::store::{Committed, WriteLease};
use crate::transaction::Transaction;

/// The number of times that a transaction is admitted again because its lease has ended before it was sent.
const AGAIN: usize = 3;

/// Sends a transaction under the lease that `admit` returns. If the lease ends before the transaction is sent, admits it again.
///
/// # Errors
/// Any error from `admit` or `send`; `ServerBusy` if the lease has ended several times.
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
    let mut again = 0;
    loop {
        let Some(lease) = admit().await? else { return send(transaction).await };
        let leased = transaction.clone().with_lease(lease);
        // The check is made here for stores that send each transaction once and do not look at its lease.
        let outcome = match leased.check_lease() {
            Ok(()) => send(leased).await,
            Err(ended) => Err(ended),
        };
        match outcome {
            Err(error) if WriteLease::has_ended(&error) && again < AGAIN => again += 1,
            outcome => return outcome,
        }
    }
}
