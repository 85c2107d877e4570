//! Counts the cost of patterns that use one partition.

use chrono::NaiveDate;
use chrono::{DateTime, Duration, Utc};
use futures_util::TryStreamExt as _;
use table_patterns::group::{Many, One};
use table_patterns::log_tail::{LogStamp, LogTail};
use table_patterns::periods::{Period, PeriodTables, Periodic};
use table_patterns::sequence::{BlockSequence, GaplessSequence};
use table_patterns::series::{self, Series, SeriesTable};
use table_patterns::wide::{Wide, WideStore as _};
use table_patterns::{Entity, EntityGroup, EntityStore as _, TableStoreExt as _, ticks};

use super::{Counted, run};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    #[digits(6)]
    number: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", order, "_", number)]
struct Line {
    customer: String,
    #[digits(6)]
    order: u32,
    #[digits(3)]
    number: u16,
}

#[derive(EntityGroup)]
#[entity_group(under = Order)]
struct OrderWithLines {
    order: One<Order>,
    lines: Many<Line>,
}

#[test]
fn parts() {
    let mut counted = Counted::new();
    run(async {
        let orders = counted.store.entities::<Order>().create_if_missing().await?;
        orders.insert(&Order { customer: "ada".into(), number: 42 }).await?;
        let line = |number| Line { customer: "ada".into(), order: 42, number };
        counted.start();
        orders.insert_part(Order::key("ada", 42), &line(1)).await?;
        counted.row("`insert_part`, the first of a handle for this type of part");
        counted.start();
        orders.insert_part(Order::key("ada", 42), &line(2)).await?;
        counted.row("`insert_part`");
        for n in 3..=9 {
            orders.insert_part(Order::key("ada", 42), &line(n)).await?;
        }
        counted.start();
        let group: OrderWithLines = orders.table().read_group(Order::key("ada", 42)).await?;
        counted.row("read the owner with nine parts");
        assert_eq!(group.lines.len(), 9);
        drop(group.order);
        orders.delete_with_parts(Order::key("ada", 42)).await?;
        counted.row("`delete_with_parts` of the owner with nine parts");
        Ok(())
    });
    counted.hold("book/pattern-parts.md", "parts");
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(day)]
struct MessageCounts {
    #[digits(6)]
    employee: u32,
    day: NaiveDate,
}

