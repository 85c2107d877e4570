//! Tests of more patterns on Cosmos DB containers; see also `patterns.rs` and `partitions.rs`. Each cell of the table in `docs/cosmos.md` has one test.

use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use table_core::selection::{Point, Selection};
use table_core::{Clock, Engine, Entity, QueueName, TableName, TableStoreExt};
use table_cosmos::Options;
use table_patterns::blob::object_store::memory::InMemory;
use table_patterns::copies::CopyRelation;
use table_patterns::large::{BlobRef, Large, LargeTable, whole};
use table_patterns::outbox::Outbox;
use table_patterns::periods::{Period, PeriodTables, Periodic};
use table_patterns::sequence::{BlockSequence, GaplessSequence};
use table_patterns::series::{self, Series, SeriesTable};
use table_patterns::wide::{Wide, WideStore};
use table_patterns::work::Worker;
use table_patterns::{Entities, EntityStore};

use crate::{runtime, store};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant, desk)]
#[row_key("ticket_", number)]
#[index_entity(ByStatus, at_most = 100, row_key("status_", status))]
struct Ticket {
    tenant: String,
    desk: String,
    #[digits(6)]
    number: u32,
    #[without('_')]
    status: String,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant, desk)]
#[row_key("comment_", ticket, "_", number)]
struct Comment {
    tenant: String,
    desk: String,
    #[digits(6)]
    ticket: u32,
    #[digits(4)]
    number: u32,
}

fn ticket(number: u32, status: &str) -> Ticket {
    Ticket { tenant: "contoso".into(), desk: "it".into(), number, status: status.into() }
}

#[test]
fn lists_units_and_sequences_share_the_full_key() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Ticket>()).await;
        store.create("Desk", 2);
        let tickets = store.entities::<Ticket>().create_if_missing().await.unwrap();
        let gapless = GaplessSequence::new(&tickets, "ticket").unwrap();
        for expected in 1..=3 {
            let next = gapless.next(Ticket::partition("contoso", "it"), |number, unit| {
                unit.insert(&ticket(number, "open")).map(drop)
            });
            let number: u32 = next.await.unwrap();
            assert_eq!(number, expected);
        }
        let blocks = BlockSequence::new(&tickets, "ticket", 10).unwrap();
        let number: u32 = blocks.next(Ticket::partition("contoso", "it")).await.unwrap();
        assert_eq!(number, 4);

        let first = tickets.get(Ticket::key("contoso", "it", 1)).await.unwrap().unwrap();
        let comment = Comment { tenant: "contoso".into(), desk: "it".into(), ticket: 1, number: 1 };
        let close = || {
            let mut unit = tickets.unit(Ticket::partition("contoso", "it")).unwrap();
            unit.require(Ticket::key("contoso", "it", 2)).unwrap();
            unit.update(&first, |ticket| ticket.status = "closed".into()).unwrap();
            unit.insert(&comment).unwrap();
            unit
        };
        close().commit().await.unwrap();
        assert!(close().commit().await.is_err(), "the ticket has another version by now");
        let open = tickets.get_by_index(Ticket::by_status("contoso", "it", "open")).await.unwrap();
        assert_eq!(open.iter().map(|ticket| ticket.number).collect::<Vec<_>>(), [2, 3]);
    });
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", copied_by(Manager))]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    last_name: String,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Departments", copies_from(Manager))]
#[partition_key(name)]
#[row_key("Department")]
struct Department {
    name: String,
    manager: Option<i32>,
    manager_name: Option<String>,
}

struct Manager;

impl CopyRelation for Manager {
    type Source = Employee;
    type Holder = Department;
    type Copied = String;
    const NAME: &'static str = "manager";

    fn reference(department: &Department) -> Option<Selection<Employee, Point>> {
        Some(Employee::key(&department.name, u32::try_from(department.manager?).ok()?))
    }
    fn copied(manager: &Employee) -> String {
        manager.last_name.clone()
    }
    fn set(department: &mut Department, name: String) {
        department.manager_name = Some(name);
    }
    fn clear(department: &mut Department) {
        (department.manager, department.manager_name) = (None, None);
    }
}

#[test]
fn copies_follow_changes_within_one_second() {
    runtime().block_on(async {
        let store = store(4, Options::new()).await;
        store.table::<Employee>().create_if_missing().await.unwrap();
        store.table::<Department>().create_if_missing().await.unwrap();
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("copies").unwrap());
        outbox.create_queues().await.unwrap();
        let employees = Entities::<Employee, _, _>::from(outbox.clone());
        let departments = Entities::<Department, _, _>::from(outbox.clone());
        let ada = Employee { department: "Sales".into(), id: 223, last_name: "Byron".into() };
        employees.insert(&ada).await.unwrap();
        let sales = Department { name: "Sales".into(), manager: Some(223), manager_name: None };
        departments.insert(&sales).await.unwrap();
        let worker = Worker::new(outbox).with_index_handler(&employees).with_index_handler(&departments);
        for name in ["Lovelace", "King", "Byron", "King"] {
            let rename = |ada: &mut Employee| ada.last_name = name.into();
            employees.update(Employee::key("Sales", 223), rename).await.unwrap();
            worker.run_until_idle().await.unwrap();
            let sales = departments.table().get(Department::key("Sales")).await.unwrap().unwrap();
            assert_eq!(sales.manager_name.as_deref(), Some(name));
        }
    });
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Counts")]
#[partition_key(device, year)]
#[row_key(day)]
struct Counts {
    device: String,
    #[digits(4)]
    year: u16,
    #[digits(3)]
    day: u16,
}

