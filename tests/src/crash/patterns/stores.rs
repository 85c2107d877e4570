//! The stores for the crash tests of patterns: one table per pattern, and folders for blobs.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::{Entity, Error, ErrorCode, QueueName, Result, Table, TableName, TableStoreExt, ticks};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::blob::object_store::ObjectStore;
use table_patterns::blob::object_store::local::LocalFileSystem;
use table_patterns::feed::Feed;
use table_patterns::large::{BlobRef, Large, LargeTable};
use table_patterns::log_tail::{LogStamp, LogTail};
use table_patterns::outbox::Outbox;
use table_patterns::periods::{Period, PeriodTables, Periodic};
use table_patterns::series::{self, Series, SeriesTable};
use table_patterns::slot_names;
use table_patterns::view::ViewTable;
use table_patterns::wide::{Wide, WideReader, WideSlots, WideTable, WideWriter};
use table_patterns::work::{Runtime, Worker, WorkerOptions};

use super::books::Books;
use super::copies::{Desk, Person, Room};
use super::helpdesk::HelpDesk;
use super::lists::{Reader, Readers, list_blobs};
use super::views::{Sale, Total, Totals};
use crate::crash::process;

/// An entity with every kind of index. The indexes are in its own partition and in others.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
#[index(ByAge, row_key("age_", age, "_", id))]
#[index(EmailDirectory, unique, partition_key("email_", department), row_key(email))]
#[index(Ages, table = "Ages", partition_key("age_", age), row_key(id, "_", department))]
#[index_entity(ByLastName, at_most = 1000, row_key("lastname_", last_name))]
#[index_entity(Namesakes, at_most = 1000, table = "Namesakes", row_key(last_name))]
pub(super) struct Employee {
    pub(super) department: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) last_name: String,
    #[digits(3)]
    pub(super) age: u8,
    pub(super) email: String,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Counts")]
#[partition_key(series)]
#[row_key(day)]
pub(super) struct Counts {
    #[digits(3)]
    pub(super) series: u32,
    #[digits(3)]
    pub(super) day: u32,
}

