//! The workload. It consists of threads, called hands. Each hand makes a sequence of changes with one pattern.

use examples::ledger::books::Draft;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::key::{PartitionKey, RowKey};
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::{
    EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, Result, TableStore, Transaction, ValueRef,
};
use table_patterns::feed::FeedChange;
use table_patterns::large::whole;
use table_patterns::wide::Wide;

use super::copies::{Desk, PEOPLE, Person, Room, TEAM};
use super::helpdesk_hand::has_no_agent;
use super::ledger::{Change, Kind, Line};
use super::lists::{BRANCHES, Reader, TOWNS};
use super::stores::{
    Attempt, Counts, DEPARTMENTS, Document, Employee, Event, FED, KEPT, Sheet, Stores, WholeSheet, content,
    hour_text, instant, summary,
};
use super::views::{REGIONS, Sale};

/// The pattern of each hand of the workload.
pub const HANDS: [Kind; 32] = [
    Kind::Index,
    Kind::Index,
    Kind::Index,
    Kind::Index,
    Kind::Series,
    Kind::Series,
    Kind::Log,
    Kind::Log,
    Kind::Wide,
    Kind::Large,
    Kind::Large,
    Kind::Period,
    Kind::Feed,
    Kind::Feed,
    Kind::Source,
    Kind::Source,
    Kind::Holder,
    Kind::Holder,
    Kind::Viewed,
    Kind::Viewed,
    Kind::Listed,
    Kind::Listed,
    Kind::Listed,
    Kind::Listed,
    Kind::Ticket,
    Kind::Ticket,
    Kind::Ticket,
    Kind::Ticket,
    Kind::Entry,
    Kind::Entry,
    Kind::Entry,
    Kind::Entry,
];

/// One thread of the workload. No other hand writes its keys. The hands share index values, lists, series, logs and the feed.
pub struct Hand<'a> {
    pub(super) stores: &'a Stores,
    pub(super) number: usize,
    pub(super) own: u32,
    pub(super) round: u32,
    pub(super) step: u32,
    pub(super) random: StdRng,
    /// The last entry that this hand posted, and the number of the entry.
    pub(super) posted: Option<(Draft, u32)>,
    tell: &'a (dyn Fn(Line) + Sync),
}

impl<'a> Hand<'a> {
    /// Creates hand `number` for one round. `tell` receives the lines that report the changes of the hand.
    #[must_use]
    pub fn new(
        stores: &'a Stores,
        number: usize,
        round: u32,
        seed: u64,
        tell: &'a (dyn Fn(Line) + Sync),
    ) -> Self {
        let own = u32::try_from(number).unwrap_or_default();
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(u64::from(round) * 100 + u64::from(own));
        Self { stores, number, own, round, step: 0, random: StdRng::seed_from_u64(seed), posted: None, tell }
    }

    /// Makes the next change.
    ///
    /// # Errors
    /// Any error from the stores, except rejections caused by other hands.
    pub async fn step(&mut self) -> Result<()> {
        self.step += 1;
        match HANDS.get(self.number) {
            Some(Kind::Index) => self.employee().await,
            Some(Kind::Series) => self.increment().await,
            Some(Kind::Log) => self.append().await,
            Some(Kind::Wide) => self.sheet().await,
            Some(Kind::Large) => self.document().await,
            Some(Kind::Period | Kind::Expire) => self.attempt().await,
            Some(Kind::Feed) => self.fed().await,
            Some(Kind::Source) => self.person().await,
            Some(Kind::Holder) => self.holder().await,
            Some(Kind::Viewed) => self.sale().await,
            Some(Kind::Listed) => self.reader().await,
            Some(Kind::Agent | Kind::Ticket) => Box::pin(self.desk()).await,
            Some(Kind::Entry) => self.post().await,
            None => Err(Error::new(ErrorCode::InvalidInput, "there is no such hand")),
        }
    }