impl Series for Counts {
    type Value = i32;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

#[test]
fn a_series_is_one_item_per_day() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Counts>()).await;
        store.create("Counts", 2);
        let counts = SeriesTable::new(store.table::<Counts>().create_if_missing().await.unwrap());
        let day = |day| Counts { device: "d7".into(), year: 2014, day };
        counts.set(&day(7), 9, 40).await.unwrap();
        assert_eq!(counts.increment(&day(7), 9, 2).await.unwrap(), 42);
        counts.set(&day(8), 0, 1).await.unwrap();
        let week = counts.query(Counts::rows("d7", 2014).day(7..)).collect().await.unwrap();
        assert_eq!((week.len(), week[0].slot(9), week[0].slot(10)), (2, Some(&42), None));
    });
}

#[derive(Debug, PartialEq, Wide)]
#[entity(table = "Years")]
#[partition_key(device)]
#[row_key(year)]
struct Readings {
    device: String,
    #[digits(4)]
    year: u16,
    #[slots("Day", 1..=366)]
    days: [Option<i32>; 366],
}

#[test]
fn a_wide_entity_is_several_items_of_one_full_key() {
    runtime().block_on(async {
        let store = store(4, Options::new()).await;
        let years = store.wide::<Readings>().create_if_missing().await.unwrap();
        years.insert(&Readings { device: "d7".into(), year: 2014, days: [Some(7); 366] }).await.unwrap();
        years.set(Readings::key("d7", 2014), Readings::DAYS.at(300), 8).await.unwrap();
        let (year, _) = years.get(Readings::key("d7", 2014)).await.unwrap().unwrap();
        assert_eq!((year.days[0], year.days[299]), (Some(7), Some(8)));
    });
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Logins")]
#[partition_key(user)]
#[row_key(at)]
struct Login {
    #[digits(6)]
    user: u32,
    at: DateTime<Utc>,
}

impl Periodic for Login {
    const PERIOD: Period = Period::Day;
    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

#[test]
fn a_daily_container_is_dropped_when_it_expires() {
    runtime().block_on(async {
        let store = store(4, Options::new()).await;
        let now = DateTime::from_timestamp(1_400_000_000, 0).unwrap();
        let yesterday = now - Duration::days(1);
        let of = |keep, at| {
            let clock = Clock::of_instants(move || at);
            PeriodTables::<Login, _>::new(store.clone()).retain(keep).precreate(1).with_clock(clock)
        };
        let logins = of(30, now);
        logins.prepare().await.unwrap();
        for at in [now, yesterday] {
            logins.insert(&Login { user: 123, at }).await.unwrap();
        }
        let found = logins.query(Login::partition(123), yesterday, now).unwrap().collect().await.unwrap();
        assert_eq!(found.len(), 2);
        let dropped = of(30, now + Duration::days(31)).expire().await.unwrap();
        assert_eq!(
            dropped.iter().map(TableName::as_str).collect::<Vec<_>>(),
            ["Logins20140512", "Logins20140513"]
        );
        assert_eq!(logins.tables().await.unwrap().len(), 1);
    });
}

#[derive(Clone, Debug, Entity, Large, PartialEq)]
#[entity(table = "Photos")]
#[partition_key(tenant, user)]
#[row_key("photo")]
struct Photo {
    tenant: String,
    user: String,
    #[blob]
    image: Option<BlobRef>,
}

#[test]
fn a_value_in_a_blob_is_named_by_its_item() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Photo>()).await;
        store.create("Photos", 2);
        let table = store.table::<Photo>().create_if_missing().await.unwrap();
        let photos = LargeTable::new(table, Arc::new(InMemory::new()), "staff");
        let ada = Photo { tenant: "contoso".into(), user: "ada".into(), image: None };
        photos.insert(ada, [Photo::IMAGE_BLOB.content(whole(vec![7; 3_000_000]))]).await.unwrap();
        let ada = photos.table().get(Photo::key("contoso", "ada")).await.unwrap().unwrap();
        let image = photos.open(&ada, Photo::IMAGE_BLOB).await.unwrap().unwrap();
        assert_eq!(image.bytes().await.unwrap(), vec![7; 3_000_000]);
    });
}