impl Series for Counts {
    type Value = i64;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Events")]
#[partition_key(log)]
#[row_key(stamp)]
pub(super) struct Event {
    #[digits(3)]
    pub(super) log: u32,
    pub(super) stamp: LogStamp,
    pub(super) round: i64,
    pub(super) hand: i64,
    pub(super) number: i64,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Sheets")]
#[partition_key(book)]
#[row_key(id)]
pub(super) struct Sheet {
    #[digits(3)]
    pub(super) book: u32,
    #[digits(6)]
    pub(super) id: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct WholeSheet {
    pub(super) sheet: Sheet,
    pub(super) values: Vec<i64>,
}

impl Wide for WholeSheet {
    type Header = Sheet;
    const PARTS: &'static [&'static [&'static str]] =
        &[slot_names!("Cell", 1, 3), slot_names!("Cell", 4, 3), slot_names!("Cell", 7, 3)];

    fn header(&self) -> Sheet {
        self.sheet.clone()
    }

    fn write(&self, out: &mut WideWriter) -> Result<()> {
        Self::names().zip(&self.values).try_for_each(|(name, value)| out.set(name, value))
    }

    fn read(sheet: Sheet, properties: &WideReader<'_>) -> Result<Self> {
        Ok(Self { sheet, values: Self::names().map(|name| properties.get(name)).collect::<Result<_>>()? })
    }
}

#[derive(Clone, Debug, Entity, Large, PartialEq)]
#[entity(table = "Documents")]
#[partition_key(shelf)]
#[row_key(id)]
pub(super) struct Document {
    #[digits(3)]
    pub(super) shelf: u32,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) number: i64,
    #[blob]
    pub(super) content: Option<BlobRef>,
    #[blob]
    pub(super) summary: Option<BlobRef>,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Attempts")]
#[partition_key(user)]
#[row_key(at)]
pub(super) struct Attempt {
    #[digits(3)]
    pub(super) user: u32,
    pub(super) at: DateTime<Utc>,
    pub(super) key: String,
}

impl Periodic for Attempt {
    const PERIOD: Period = Period::Hour;

    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

/// The departments. Each is a partition with employees.
pub(super) const DEPARTMENTS: [&str; 2] = ["Sales", "Marketing"];
/// The prefix of all blob paths.
const BLOBS: &str = "documents";
/// The number of past periods kept in addition to the current one.
pub(super) const KEPT: u16 = 2;
/// The partition with the rows whose changes a feed records.
pub(super) const FED: &str = "fed";

pub(super) type Company = Entities<Employee, Engine, Outbox<Engine, Engine>>;

/// The location of the outbox queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// The queues are in the same engine as the tables. Messages survive a kill, and some of them are still leased.
    Durable,
    /// The queues are in memory, so a kill loses all messages. Afterwards, only a sweep finds pending work (PAT-EC-8).
    Lost,
}

impl Queues {
    /// Returns the location of the queues in a round. The rounds alternate between the two locations.
    pub(super) const fn of_round(round: u32) -> Self {
        if round.is_multiple_of(2) { Self::Lost } else { Self::Durable }
    }
}

/// The number of hours by which the clock of this process is ahead of the real time. The engines and the workers use this clock.
static PASSED_HOURS: AtomicI64 = AtomicI64::new(0);

/// Returns the clock of the engines and the workers.
fn clock() -> Clock {
    Clock::new(|| {
        let passed = TimeDelta::hours(PASSED_HOURS.load(Ordering::SeqCst));
        ticks::from_datetime(ticks::now() + passed).unwrap_or_default()
    })
}

/// All stores used by one process, in one folder.
pub struct Stores {
    pub(super) engine: Engine,
    pub(super) outbox: Outbox<Engine, Engine>,
    pub(super) company: Company,
    pub(super) counts: SeriesTable<Counts, Engine>,
    pub(super) events: LogTail<Event, Engine>,
    pub(super) sheets: WideTable<WholeSheet, Engine>,
    pub(super) blobs: Arc<dyn ObjectStore>,
    pub(super) documents: LargeTable<Document, Engine>,
    pub(super) feed: Feed<Engine>,
    pub(super) fed: TableName,
    pub(super) people: Entities<Person, Engine, Outbox<Engine, Engine>>,
    pub(super) desks: Entities<Desk, Engine, Outbox<Engine, Engine>>,
    pub(super) rooms: Entities<Room, Engine, Outbox<Engine, Engine>>,
    pub(super) sales: Entities<Sale, Engine>,
    pub(super) view: ViewTable<Totals, Engine>,
    pub(super) totals: Table<Total, Engine>,
    pub(super) list_blobs: Arc<dyn ObjectStore>,
    pub(super) readers: Readers,
    pub(super) desk: HelpDesk,
    pub(super) books: Books,
}

impl Stores {
    /// Opens the stores in a folder, and creates missing tables.
    ///
    /// # Errors
    /// Any error from the engine, or `Io` if a folder for blobs cannot be used.
    pub async fn open(folder: &Path, queues: Queues) -> Result<Self> {
        let io = |error| Error::new(ErrorCode::Io, "no folder for blobs").with_source(error);
        let blobs_in = |name: &str| -> Result<Arc<dyn ObjectStore>> {
            std::fs::create_dir_all(folder.join(name)).map_err(io)?;
            let blobs = LocalFileSystem::new_with_prefix(folder.join(name))
                .map_err(|error| Error::new(ErrorCode::Io, "the folder of blobs").with_source(error))?;
            Ok(Arc::new(blobs))
        };
        let (blobs, lists, attachments) = (blobs_in("blobs")?, blobs_in("lists")?, blobs_in("attachments")?);
        PASSED_HOURS.store(0, Ordering::SeqCst);
        let engine = process::frequent().clock(clock()).open(folder.join("tables"))?;
        let queues = match queues {
            Queues::Durable => engine.clone(),
            Queues::Lost => EngineOptions::new().clock(clock()).in_memory(),
        };
        let outbox = Outbox::new(engine.clone(), queues, QueueName::new("indexes")?);
        outbox.create_queues().await?;
        let fed = TableName::new("Fed")?;
        engine.create_table_if_missing(&fed).await?;
        engine.table::<Person>().create_if_missing().await?;
        engine.table::<Room>().create_if_missing().await?;
        let documents = engine.table::<Document>().create_if_missing().await?;
        Ok(Self {
            company: engine.entities_with_outbox::<Employee, _>(outbox.clone()).create_if_missing().await?,
            counts: SeriesTable::new(engine.table::<Counts>().create_if_missing().await?),
            events: LogTail::new(engine.table::<Event>().create_if_missing().await?),
            sheets: WideTable::new(engine.table::<Sheet>().create_if_missing().await?),
            // The parts are so small that each upload consists of several parts.
            documents: LargeTable::new(documents, Arc::clone(&blobs), BLOBS).part_bytes(8 * 1024),
            feed: Feed::new(engine.clone()),
            people: Entities::from(outbox.clone()),
            desks: Entities::from(outbox.clone()),
            rooms: Entities::from(outbox.clone()),
            sales: engine.entities::<Sale>().create_if_missing().await?,
            view: ViewTable::new(engine.clone()).create_if_missing().await?,
            totals: engine.table(),
            readers: engine
                .entities_with_outbox::<Reader, _>(outbox.clone())
                .with_list_blobs(list_blobs(&lists))
                .create_if_missing()
                .await?,
            desk: HelpDesk::open(&outbox, attachments).await?,
            books: Books::open(&engine).await?,
            list_blobs: lists,
            blobs,
            fed,
            outbox,
            engine,
        })
    }

