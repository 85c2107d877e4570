//! The workload thread for the example ledger. It posts entries of 2 to 50 lines, reverses entries, and repeats requests.

use chrono::Days;
use examples::ledger::books::Draft;
use examples::model::ledger::{Entry, Line};
use rand::RngExt;
use table_core::{Error, ErrorCode, Result};

use super::books::{ACCOUNTS, CLOSED, TENANTS, failure, lines_text, request_key};
use super::ledger::Kind;
use super::workload::Hand;

impl Hand<'_> {
    /// Posts an entry, reverses the last entry posted by this thread, or repeats a request.
    pub(super) async fn post(&mut self) -> Result<()> {
        let tenant = TENANTS[self.number % TENANTS.len()];
        let choice = self.random.random_range(0..6_u32);
        if choice < 2
            && let Some((draft, number)) = self.posted.take()
        {
            return if choice == 0 {
                self.reverse(tenant, number).await
            } else {
                self.repeat(tenant, draft, number).await
            };
        }
        let draft = self.draft();
        let (books, at) = (&self.stores.books, (Kind::Entry, request_key(tenant, &draft.request)));
        let mut numbers = Vec::new();
        let change = async {
            let posted = books.keeping.post(tenant, &books.chart, std::slice::from_ref(&draft)).await;
            posted.map(|posted| numbers = posted).map_err(failure)
        };
        Box::pin(self.make(at, Some(lines_text(&draft.lines)), change)).await?;
        self.posted = numbers.first().map(|number| (draft, *number));
        Ok(())
    }

    fn draft(&mut self) -> Draft {
        let postings =
            if self.random.random_range(0..8_u32) == 0 { 50 } else { self.random.random_range(2..5_u32) };
        let first = self.random.random_range(0..ACCOUNTS);
        let cents = |at| if at == 0 { i64::from(postings - 1) * 100 } else { -100 };
        let line = |at| Line { account: (first + at * 7) % ACCOUNTS, cents: cents(at) };
        let days = Days::new(self.random.random_range(1..90_u64));
        Draft {
            request: format!("{}/{}/{}", self.round, self.own, self.step),
            effective: CLOSED.checked_add_days(days).unwrap_or(CLOSED),
            reference: format!("invoice {}", self.random.random_range(0..20_u32)),
            lines: (0..postings).map(line).collect(),
        }
    }

    async fn reverse(&mut self, tenant: &str, number: u32) -> Result<()> {
        let keeping = &self.stores.books.keeping;
        let Some(entry) = keeping.entries.get(Entry::key(tenant, number)).await? else {
            return Err(Error::new(ErrorCode::ResourceNotFound, format!("entry {number} is gone")));
        };
        let lines: Vec<Line> = entry.lines.iter().map(|line| Line { cents: -line.cents, ..*line }).collect();
        let at = (Kind::Entry, request_key(tenant, &format!("reversal of {number}")));
        let change = async { keeping.reverse(tenant, number, entry.effective).await.map_err(failure) };
        self.make(at, Some(lines_text(&lines)), change).await
    }

    /// Repeats a request. The repetition must change nothing, and must return the first response.
    async fn repeat(&mut self, tenant: &str, draft: Draft, number: u32) -> Result<()> {
        let books = &self.stores.books;
        let again =
            books.keeping.post(tenant, &books.chart, std::slice::from_ref(&draft)).await.map_err(failure)?;
        if again != [number] {
            let text = format!("the request of entry {number} was answered again by {again:?}");
            return Err(Error::new(ErrorCode::InternalError, text));
        }
        self.posted = Some((draft, number));
        Ok(())
    }
}
