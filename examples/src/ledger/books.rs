//! The operations of the ledger on accounts, entries, reversals and closings. Balances and statements are in the `reports` module.

mod reports;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use chrono::{Datelike, NaiveDate};
use object_store::ObjectStore;
use table_core::{Error, Result as Stored, ticks};
use table_patterns::large::{LargeTable, whole};
use table_patterns::participant::WithParticipants;
use table_patterns::sequence::GaplessSequence;
use table_patterns::series::{SeriesRow, SeriesTable};
use table_patterns::unit::UnitOfWork;
use table_patterns::{Entities, EntityStore};

use crate::model::ledger::{
    Account, AuditTrail, Balances, Books, Entry, Line, MonthSums, Posting, Request, SLOTS,
};
use crate::store::Store;

/// The name under which document blobs are stored.
const FILES: &str = "ledger";

/// The store with a participant. The participant adds a line to the audit log with each change.
pub(super) type Audited = WithParticipants<Store>;
/// A unit of work (one transaction over several entities) on the ledger.
type Work = UnitOfWork<Audited, table_patterns::entities::NoOutbox>;

/// The reason for refusing a request.
#[derive(Debug)]
pub enum Refused {
    /// The entry has fewer than 2 or more than 50 postings, or its postings do not sum to zero. Also returned if the sum of their absolute amounts overflows an
    /// `i64`.
    Unbalanced,
    /// The tenant or an account does not exist, or the accounts of the entry have different currencies.
    Unknown,
    /// The account is closed, or cannot be closed because its balance is not zero.
    Account(u32),
    /// The period is closed.
    Period,
    /// The request id has already been used for a different entry.
    OtherRequest,
    /// The entry has already been reversed.
    Reversed,
    /// The store returned an error.
    Store(Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => write!(f, "account {account} is closed, or has a balance"),
            Self::Store(error) => error.fmt(f),
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

type Result<T, E = Refused> = std::result::Result<T, E>;

/// An entry that has not been posted yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The request id, which the client chooses. A repeated request returns the first response.
    pub request: String,
    /// The day the entry takes effect.
    pub effective: NaiveDate,
    /// A reference to the document recorded by the entry.
    pub reference: String,
    /// The postings.
    pub lines: Vec<Line>,
}

impl Draft {
    /// Returns `true` if this draft describes the given entry.
    fn is_of(&self, entry: &Entry) -> bool {
        (self.effective, &self.reference, &self.lines) == (entry.effective, &entry.reference, &entry.lines)
    }
}

/// The accounts of a tenant with their currencies, which never change.
pub type Chart = BTreeMap<u32, String>;

/// The ledgers of all tenants, which share a table.
#[derive(Clone, Debug)]
pub struct Bookkeeping {
    /// The handle for entries. It also commits all units of work.
    pub entries: Entities<Entry, Audited>,
    /// The handle for accounts.
    pub accounts: Entities<Account, Audited>,
    /// The handle for documents attached to entries.
    pub files: LargeTable<Entry, Audited>,
    blobs: Arc<dyn ObjectStore>,
    balances: SeriesTable<Balances, Audited>,
    months: SeriesTable<MonthSums, Audited>,
    numbers: Arc<GaplessSequence<Entry, Audited>>,
}

/// Returns the row that contains the balance of an account, and the slot in that row.
const fn slot(account: u32) -> (u32, usize) {
    (account / SLOTS, (account % SLOTS) as usize)
}

/// Returns the number of whole months since year 0.
fn month(day: NaiveDate) -> u32 {
    u32::try_from(day.year()).unwrap_or_default() * 12 + day.month0()
}

impl Bookkeeping {
    /// Opens the ledger. Creates its table if it does not exist.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn open(store: &Store) -> Stored<Self> {
        let audited = store.clone().with_participant::<Books>(AuditTrail);
        let audited = audited.with_participant::<Account>(AuditTrail).with_participant::<Entry>(AuditTrail);
        let entries = audited.entities::<Entry>().create_if_missing().await?;
        let accounts = audited.entities::<Account>().create_if_missing().await?;
        Ok(Self {
            files: LargeTable::new(entries.clone(), store.blobs(), FILES),
            blobs: store.blobs(),
            balances: SeriesTable::new(audited.entities::<Balances>().create_if_missing().await?),
            months: SeriesTable::new(audited.entities::<MonthSums>().create_if_missing().await?),
            numbers: Arc::new(GaplessSequence::new(&entries, "entry")?),
            entries,
            accounts,
        })
    }