    #[cfg(test)]
    pub(super) fn worker(&self) -> Worker<Engine, Engine> {
        self.worker_with(WorkerOptions::default())
    }

    /// Returns a worker that never treats a message as poison.
    ///
    /// Kills and slow machines make the number of deliveries unpredictable, and no operator inspects poison messages in these tests.
    pub(super) fn worker_with(&self, options: WorkerOptions) -> Worker<Engine, Engine> {
        self.worker_of(self.outbox.clone(), options)
    }

    /// Returns the outbox `hours` hours after the stores were opened. By then, the claims of killed workers and the delays after failures have expired.
    pub(super) fn later_outbox(&self, hours: i64) -> Outbox<Engine, Engine> {
        PASSED_HOURS.fetch_max(hours, Ordering::SeqCst);
        let (engine, queues) = (self.outbox.store().clone(), self.outbox.queues().clone());
        Outbox::with_runtime(engine, queues, self.outbox.queue().clone(), Runtime::new().clock(clock()))
    }

    /// Returns a worker for the [later outbox](Self::later_outbox).
    pub(super) fn later_worker(&self, hours: i64) -> Worker<Engine, Engine> {
        self.worker_of(self.later_outbox(hours), WorkerOptions::default())
    }

    fn worker_of(&self, outbox: Outbox<Engine, Engine>, options: WorkerOptions) -> Worker<Engine, Engine> {
        let options = WorkerOptions { poison_after: u32::MAX, ..options };
        let worker = Worker::with_options(outbox, options)
            .with_index_handler(&self.company)
            .with_index_handler(&self.people)
            .with_index_handler(&self.desks)
            .with_index_handler(&self.rooms)
            .with_index_handler(&self.readers);
        self.desk.worker(worker)
    }

    /// Returns the hourly tables, with their clock set to an hour of the test calendar.
    pub(super) fn attempts(&self, hour: u32) -> PeriodTables<Attempt, Engine> {
        let now = ticks::from_datetime(instant(hour, 0)).unwrap_or_default();
        PeriodTables::new(self.engine.clone()).retain(KEPT).precreate(1).with_clock(Clock::new(move || now))
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").field("engine", &self.engine).finish_non_exhaustive()
    }
}

/// Returns the time `milliseconds` milliseconds after the start of an hour.
pub(super) fn instant(hour: u32, milliseconds: u32) -> DateTime<Utc> {
    // The test calendar starts on 2014-01-01.
    let begun = DateTime::from_timestamp_secs(1_388_534_400).unwrap_or_default();
    begun + TimeDelta::hours(hour.into()) + TimeDelta::milliseconds(milliseconds.into())
}

/// Formats the number of an hour as text that sorts by hour.
pub(super) fn hour_text(hour: u32) -> String {
    format!("{hour:07}")
}

/// Returns the content of document `number`.
pub(super) fn content(number: i64) -> Vec<u8> {
    let length = usize::try_from(number.rem_euclid(40_000)).unwrap_or_default();
    number.to_be_bytes().into_iter().cycle().take(length).collect()
}

/// Returns the number from which [`content`] derives the summary of document `number`.
pub(super) const fn summary(number: i64) -> i64 {
    number / 7
}

impl Employee {
    pub(super) fn entry(&self) -> (String, String) {
        let Self { department, id, last_name, age, email } = self;
        (format!("{department}/{id}"), format!("{last_name}:{age}:{email}"))
    }
}

impl WholeSheet {
    pub(super) const CELLS: WideSlots<Self, Vec<i64>> = WideSlots::new("Cell", 1, 1..=9);

    pub(super) fn entry(&self) -> (String, String) {
        let values: Vec<String> = self.values.iter().map(ToString::to_string).collect();
        (format!("{}/{}", self.sheet.book, self.sheet.id), values.join(","))
    }
}

impl Event {
    pub(super) fn entry(&self) -> (String, String) {
        (format!("{}/{}/{}/{}", self.log, self.round, self.hand, self.number), "appended".to_owned())
    }
}
