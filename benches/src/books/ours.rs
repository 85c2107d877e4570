//! The ledger with the patterns. Each post is one unit of work. Balances and monthly sums are properties ("slots"). The row of a slot is shared by 200
//! accounts.

mod model;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pollster::block_on;
use table_core::embedded::{Durability, Engine};
use table_core::{Table, TableStoreExt, ticks};
use table_patterns::entities::NoOutbox;
use table_patterns::participant::WithParticipants;
use table_patterns::sequence::GaplessSequence;
use table_patterns::series::{SeriesRow, SeriesTable};
use table_patterns::unit::UnitOfWork;
use table_patterns::{Entities, EntityStore, Error};

use crate::Outcome;
use crate::books::{Books, Draft, FIRST, Line, PAGE, Reader, TENANT, month};
use crate::report::OURS;

use model::{AuditTrail, Balances, Entry, MonthSums, Opened, Posted, Posting, Request, SLOTS};

/// The maximum number of entries in one transaction during a load.
const BATCH: usize = 10;

type Store = WithParticipants<Engine>;
type Work = UnitOfWork<Store, NoOutbox>;

/// The ledger stored in an engine.
#[derive(Debug)]
pub struct Ours {
    engine: Engine,
    entries: Entities<Entry, Store>,
    numbers: GaplessSequence<Entry, Store>,
    postings: Table<Posting, Store>,
    balances: SeriesTable<Balances, Store>,
    months: SeriesTable<MonthSums, Store>,
}