    /// Returns a handle to the same ledger. Its changes are logged with the name of the given person or program.
    #[must_use]
    pub fn acting(&self, actor: &str) -> Self {
        let entries = self.entries.clone().with_actor(actor);
        let files = LargeTable::new(entries.clone(), Arc::clone(&self.blobs), FILES);
        Self { entries, files, ..self.clone() }
    }

    /// Creates the books of a tenant.
    ///
    /// # Errors
    /// `EntityAlreadyExists` if the tenant already has books, or any error from the store.
    pub async fn open_books(&self, tenant: &str, closed_until: NaiveDate) -> Result<()> {
        let books = Books { tenant: tenant.to_owned(), closed_until };
        let opened = self.entries.transaction(Entry::partition(tenant), async move |unit| {
            unit.insert(&books)?;
            Ok::<_, Refused>(())
        });
        opened.await.map(drop)
    }

    /// Returns the accounts of a tenant with their currencies.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn chart(&self, tenant: &str) -> Stored<Chart> {
        let accounts = self.accounts.query(Account::rows(tenant)).collect().await?;
        Ok(accounts.into_iter().map(|account| (account.number, account.currency)).collect())
    }

    /// Posts entries in one transaction and returns their numbers. A repeated request returns the numbers from the first response.
    ///
    /// # Errors
    /// A [`Refused`] with the reason. Nothing is posted in this case.
    pub async fn post(&self, tenant: &str, chart: &Chart, drafts: &[Draft]) -> Result<Vec<u32>> {
        drafts.iter().try_for_each(|draft| check(chart, &draft.lines))?;
        // The returned future owns everything that it captures, so a server can run it in a task.
        let (books, tenant, drafts) = (self.clone(), tenant.to_owned(), drafts.to_vec());
        let posted = self.entries.transaction(Entry::partition(&tenant), async move |unit| {
            books.post_in(unit, &tenant, &drafts).await
        });
        Ok(posted.await?.into_value())
    }

    async fn post_in(&self, unit: &mut Work, tenant: &str, drafts: &[Draft]) -> Result<Vec<u32>> {
        let mut answers = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let known = unit.get(Request::key(tenant, &draft.request)).await?.map(|known| known.entry);
            if let Some(number) = known {
                let entry = unit.get(Entry::key(tenant, number)).await?.ok_or(Refused::Unknown)?;
                if !draft.is_of(&entry) {
                    return Err(Refused::OtherRequest);
                }
            }
            answers.push(known);
        }
        let new = answers.iter().filter(|answer| answer.is_none()).count();
        if new > 0 {
            let books = unit.get(Books::key(tenant)).await?.ok_or(Refused::Unknown)?;
            let mut numbers = self.numbers.take_in::<u32>(unit, new.try_into().unwrap_or(1)).await?;
            for (draft, answer) in drafts.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
                if draft.effective <= books.closed_until {
                    return Err(Refused::Period);
                }
                let Some(number) = numbers.next() else { break };
                let Draft { request, effective, reference, lines } = draft.clone();
                add(unit, tenant, (effective, reference, lines), (number, None)).await?;
                unit.insert(&Request { tenant: tenant.to_owned(), id: request, entry: number })?;
                *answer = Some(number);
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Reverses an entry, and returns the number of the reversal. An entry can be reversed only once. Afterwards, the entry and its reversal refer to each
    /// other.
    ///
    /// # Errors
    /// A [`Refused`] with the reason. Nothing is posted in this case.
    pub async fn reverse(&self, tenant: &str, number: u32, effective: NaiveDate) -> Result<u32> {
        let (numbers, tenant) = (Arc::clone(&self.numbers), tenant.to_owned());
        let reversed = self.entries.transaction(Entry::partition(&tenant), async move |unit| {
            let entry = unit.get(Entry::key(&tenant, number)).await?.ok_or(Refused::Unknown)?;
            let books = unit.get(Books::key(&tenant)).await?.ok_or(Refused::Unknown)?;
            if entry.reversed_by.is_some() {
                return Err(Refused::Reversed);
            }
            if effective <= books.closed_until {
                return Err(Refused::Period);
            }
            let lines = entry.lines.iter().map(|line| Line { cents: -line.cents, ..*line }).collect();
            let reversal = numbers.next_in(unit).await?;
            let reference = format!("reversal of {number}");
            // A reversal stores no request. `reversed_by` already prevents a second reversal.
            add(unit, &tenant, (effective, reference, lines), (reversal, Some(number))).await?;
            unit.update(&entry, |entry| entry.reversed_by = Some(reversal))?;
            Ok(reversal)
        });
        Ok(reversed.await?.into_value())
    }

    /// Permanently closes all days up to and including `until`.
    ///
    /// # Errors
    /// A [`Refused`] with the reason. Nothing is closed in this case.
    pub async fn close(&self, tenant: &str, until: NaiveDate) -> Result<()> {
        let tenant = tenant.to_owned();
        let closed = self.entries.transaction(Entry::partition(&tenant), async move |unit| {
            let books = unit.get(Books::key(&tenant)).await?.ok_or(Refused::Unknown)?;
            unit.update(&books, |books| books.closed_until = books.closed_until.max(until))?;
            Ok::<_, Refused>(())
        });
        closed.await.map(drop)
    }

    /// Closes an account, whose balance must be zero.
    ///
    /// # Errors
    /// A [`Refused`] with the reason. The account stays open in this case.
    pub async fn close_account(&self, tenant: &str, account: u32) -> Result<()> {
        let ((page, at), tenant) = (slot(account), tenant.to_owned());
        let closed = self.entries.transaction(Entry::partition(&tenant), async move |unit| {
            unit.get(Account::key(&tenant, account)).await?.ok_or(Refused::Unknown)?;
            let found = unit.get_as::<SeriesRow<Balances>, Balances>(Balances::key(&tenant, page)).await?;
            let mut row = match &found {
                Some(found) => found.value().clone(),
                None => SeriesRow::new(empty(&tenant, page)),
            };
            if row.slot(at).is_some_and(|cents| *cents != 0) {
                return Err(Refused::Account(account));
            }
            row.entity.closed.insert(account);
            unit.put_series(found.as_ref(), &row)?;
            Ok(())
        });
        closed.await.map(drop)
    }

    /// Attaches a document to an entry. The document is stored as a blob.
    ///
    /// # Errors
    /// Any error from the stores.
    pub async fn attach(&self, tenant: &str, number: u32, document: Vec<u8>) -> Stored<()> {
        let content = Entry::ATTACHMENT_BLOB.content(whole(document));
        self.files.set(Entry::key(tenant, number), [content]).await.map(drop)
    }
}