    /// Reports the start of a change, makes the change, and reports its outcome.
    pub(super) async fn make<T>(
        &self,
        (kind, key): (Kind, String),
        value: Option<String>,
        change: impl Future<Output = Result<T>>,
    ) -> Result<()> {
        (self.tell)(Line::Begin(self.number, Change { kind, key, value }));
        match change.await {
            Ok(_) => (self.tell)(Line::Done(self.number)),
            Err(error) if is_refusal(&error) => (self.tell)(Line::Refused(self.number)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn employee(&mut self) -> Result<()> {
        let department = DEPARTMENTS[self.number % DEPARTMENTS.len()];
        let employee = Employee {
            department: department.to_owned(),
            id: self.own * 100 + self.random.random_range(0..8_u32),
            last_name: format!("Jones{}", self.random.random_range(0..3_u32)),
            age: self.random.random_range(20..24_u8),
            email: format!("e{}@contoso.com", self.random.random_range(0..24_u32)),
        };
        let (key, value) = employee.entry();
        let company = &self.stores.company;
        let point = || Employee::key(department, employee.id);
        let found = company.get(point()).await?;
        let choice = self.random.random_range(0..4_u32);
        let (at, value) = ((Kind::Index, key), Some(value));
        match found {
            None => self.make(at, value, company.insert(&employee)).await,
            Some(found) if choice == 0 => self.make(at, None, company.delete(point(), found.etag())).await,
            Some(_) if choice == 1 => {
                let change = |now: &mut Employee| now.clone_from(&employee);
                self.make(at, value, company.update(point(), change)).await
            }
            Some(found) => self.make(at, value, company.replace(&employee, found.etag())).await,
        }
    }

    async fn increment(&mut self) -> Result<()> {
        let counts = Counts { series: 1, day: self.random.random_range(0..2_u32) };
        let (slot, by) = (self.random.random_range(0..3_usize), self.random.random_range(1..9_i64));
        let key = format!("{}/{slot}", counts.day);
        let change = self.stores.counts.increment(&counts, slot, by);
        self.make((Kind::Series, key), Some(by.to_string()), change).await
    }

    async fn append(&mut self) -> Result<()> {
        let (round, hand, number) = (self.round.into(), self.own.into(), self.step.into());
        let event = |stamp| Event { log: 1, stamp, round, hand, number };
        let (key, value) = event(table_patterns::log_tail::LogStamp::LAST).entry();
        self.make((Kind::Log, key), Some(value), self.stores.events.append(event)).await
    }

    async fn sheet(&mut self) -> Result<()> {
        let sheet = Sheet { book: self.own, id: self.random.random_range(0..4_u32) };
        let (sheets, point) = (&self.stores.sheets, || Sheet::key(sheet.book, sheet.id));
        let number: i64 = self.random.random_range(0..1_000_000);
        let mut whole =
            WholeSheet { sheet: sheet.clone(), values: vec![number; WholeSheet::names().count()] };
        let found = sheets.get(point()).await?;
        let choice = self.random.random_range(0..5_u32);
        if let (Some((now, version)), 0) = (&found, choice) {
            let key = now.entry().0;
            return self.make((Kind::Wide, key), None, sheets.delete(point(), version)).await;
        }
        if let (Some((now, _)), 1 | 2) = (&found, choice) {
            let at = self.random.random_range(0..now.values.len());
            whole.values.clone_from(&now.values);
            if let Some(value) = whole.values.get_mut(at) {
                *value = number;
            }
            let cell = WholeSheet::CELLS.at(at + 1);
            let (key, value) = whole.entry();
            return self.make((Kind::Wide, key), Some(value), sheets.set(point(), cell, number)).await;
        }
        let (key, value) = whole.entry();
        self.make((Kind::Wide, key), Some(value), sheets.insert_or_replace(&whole)).await
    }

    async fn document(&mut self) -> Result<()> {
        let id = self.random.random_range(0..4_u32);
        let number = self.random.random_range(0..1_000_000_i64);
        let document = Document { shelf: self.own, id, number, content: None, summary: None };
        let (documents, point) = (&self.stores.documents, || Document::key(self.own, id));
        let found = documents.table().get(point()).await?;
        let deletes = self.random.random_range(0..4_u32) == 0;
        let at = (Kind::Large, format!("{}/{id}", self.own));
        let value = Some(number.to_string());
        let contents = [
            Document::CONTENT_BLOB.content(whole(content(number))),
            Document::SUMMARY_BLOB.content(whole(content(summary(number)))),
        ];
        match found {
            None => self.make(at, value, documents.insert(document, contents)).await,
            Some(found) if deletes => {
                self.make(at, None, documents.table().delete(point(), found.etag())).await
            }
            Some(found) => self.make(at, value, documents.replace(document, found.etag(), contents)).await,
        }
    }

    async fn attempt(&mut self) -> Result<()> {
        let hour = self.round * 1_000 + self.step / 8 + u32::from(KEPT);
        let attempts = self.stores.attempts(hour);
        if self.step.is_multiple_of(20) {
            let first = hour_text(hour - u32::from(KEPT));
            return self.make((Kind::Expire, "tables".to_owned()), Some(first), attempts.expire()).await;
        }
        let key = format!("{}_{}", hour_text(hour), self.step);
        let attempt = Attempt { user: 1, at: instant(hour, self.step % 3_600_000), key: key.clone() };
        self.make((Kind::Period, key), Some("made".to_owned()), attempts.insert(&attempt)).await
    }

    async fn person(&mut self) -> Result<()> {
        // Two hands write people. One uses the even ids, and the other the odd ids.
        let id = self.random.random_range(0..PEOPLE / 2) * 2 + self.own % 2;
        let name = format!("Name{}", self.random.random_range(0..1_000_u32));
        let (people, point) = (&self.stores.people, || Person::key(TEAM, id));
        let (at, value) = ((Kind::Source, id.to_string()), Some(name.clone()));
        if people.table().get(point()).await?.is_none() {
            let person = Person { team: TEAM.to_owned(), id, name };
            return self.make(at, value, people.insert(&person)).await;
        }
        let change = |person: &mut Person| person.name.clone_from(&name);
        self.make(at, value, people.update(point(), change)).await
    }

    async fn holder(&mut self) -> Result<()> {
        let id = self.own * 100 + self.random.random_range(0..6_u32);
        let owner = self.random.random_range(0..=PEOPLE);
        // No step removes an owner.
        let is_there = self.stores.people.table().get(Person::key(TEAM, owner)).await?.is_some();
        let owner = i32::try_from(owner).ok().filter(|_| is_there);
        let owner_text = owner.map_or_else(|| "none".to_owned(), |owner| owner.to_string());
        let deletes = self.random.random_range(0..5_u32) == 0;
        if self.random.random() {
            let (desks, point) = (&self.stores.desks, || Desk::key(TEAM, id));
            let at = (Kind::Holder, format!("desk/{id}"));
            match desks.table().get(point()).await? {
                None => {
                    let desk = Desk { team: TEAM.to_owned(), id, owner, owner_name: None };
                    self.make(at, Some(owner_text), desks.insert(&desk)).await
                }
                Some(_) if deletes => self.make(at, None, desks.delete(point(), IfMatch::Any)).await,
                Some(_) => {
                    let change = |desk: &mut Desk| (desk.owner, desk.owner_name) = (owner, None);
                    self.make(at, Some(owner_text), desks.update(point(), change)).await
                }
            }
        } else {
            let floor = id % 2;
            let (rooms, point) = (&self.stores.rooms, || Room::key(floor, id));
            let at = (Kind::Holder, format!("room/{id}"));
            match rooms.table().get(point()).await? {
                None => {
                    let room = Room { floor, id, owner, owner_name: None };
                    self.make(at, Some(owner_text), rooms.insert(&room)).await
                }
                Some(_) if deletes => self.make(at, None, rooms.delete(point(), IfMatch::Any)).await,
                Some(_) => {
                    let change = |room: &mut Room| (room.owner, room.owner_name) = (owner, None);
                    self.make(at, Some(owner_text), rooms.update(point(), change)).await
                }
            }
        }
    }

    async fn sale(&mut self) -> Result<()> {
        let sale = Sale {
            region: REGIONS[self.random.random_range(0..REGIONS.len())].to_owned(),
            id: self.own * 100 + self.random.random_range(0..8_u32),
            buyer: self.random.random_range(0..3),
            amount: self.random.random_range(1..100),
        };
        let (key, value) = sale.entry();
        let (sales, point) = (&self.stores.sales, || Sale::key(&sale.region, sale.id));
        let (at, value) = ((Kind::Viewed, key), Some(value));
        match sales.table().get(point()).await? {
            None => self.make(at, value, sales.insert(&sale)).await,
            Some(found) if self.random.random_range(0..4_u32) == 0 => {
                self.make(at, None, sales.delete(point(), found.etag())).await
            }
            Some(_) => self.make(at, value, sales.update(point(), |now| now.clone_from(&sale))).await,
        }
    }

    async fn reader(&mut self) -> Result<()> {
        let reader = Reader {
            branch: BRANCHES[self.number % BRANCHES.len()].to_owned(),
            id: self.own * 100 + self.random.random_range(0..6_u32),
            town: TOWNS[self.random.random_range(0..TOWNS.len())].to_owned(),
        };
        let (key, value) = reader.entry();
        let (readers, point) = (&self.stores.readers, || Reader::key(&reader.branch, reader.id));
        let (at, value) = ((Kind::Listed, key), Some(value));
        match readers.get(point()).await? {
            None => self.make(at, value, readers.insert(&reader)).await,
            Some(found) if self.random.random_range(0..3_u32) == 0 => {
                self.make(at, None, readers.delete(point(), found.etag())).await
            }
            Some(_) => self.make(at, value, readers.update(point(), |now| now.clone_from(&reader))).await,
        }
    }

    async fn fed(&mut self) -> Result<()> {
        let Stores { engine, feed, fed, .. } = self.stores;
        let key = EntityKey::new(FED, format!("row_{}", self.own))?;
        let found = engine.get(fed, &key, &Select::All).await?;
        let stored = found.map(|found| found.row.view().find("Number", &mut 0).map(number_of)).transpose()?;
        let number = stored.unwrap_or_default() + 1;
        let mut row = RowWriter::with_capacity(1);
        row.property("Number", ValueRef::Int64(number));
        let kind = OperationKind::InsertOrReplace(row.finish());
        let mut transaction = Transaction::new(PartitionKey::new(FED)?, engine.capabilities().limits)?;
        let source: RowKey = key.row_key;
        transaction.push(Operation { row_key: source.clone(), kind })?;
        let payload = number.to_string();
        let change = FeedChange { source: &source, kind: "set", payload: payload.as_bytes() };
        let at = (Kind::Feed, source.as_str().to_owned());
        self.make(at, Some(payload.clone()), feed.submit(fed, transaction, &[change])).await
    }
}

pub(super) fn number_of(value: Option<ValueRef<'_>>) -> i64 {
    match value {
        Some(ValueRef::Int64(number)) => number,
        _ => 0,
    }
}

/// Returns `true` if an error means that nothing was written, for a reason that another hand can cause. An example is a conflict.
fn is_refusal(error: &Error) -> bool {
    error.code() == ErrorCode::UniqueViolation
        || has_no_agent(error)
        || (error.is_precondition_failed() && !error.is_ambiguous())
}

impl std::fmt::Debug for Hand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hand").field("number", &self.number).field("step", &self.step).finish_non_exhaustive()
    }
}
