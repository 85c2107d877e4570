//! Loads accounts and entries. A unit of work is a transaction over several entities. It writes entries and allocates their numbers.

use std::time::Instant;

use chrono::{Days, NaiveDate};
use indicatif::ProgressBar;

use crate::ledger::books::{Bookkeeping, Draft};
use crate::ledger::{ACCOUNTS, Failed, TENANTS, draft, rate};
use crate::model::ledger::{Account, Kind};

/// The effective day of the first loaded entry.
pub(super) const FIRST: NaiveDate = match NaiveDate::from_ymd_opt(2024, 3, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};
/// The number of days over which the loaded entries are distributed.
const DAYS: u32 = 700;
/// The number of entries in each unit of work.
///
/// Each entry takes seven operations: the entry, two index rows, two postings, its request and a line in the audit log. A unit of work also writes up to four
/// rows of sums for each page of accounts, the books, the sequence and the feed.
const UNIT: usize = 10;

/// Creates the books of all tenants and loads entries into them.
pub(super) async fn load(books: &Bookkeeping, count: u32) -> Result<(), Failed> {
    for tenant in TENANTS {
        books.open_books(tenant, FIRST.pred_opt().unwrap_or(FIRST)).await?;
        let kinds = [Kind::Asset, Kind::Liability, Kind::Income, Kind::Expense];
        // The last account gets no entries. It will be closed later, and only an account with a zero balance can be closed.
        let account = |number: u32| Account {
            tenant: tenant.to_owned(),
            number,
            code: format!("{}", 10_000 + number),
            name: format!("Account {number}"),
            currency: "EUR".to_owned(),
            kind: kinds.get(number as usize % 4).copied().unwrap_or(Kind::Asset),
            parent: (number >= 10).then_some(number / 10),
        };
        let accounts = books.accounts.clone().with_actor("importer");
        accounts.bulk().insert_all((0..=ACCOUNTS).map(account)).await.map_err(|stopped| stopped.source)?;
    }
    let (began, bar) = (Instant::now(), ProgressBar::new(count.into()));
    let mut loaded = 0;
    for tenant in TENANTS {
        let chart = books.chart(tenant).await?;
        let of_tenant = count / u32::try_from(TENANTS.len())?;
        let drafts: Vec<Draft> = (0..of_tenant).map(entry).collect();
        for some in drafts.chunks(UNIT) {
            books.post(tenant, &chart, some).await?;
            bar.inc(some.len().try_into()?);
        }
        loaded += of_tenant;
    }
    bar.finish_and_clear();
    rate("entries loaded", loaded, began);
    Ok(())
}

/// Returns the entry to load at the given position. All accounts in a unit of work have their balances in the same row.
fn entry(at: u32) -> Draft {
    let page = at / 10 % 5;
    let day = FIRST.checked_add_days(Days::new(u64::from(at % DAYS))).unwrap_or(FIRST);
    draft(format!("load {at}"), day, page * 200 + at * 11 % 180, 2)
}
