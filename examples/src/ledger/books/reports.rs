//! The reports of the ledger: balances, statements and the audit log.

use std::collections::BTreeMap;

use chrono::{Datelike, Days, NaiveDate};
use table_core::{Continuation, Result as Stored, TableStoreExt, Versioned};

use super::{Bookkeeping, month, slot};
use crate::model::ledger::{Audit, Balances, Entry, EntryLine, MonthSums, Posting, SLOTS};

impl Bookkeeping {
    /// Returns the current balance of an account in cents.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn balance(&self, tenant: &str, account: u32) -> Stored<i64> {
        let (page, at) = slot(account);
        Ok(self.balances.get_slot(Balances::key(tenant, page), at).await?.unwrap_or_default())
    }

    /// Returns the balance of an account at the end of a day. It is the sum of all earlier months, plus the postings in the month of the day, up to and
    /// including the day.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn balance_at(&self, tenant: &str, account: u32, day: NaiveDate) -> Stored<i64> {
        let (page, at) = slot(account);
        let months =
            self.months.query(MonthSums::rows(tenant).page_is(page).month(..month(day))).collect().await?;
        let earlier: i64 = months.iter().filter_map(|row| row.slot(at)).sum();
        let first = day.with_day(1).unwrap_or(day);
        let postings = self.entries.table().store().table::<Posting>();
        let postings = postings
            .query(Posting::rows(tenant).account_is(account).effective(first..=day))
            .collect()
            .await?;
        Ok(earlier + postings.iter().map(|posting| posting.cents).sum::<i64>())
    }

    /// Returns the balances of all accounts at the end of a day, except zero balances.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn trial_balance(&self, tenant: &str, day: NaiveDate) -> Stored<BTreeMap<u32, i64>> {
        let mut pages = BTreeMap::<u32, Vec<i64>>::new();
        for row in self.months.query(MonthSums::rows(tenant)).collect().await? {
            if row.entity.month < month(day) {
                let sums = pages.entry(row.entity.page).or_insert_with(|| vec![0; row.slots().len()]);
                for (sum, cents) in sums.iter_mut().zip(row.slots()) {
                    *sum += cents.unwrap_or_default();
                }
            }
        }
        let accounts = pages.into_iter().flat_map(|(page, sums)| (page * SLOTS..).zip(sums));
        let mut balances: BTreeMap<u32, i64> = accounts.collect();
        let first = day.with_day(1).unwrap_or(day);
        for line in self.entries_of(tenant, first, day).await? {
            let entry = self.entries.get(Entry::key(tenant, line.number)).await?;
            for line in entry.iter().flat_map(|entry| &entry.lines) {
                *balances.entry(line.account).or_default() += line.cents;
            }
        }
        balances.retain(|_, cents| *cents != 0);
        Ok(balances)
    }

    /// Returns the entries whose effective days are between `from` and `to`, inclusive.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn entries_of(&self, tenant: &str, from: NaiveDate, to: NaiveDate) -> Stored<Vec<EntryLine>> {
        let until = to.checked_add_days(Days::new(1)).unwrap_or(to);
        let days = Entry::by_date_rows(tenant).effective(from..until);
        self.entries.query(days).project::<EntryLine>().collect().await
    }

    /// Returns a page of the statement of an account, newest posting first, and the cursor for the next page. A web client can store the cursor.
    ///
    /// # Errors
    /// `InvalidInput` if the cursor belongs to a different tenant or account, or any error from the store.
    pub async fn statement(
        &self,
        tenant: &str,
        account: u32,
        cursor: Option<&str>,
    ) -> Stored<(Vec<Posting>, Option<String>)> {
        let postings = self.entries.table().store().table::<Posting>();
        let query = postings.query(Posting::rows(tenant).account_is(account)).page_size(50);
        let page = match cursor {
            Some(cursor) => query.page_from(&cursor.parse::<Continuation>()?).await?,
            None => query.page().await?,
        };
        let items = page.items.into_iter().map(Versioned::into_value).collect();
        Ok((items, page.continuation.map(|cursor| cursor.to_string())))
    }

    /// Returns one year of a tenant's audit log.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn audit(&self, tenant: &str, year: u32) -> Stored<Vec<Audit>> {
        let audits = self.entries.table().store().table::<Audit>();
        audits.query(Audit::rows(tenant).year_is(year)).collect().await
    }
}