impl Series for MessageCounts {
    type Value = i32;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OfficeCounts")]
#[partition_key(employee)]
#[row_key(day)]
struct OfficeCounts {
    #[digits(6)]
    employee: u32,
    day: NaiveDate,
    office: String,
}

impl Series for OfficeCounts {
    type Value = i32;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

#[derive(Wide, Clone, Debug, PartialEq)]
#[entity(table = "YearsOfCounts")]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    #[slots("Day", 1..=366)]
    days: Vec<Option<i32>>,
}

#[test]
fn series_of_hours() {
    let mut counted = Counted::new();
    run(async {
        let counts = SeriesTable::new(counted.store.table::<MessageCounts>().create_if_missing().await?);
        let day = |day| NaiveDate::from_ymd_opt(2026, 4, day).unwrap_or_default();
        let today = MessageCounts { employee: 123, day: day(23) };
        counted.start();
        counts.set(&today, 9, 40).await?;
        counted.row("`set` of a slot, without other patterns");
        counts.increment(&today, 9, 2).await?;
        counted.row("`increment` of a slot, without other patterns");
        counts.get(MessageCounts::key(123, day(23))).await?;
        counted.row("a day");
        counts.query(MessageCounts::rows(123).day(day(20)..=day(26))).collect().await?;
        counted.row("a week");

        let offices = SeriesTable::new(counted.store.table::<OfficeCounts>().create_if_missing().await?);
        let of_office = OfficeCounts { employee: 123, day: day(23), office: "Oslo".into() };
        counted.start();
        offices.set(&of_office, 9, 40).await?;
        // The text below the table states this number. The store refuses the first request, so that request writes nothing.
        assert_eq!(counted.take()[0], 2);

        let years = counted.store.wide::<YearOfCounts>().create_if_missing().await?;
        let (key, slot) = (|| YearOfCounts::key(123, 2014), |day| YearOfCounts::DAYS.at(day));
        counted.start();
        years.insert(&YearOfCounts { employee: 123, year: 2014, days: vec![Some(7); 366] }).await?;
        counted.row("wide entity of two parts: `insert`");
        years.set(key(), slot(200), 8).await?;
        counted.row("wide entity of two parts: `set` of a slot");
        years.patch(key()).set(slot(1), 9).set(slot(366), 9).send().await?;
        counted.row("wide entity of two parts: a patch of both parts");
        years.get(key()).await?;
        counted.row("wide entity of two parts: `get`");
        Ok(())
    });
    counted.hold("book/pattern-series.md", "series");
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Alarms")]
#[partition_key(site)]
#[row_key(stamp)]
struct Alarm {
    site: String,
    stamp: LogStamp,
}

#[test]
fn logs() {
    let mut counted = Counted::new();
    run(async {
        let table = counted.store.table::<Alarm>().create_if_missing().await?;
        let alarms = LogTail::new(table);
        let alarm = |stamp| Alarm { site: "north".into(), stamp };
        counted.start();
        alarms.append(alarm).await?;
        counted.row("`append`");
        for _ in 0..1_100 {
            alarms.append(alarm).await?;
        }
        counted.start();
        alarms.newest(Alarm::partition("north"), 20).await?;
        counted.row("the newest 20");
        alarms.newest(Alarm::partition("north"), 1_000).await?;
        counted.row("the newest 1,000");
        Ok(())
    });
    counted.hold("book/pattern-logs.md", "logs");
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
}

#[test]
fn sequences() {
    let mut counted = Counted::new();
    run(async {
        let tickets =
            counted.store.entities::<Ticket>().with_runtime(counted.runtime()).create_if_missing().await?;
        let numbers = GaplessSequence::new(&tickets, "ticket")?;
        let insert = |number, unit: &mut table_patterns::unit::UnitOfWork<_, _>| {
            unit.insert(&Ticket { tenant: "contoso".into(), number }).map(drop)
        };
        numbers.next(Ticket::partition("contoso"), insert).await?;
        counted.start();
        numbers.next(Ticket::partition("contoso"), insert).await?;
        counted.row("`GaplessSequence::next`, with the entity");
        let numbers = BlockSequence::new(&tickets, "ticket", 100)?;
        let _: u32 = numbers.next(Ticket::partition("contoso")).await?;
        counted.row("`BlockSequence::next`, the first of a block of 100");
        for _ in 2..=100 {
            let _: u32 = numbers.next(Ticket::partition("contoso")).await?;
        }
        counted.row("the other 99 numbers of the block");
        Ok(())
    });
    counted.hold("book/pattern-sequences.md", "sequences");
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins")]
#[partition_key(user)]
#[row_key(at)]
struct Login {
    user: String,
    at: DateTime<Utc>,
}

impl Periodic for Login {
    const PERIOD: Period = Period::Day;
    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

#[test]
fn periods() {
    let mut counted = Counted::new();
    run(async {
        let noon: DateTime<Utc> = "2026-03-10T12:00:00Z".parse().unwrap_or_default();
        let at = |time: DateTime<Utc>| table_patterns::Clock::of_instants(move || time);
        let logins = PeriodTables::<Login, _>::new(counted.store.clone()).retain(30).precreate(1);
        let logins = logins.with_clock(at(noon));
        for days in 0..7 {
            let login = Login { user: "ada".into(), at: noon - Duration::days(days) };
            logins.insert(&login).await?;
        }
        counted.start();
        logins.insert(&Login { user: "bob".into(), at: noon }).await?;
        counted.row("`insert` without other patterns, the table exists");
        logins.insert(&Login { user: "bob".into(), at: noon - Duration::days(9) }).await?;
        counted.row("`insert` without other patterns, the first of its day");
        let week = logins.query(Login::partition("ada"), noon - Duration::days(6), noon)?;
        let week: Vec<_> = week.stream().try_collect().await?;
        counted.row("a user's logins of seven days");
        assert_eq!(week.len(), 7);
        let later = logins.clone().with_clock(at(noon + Duration::days(30)));
        let dropped = later.expire().await?.len();
        counted.row(&format!("`expire` without other patterns, {dropped} tables dropped"));
        assert!(ticks::now() > noon);
        Ok(())
    });
    counted.hold("book/pattern-periods.md", "periods");
}