/// The reason why an entry is rejected.
#[derive(Debug)]
enum Refused {
    /// The tenant does not exist.
    Unknown,
    /// The period is closed.
    Period,
    /// The account is closed, or its balance is not zero.
    Account(u32),
    /// The id of the request was already used for a different entry.
    OtherRequest,
    /// The store returned an error.
    Store(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("the tenant does not exist"),
            Self::Period => f.write_str("the period is closed"),
            Self::Account(account) => write!(f, "account {account} is closed, or has a balance"),
            Self::OtherRequest => f.write_str("the request belongs to another entry"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl Ours {
    /// Creates a ledger in a new folder, including the books of the tenant.
    pub fn create(folder: &Path) -> Outcome<Self> {
        let ledger = Self::open(folder)?;
        let opened = Opened { tenant: TENANT.to_owned(), closed_until: FIRST.pred_opt().unwrap_or(FIRST) };
        let opening = async |unit: &mut Work| unit.insert(&opened).map(drop);
        block_on(ledger.entries.transaction(Entry::partition(TENANT), opening))?;
        Ok(ledger)
    }

    /// Posts an entry in one durable transaction, as an asynchronous application does.
    pub async fn submit(self: Arc<Self>, draft: Draft) -> Outcome<()> {
        let ours = Arc::clone(&self);
        let posting = async move |unit: &mut Work| ours.post_in(unit, std::slice::from_ref(&draft)).await;
        self.entries.transaction(Entry::partition(TENANT), posting).await?;
        Ok(())
    }

    /// Opens an existing ledger.
    pub fn open(folder: &Path) -> Outcome<Self> {
        Self::on(Engine::open(folder)?)
    }

    fn on(engine: Engine) -> Outcome<Self> {
        let store = engine.clone().with_participant::<Entry>(AuditTrail);
        let entries = block_on(store.entities::<Entry>().with_actor("clerk").create_if_missing())?;
        Ok(Self {
            numbers: GaplessSequence::new(&entries, "entry")?,
            postings: store.table(),
            balances: SeriesTable::new(store.entities::<Balances>()),
            months: SeriesTable::new(store.entities::<MonthSums>()),
            engine,
            entries,
        })
    }

    async fn post_in(&self, unit: &mut Work, drafts: &[Draft]) -> Result<(), Refused> {
        let mut new = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match unit.get(Request::key(TENANT, &draft.request)).await? {
                None => new.push(draft),
                Some(known) => {
                    let entry = unit.get(Entry::key(TENANT, known.entry)).await?.ok_or(Refused::Unknown)?;
                    let lines = entry.lines.iter().map(|line| (line.account, line.cents));
                    if !lines.eq(draft.lines.iter().copied()) {
                        return Err(Refused::OtherRequest);
                    }
                }
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let opened = unit.get(Opened::key(TENANT)).await?.ok_or(Refused::Unknown)?;
        if new.iter().any(|draft| draft.effective <= opened.closed_until) {
            return Err(Refused::Period);
        }
        let count = u64::try_from(new.len()).unwrap_or_default();
        let numbers = self.numbers.take_in::<u32>(unit, count).await?;
        for (number, draft) in numbers.zip(new) {
            add(unit, draft, number).await?;
        }
        Ok(())
    }
}

/// Returns the number of the row that contains an account's balance, and the slot in that row.
const fn place(account: u32) -> (u32, usize) {
    (account / SLOTS, (account % SLOTS) as usize)
}

/// Adds an entry and all resulting changes to a unit of work.
async fn add(unit: &mut Work, draft: &Draft, number: u32) -> Result<(), Refused> {
    let Draft { request, effective, reference, lines } = draft;
    let tenant = || TENANT.to_owned();
    let mut pages = BTreeMap::<u32, Vec<(usize, i64)>>::new();
    for (account, cents) in lines {
        let (page, slot) = place(*account);
        pages.entry(page).or_default().push((slot, *cents));
    }
    for (page, by) in pages {
        if let Some(known) = unit.get(Balances::key(TENANT, page)).await?
            && let Some((account, _)) = lines.iter().find(|(account, _)| known.closed.contains(account))
        {
            return Err(Refused::Account(*account));
        }
        unit.increment(&Balances::empty(page), &by).await?;
        unit.increment(&MonthSums { tenant: tenant(), month: month(*effective), page }, &by).await?;
    }
    for (line, (account, cents)) in (0..).zip(lines) {
        let (account, cents, reference) = (*account, *cents, reference.clone());
        let effective = *effective;
        unit.insert(&Posting {
            tenant: tenant(),
            account,
            effective,
            entry: number,
            line,
            cents,
            reference,
        })?;
    }
    unit.insert(&Entry {
        tenant: tenant(),
        number,
        effective: *effective,
        posted: ticks::now(),
        reference: reference.clone(),
        memo: String::new(),
        volume: lines.iter().map(|(_, cents)| (*cents).max(0)).sum(),
        reversed_by: None,
        lines: lines.iter().map(|(account, cents)| Posted { account: *account, cents: *cents }).collect(),
    })?;
    unit.insert(&Request { tenant: tenant(), id: request.clone(), entry: number })?;
    Ok(())
}

impl Books for Ours {
    fn name(&self) -> &'static str {
        OURS
    }

    fn post(&self, drafts: Vec<Draft>) -> Outcome<()> {
        let partition = Entry::partition(TENANT);
        block_on(self.entries.transaction(partition, async |unit| self.post_in(unit, &drafts).await))?;
        Ok(())
    }

    /// Loads entries without waiting for the disk. One sync at the end makes all of them durable.
    fn load(&self, drafts: Vec<Draft>) -> Outcome<()> {
        for batch in drafts.chunks(BATCH) {
            self.post(batch.to_vec())?;
        }
        Ok(block_on(self.engine.checkpoint())?)
    }

    fn close_account(&self, account: u32) -> Outcome<()> {
        let (page, slot) = place(account);
        let closing = async |unit: &mut Work| {
            let found = unit.get_as::<SeriesRow<Balances>, Balances>(Balances::key(TENANT, page)).await?;
            let known = found.as_ref().map(|found| found.value().clone());
            let mut row = known.unwrap_or_else(|| SeriesRow::new(Balances::empty(page)));
            if row.slot(slot).is_some_and(|cents| *cents != 0) {
                return Err(Refused::Account(account));
            }
            row.entity.closed.insert(account);
            unit.put_series(found.as_ref(), &row)?;
            Ok(())
        };
        block_on(self.entries.transaction(Entry::partition(TENANT), closing))?;
        Ok(())
    }

    fn reader(&self) -> Outcome<Box<dyn Reader + '_>> {
        Ok(Box::new(self))
    }
}

impl Reader for &Ours {
    fn balance(&mut self, account: u32) -> Outcome<i64> {
        let (page, slot) = place(account);
        let balance = self.balances.get_slot(Balances::key(TENANT, page), slot);
        Ok(block_on(balance)?.unwrap_or_default())
    }

    fn statement(&mut self, account: u32) -> Outcome<Vec<Line>> {
        let newest = self.postings.query(Posting::rows(TENANT).account_is(account)).limit(PAGE);
        let line = |posting: Posting| {
            let Posting { effective, entry, cents, reference, .. } = posting;
            Line { effective, entry, cents, reference }
        };
        Ok(block_on(newest.collect())?.into_iter().map(line).collect())
    }

    fn trial_balance(&mut self, month: u32) -> Outcome<BTreeMap<u32, i64>> {
        let mut pages = BTreeMap::<u32, Vec<i64>>::new();
        for row in block_on(self.months.query(MonthSums::rows(TENANT).month(..month)).collect())? {
            let sums = pages.entry(row.entity.page).or_insert_with(|| vec![0; row.slots().len()]);
            for (sum, cents) in sums.iter_mut().zip(row.slots()) {
                *sum += cents.unwrap_or_default();
            }
        }
        let accounts = pages.into_iter().flat_map(|(page, sums)| (page * SLOTS..).zip(sums));
        let mut balances: BTreeMap<u32, i64> = accounts.collect();
        balances.retain(|_, cents| *cents != 0);
        Ok(balances)
    }

    fn entries(&mut self) -> Outcome<u32> {
        let entries = block_on(self.entries.query(Entry::rows(TENANT)).collect())?;
        let mut last = 0;
        for entry in entries {
            last += 1;
            if entry.number != last {
                return Err(format!("entry {} has the place of {last}", entry.number).into());
            }
        }
        Ok(last)
    }
}

/// Creates a ledger in a new folder. Its posts do not wait for the disk. [`Books::load`] syncs once, at its end.
pub fn relaxed(folder: &Path) -> Outcome<Ours> {
    drop(Ours::create(folder)?);
    Ours::on(Engine::builder().durability(Durability::Relaxed).open(folder)?)
}
