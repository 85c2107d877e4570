//! Checks the invariants of a tenant's ledger.

use std::collections::BTreeMap;

use table_core::TableStoreExt;

use crate::ledger::books::Bookkeeping;
use crate::ledger::{ACCOUNTS, Failed, today};
use crate::model::ledger::{Entry, Posting, Request};

/// Checks the books of a tenant:
/// - Numbers have no gaps.
/// - Entries sum to zero.
/// - Balances equal the sums of their postings.
/// - Indexes match their entries.
/// - Each entry has a line in the audit log. It either has a request or reverses another entry.
pub(super) async fn tenant(books: &Bookkeeping, tenant: &str) -> Result<(), Failed> {
    let entries = books.entries.query(Entry::rows(tenant)).collect().await?;
    let (mut sums, mut postings) = (BTreeMap::<u32, i64>::new(), 0);
    for (at, entry) in (1..).zip(&entries) {
        assert_eq!(entry.number, at, "numbers have no gaps");
        assert_eq!(entry.lines.iter().map(|line| line.cents).sum::<i64>(), 0, "entry {at} sums to zero");
        for line in &entry.lines {
            *sums.entry(line.account).or_default() += line.cents;
            postings += 1;
        }
    }
    let store = books.entries.table().store();
    let stored = store.table::<Posting>().query(Posting::rows(tenant)).collect().await?;
    assert_eq!(stored.len(), postings, "each posting is in a statement");
    let mut by_account = BTreeMap::<u32, i64>::new();
    for posting in &stored {
        *by_account.entry(posting.account).or_default() += posting.cents;
    }
    assert_eq!(by_account, sums, "statements and entries agree");
    for account in 0..=ACCOUNTS {
        let balance = books.balance(tenant, account).await?;
        assert_eq!(
            balance,
            sums.get(&account).copied().unwrap_or_default(),
            "the balance of account {account}"
        );
    }
    sums.retain(|_, cents| *cents != 0);
    let end = today().checked_add_days(chrono::Days::new(40)).unwrap_or_else(today);
    assert_eq!(books.trial_balance(tenant, end).await?, sums, "the trial balance");
    let requests = store.table::<Request>().query(Request::rows(tenant)).collect().await?;
    let mut answers: Vec<_> = requests.iter().map(|request| request.entry).collect();
    answers.sort_unstable();
    let posted: Vec<_> =
        entries.iter().filter(|entry| entry.reverses.is_none()).map(|entry| entry.number).collect();
    assert_eq!(answers, posted, "each entry has its request, or reverses another entry");
    assert_eq!(books.entries.check().run().await?.found, 0, "indexes agree");
    println!("  {tenant}: {} entries and {postings} postings: all invariants hold", entries.len());
    Ok(())
}
