//! An accounting ledger for one tenant, implemented once with `table-patterns` and once with `SQLite`. Both versions store the same content and give the same
//! guarantees.
//!
//! A post checks that the request id is new, and that the period and the accounts are open. The entry gets the next number, without gaps. One durable
//! transaction writes everything: the entry, its lookup rows by date and by reference, its postings, the balances and monthly sums of its accounts, a line in
//! the audit log, and a record for a webhook.
//!
//! The `examples` package contains the same ledger. It is compiled there without optimisation, so it is unsuitable for measurements.

pub mod ours;
pub mod sqlite;

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};

use crate::Outcome;

/// The number of accounts.
pub const ACCOUNTS: u32 = 1_000;
/// The number of postings on a page of an account's statement.
pub const PAGE: usize = 50;
/// The tenant whose ledger is used.
pub const TENANT: &str = "contoso";
/// The number of days covered by the entries.
const DAYS: u64 = 700;
/// The first day with entries. All days before it are closed.
pub const FIRST: NaiveDate = match NaiveDate::from_ymd_opt(2024, 3, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// A journal entry to post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The request id, chosen by the client.
    pub request: String,
    /// The day on which the entry takes effect.
    pub effective: NaiveDate,
    /// A reference to the document recorded by the entry.
    pub reference: String,
    /// The accounts and the amounts posted to them, in cents. The amounts sum to zero.
    pub lines: Vec<(u32, i64)>,
}

/// One line of an account's statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The day on which the entry takes effect.
    pub effective: NaiveDate,
    /// The number of the entry.
    pub entry: u32,
    /// The amount in cents.
    pub cents: i64,
    /// The document recorded by the entry.
    pub reference: String,
}

/// A ledger implementation.
pub trait Books: Sync {
    /// Returns the name of the implementation as shown in the table of results.
    fn name(&self) -> &'static str;

    /// Posts entries in one durable transaction.
    fn post(&self, drafts: Vec<Draft>) -> Outcome<()>;

    /// Posts many entries as fast as possible. Returns when all of them are durable.
    fn load(&self, drafts: Vec<Draft>) -> Outcome<()>;

    /// Closes an account. Its balance must be zero.
    fn close_account(&self, account: u32) -> Outcome<()>;

    /// Returns a reader for one thread.
    fn reader(&self) -> Outcome<Box<dyn Reader + '_>>;
}

/// A reader of a ledger.
pub trait Reader {
    /// Returns the current balance of an account in cents.
    fn balance(&mut self, account: u32) -> Outcome<i64>;

    /// Returns the newest postings of an account.
    fn statement(&mut self, account: u32) -> Outcome<Vec<Line>>;

    /// Returns the balances at the start of a month. Accounts with a zero balance are omitted.
    fn trial_balance(&mut self, month: u32) -> Outcome<BTreeMap<u32, i64>>;

    /// Returns the number of entries. Fails if the entry numbers have a gap.
    fn entries(&mut self) -> Outcome<u32>;
}

/// Returns the number of whole months since year 0.
#[must_use]
pub fn month(day: NaiveDate) -> u32 {
    use chrono::Datelike;
    u32::try_from(day.year()).unwrap_or_default() * 12 + day.month0()
}

/// Returns the draft with number `turn`, which has `postings` postings to pseudo-random accounts on a pseudo-random day.
#[must_use]
pub fn draft(turn: u32, postings: u32) -> Draft {
    let cents = |at| if at == 0 { i64::from(postings - 1) * 100 } else { -100 };
    Draft {
        request: format!("request-{turn:08}-{:08x}", turn.wrapping_mul(0x9E37_79B1)),
        effective: FIRST.checked_add_days(Days::new(u64::from(turn) * 17 % DAYS)).unwrap_or(FIRST),
        reference: format!("invoice {}", turn % 5_000),
        lines: (0..postings).map(|at| ((turn * 13 + at * 7) % ACCOUNTS, cents(at))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn both_ledgers_give_the_same_answers() {
        let folder = Folder::named("books-test", false).unwrap();
        let ours = ours::Ours::create(&folder.join("tables")).unwrap();
        let peer = sqlite::SqliteBooks::create(&folder.join("peer")).unwrap();
        let ledgers: [&dyn Books; 2] = [&ours, &peer];
        for books in ledgers {
            books.load((0..300).map(|turn| draft(turn, 2)).collect()).unwrap();
            books.post(vec![draft(300, 50)]).unwrap();
            books.post(vec![draft(300, 50)]).unwrap(); // a repetition
            let early = Draft { effective: NaiveDate::MIN, ..draft(301, 2) };
            assert!(books.post(vec![early]).is_err(), "the period is closed");
            let other = Draft { lines: draft(302, 2).lines, ..draft(5, 2) };
            assert!(books.post(vec![other]).is_err(), "one request for two entries");
            assert!(books.close_account(13).is_err(), "the account has a balance");
            books.close_account(999).unwrap();
            let closed = Draft { lines: vec![(999, 1), (13, -1)], ..draft(303, 2) };
            assert!(books.post(vec![closed]).is_err(), "the account is closed");
        }
        let [mut ours, mut peer] = ledgers.map(|books| books.reader().unwrap());
        assert_eq!((ours.entries().unwrap(), peer.entries().unwrap()), (301, 301));
        let until = month(FIRST) + 11;
        let trial = ours.trial_balance(until).unwrap();
        assert_eq!(trial, peer.trial_balance(until).unwrap());
        assert!(trial.len() > 100, "{}", trial.len());
        for account in 0..ACCOUNTS {
            assert_eq!(ours.balance(account).unwrap(), peer.balance(account).unwrap(), "{account}");
            assert_eq!(ours.statement(account).unwrap(), peer.statement(account).unwrap(), "{account}");
        }
    }
}