/// Checks that an entry has 2 to 50 postings that sum to zero. Their accounts must exist and share one currency. No partial sum of the postings may overflow.
fn check(chart: &Chart, lines: &[Line]) -> Result<()> {
    let total = lines.iter().try_fold(0_i64, |total, line| total.checked_add(line.cents.checked_abs()?));
    let is_balanced = total.is_some() && lines.iter().map(|line| line.cents).sum::<i64>() == 0;
    if !(2..=50).contains(&lines.len()) || !is_balanced {
        return Err(Refused::Unbalanced);
    }
    let currencies: Option<BTreeSet<_>> = lines.iter().map(|line| chart.get(&line.account)).collect();
    if currencies.is_some_and(|currencies| currencies.len() == 1) { Ok(()) } else { Err(Refused::Unknown) }
}

fn empty(tenant: &str, page: u32) -> Balances {
    Balances { tenant: tenant.to_owned(), page, closed: BTreeSet::new() }
}

/// Adds an entry to a unit of work, with its postings and with the changed balances and sums.
async fn add(
    unit: &mut Work,
    tenant: &str,
    (effective, reference, lines): (NaiveDate, String, Vec<Line>),
    (number, reverses): (u32, Option<u32>),
) -> Result<()> {
    let mut pages = BTreeMap::<u32, Vec<(usize, i64)>>::new();
    for line in &lines {
        let (page, at) = slot(line.account);
        pages.entry(page).or_default().push((at, line.cents));
    }
    for (page, by) in pages {
        if let Some(known) = unit.get(Balances::key(tenant, page)).await?
            && let Some(line) = lines.iter().find(|line| known.closed.contains(&line.account))
        {
            return Err(Refused::Account(line.account));
        }
        unit.increment(&empty(tenant, page), &by).await?;
        unit.increment(&MonthSums { tenant: tenant.to_owned(), page, month: month(effective) }, &by).await?;
    }
    for (at, line) in (0..).zip(&lines) {
        let Line { account, cents } = *line;
        unit.insert(&Posting {
            tenant: tenant.to_owned(),
            account,
            effective,
            entry: number,
            line: at,
            cents,
            reference: reference.clone(),
        })?;
    }
    let entry = Entry {
        tenant: tenant.to_owned(),
        number,
        effective,
        posted: ticks::now(),
        reference,
        memo: String::new(),
        volume: lines.iter().map(|line| line.cents.max(0)).sum(),
        reverses,
        reversed_by: None,
        lines,
        attachment: None,
    };
    unit.insert(&entry)?;
    Ok(())
}
