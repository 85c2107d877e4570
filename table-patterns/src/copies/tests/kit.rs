//! A fixture for copy tests: a company whose departments copy their managers' names within a partition, and whose projects, in another table, copy the names of
//! their leads and deputies.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::queue::QueueName;
use table_core::retry::Retry;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Entity, TableStoreExt};

use crate::copies::{CopyRelation, OnDelete};
use crate::entities::Entities;
use crate::outbox::{OUTBOX_PREFIX, Outbox};
use crate::tests::faults::FaultyStore;
use crate::work::{Runtime, Sweep, Worker};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copied_by(Manager, Lead, Deputy))]
#[partition_key(department)]
#[row_key(id)]
pub(super) struct Employee {
    pub(super) department: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) first_name: String,
    pub(super) last_name: String,
    pub(super) age: i32,
    pub(super) email_address: String,
}

#[expect(clippy::struct_field_names, reason = "the published layout has these names")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copies_from(Manager))]
#[partition_key(department)]
#[row_key("Department")]
pub(super) struct Department {
    pub(super) department: String,
    pub(super) department_name: String,
    pub(super) employee_count: i32,
    pub(super) manager_id: Option<i32>,
    pub(super) manager_first_name: Option<String>,
    pub(super) manager_last_name: Option<String>,
    pub(super) manager_email: Option<String>,
}

/// A project. Projects and employees are in different tables, so a project's sources are never in its partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Projects", copies_from(Lead, Deputy))]
#[partition_key(name)]
#[row_key(part)]
pub(super) struct Project {
    pub(super) name: String,
    pub(super) part: u16,
    pub(super) lead: Option<i32>,
    pub(super) lead_name: Option<String>,
    pub(super) deputy: Option<i32>,
    pub(super) deputy_name: Option<String>,
}

fn employee(id: Option<i32>) -> Option<Selection<Employee, Point>> {
    Some(Employee::key("Sales", u32::try_from(id?).ok()?))
}

pub(super) struct Manager;

impl CopyRelation for Manager {
    type Source = Employee;
    type Holder = Department;
    type Copied = [String; 3];
    const NAME: &'static str = "manager";

    fn reference(department: &Department) -> Option<Selection<Employee, Point>> {
        let id = u32::try_from(department.manager_id?).ok()?;
        Some(Employee::key(&department.department, id))
    }
    fn copied(manager: &Employee) -> [String; 3] {
        [&manager.first_name, &manager.last_name, &manager.email_address].map(Clone::clone)
    }
    fn set(department: &mut Department, [first_name, last_name, email]: [String; 3]) {
        department.manager_first_name = Some(first_name);
        department.manager_last_name = Some(last_name);
        department.manager_email = Some(email);
    }
    fn clear(department: &mut Department) {
        department.manager_id = None;
        department.manager_first_name = None;
        department.manager_last_name = None;
        department.manager_email = None;
    }
}

pub(super) struct Lead;

impl CopyRelation for Lead {
    type Source = Employee;
    type Holder = Project;
    type Copied = String;
    const NAME: &'static str = "lead";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(project: &Project) -> Option<Selection<Employee, Point>> {
        employee(project.lead)
    }
    fn copied(lead: &Employee) -> String {
        lead.last_name.clone()
    }
    fn set(project: &mut Project, name: String) {
        project.lead_name = Some(name);
    }
    fn clear(project: &mut Project) {
        (project.lead, project.lead_name) = (None, None);
    }
}

pub(super) struct Deputy;

impl CopyRelation for Deputy {
    type Source = Employee;
    type Holder = Project;
    type Copied = String;
    const NAME: &'static str = "deputy";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(project: &Project) -> Option<Selection<Employee, Point>> {
        employee(project.deputy)
    }
    fn copied(deputy: &Employee) -> String {
        deputy.last_name.clone()
    }
    fn set(project: &mut Project, name: String) {
        project.deputy_name = Some(name);
    }
    fn clear(project: &mut Project) {
        (project.deputy, project.deputy_name) = (None, None);
    }
}

pub(super) type Store = FaultyStore<Engine>;

const HOUR: u64 = 36_000_000_000;

/// The company, accessed through the handles of one process.
#[derive(Clone)]
pub(super) struct Company {
    pub(super) engine: Engine,
    pub(super) store: Store,
    pub(super) outbox: Outbox<Store, Engine>,
    pub(super) employees: Entities<Employee, Store, Outbox<Store, Engine>>,
    pub(super) departments: Entities<Department, Store, Outbox<Store, Engine>>,
    pub(super) projects: Entities<Project, Store, Outbox<Store, Engine>>,
    hour: u64,
    /// The number of ticks that have passed for all processes, the store and the queue, in addition to the real time.
    passed: Arc<AtomicU64>,
}

/// Returns the real time, plus a number of hours and the ticks that have passed.
fn clock(hour: u64, passed: &Arc<AtomicU64>) -> Clock {
    let (real, passed) = (Runtime::new(), Arc::clone(passed));
    Clock::new(move || real.now() + hour * HOUR + passed.load(Ordering::SeqCst))
}

impl Company {
    pub(super) fn new() -> Self {
        Self::on(|store| store)
    }

    /// Returns the handles of another process to the company. The process runs an hour later, after the claims of dead workers have expired.
    pub(super) fn again(&self) -> Self {
        self.after(1, |store| store)
    }

    pub(super) fn on(with: impl FnOnce(Store) -> Store) -> Self {
        let passed = Arc::default();
        let engine = EngineOptions::new().clock(clock(0, &passed)).in_memory();
        Self::of((engine, passed), 0, with)
    }

    /// Returns the handles of another process, which runs some hours later.
    pub(super) fn after(&self, hours: u64, with: impl FnOnce(Store) -> Store) -> Self {
        Self::of((self.engine.clone(), Arc::clone(&self.passed)), self.hour + hours, with)
    }

    fn of((engine, passed): (Engine, Arc<AtomicU64>), hour: u64, with: impl FnOnce(Store) -> Store) -> Self {
        let retry = Retry::new(1_000, Duration::from_micros(10), Duration::from_millis(1));
        let store = with(FaultyStore::new(engine.clone()));
        let pace = Runtime::new().clock(clock(hour, &passed));
        let queue = QueueName::new("copies").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), engine.clone(), queue, pace);
        block_on(async {
            outbox.create_queues().await?;
            engine.table::<Employee>().create_if_missing().await?;
            engine.create_table_if_missing(&TableName::new("Projects")?).await
        })
        .unwrap();
        store.heal();
        Self {
            employees: Entities::from(outbox.clone()).with_retry(retry.clone()),
            departments: Entities::from(outbox.clone()).with_retry(retry.clone()),
            projects: Entities::from(outbox.clone()).with_retry(retry),
            engine,
            store,
            outbox,
            hour,
            passed,
        }
    }

    pub(super) fn worker(&self) -> Worker<Store, Engine> {
        Worker::new(self.outbox.clone())
            .with_index_handler(&self.employees)
            .with_index_handler(&self.departments)
            .with_index_handler(&self.projects)
    }

    /// Performs all pending work. An hour later, also performs work whose messages were lost or whose claims had not expired.
    pub(super) fn recover(&self) {
        block_on(async {
            self.worker().run_until_idle().await?;
            self.passed.fetch_add(HOUR, Ordering::SeqCst);
            Sweep::new(self.outbox.clone()).min_age(Duration::ZERO).sweep_registered().await?;
            self.worker().run_until_idle().await
        })
        .unwrap();
    }

    /// Returns the keys of all rows in a table, including reserved rows, with each row's properties as text.
    pub(super) fn rows(&self, table: &str) -> Vec<(String, String, String)> {
        let (table, query) = (TableName::new(table).unwrap(), Query::new(KeyRange::ALL));
        let (mut rows, mut from) = (Vec::new(), None);
        loop {
            let page = block_on(self.engine.query(&table, &query, from.as_ref())).unwrap();
            for entity in page.rows.iter() {
                let properties: Vec<_> = entity
                    .row
                    .properties()
                    .map(|property| {
                        property.map(|property| format!("{}: {:?}", property.name, property.value))
                    })
                    .collect::<table_core::Result<_>>()
                    .unwrap();
                rows.push((
                    entity.partition_key.to_owned(),
                    entity.row_key.to_owned(),
                    properties.join(" · "),
                ));
            }
            from = page.continuation;
            if from.is_none() {
                return rows;
            }
        }
    }

    /// Returns the keys of all stored references.
    pub(super) fn references(&self) -> BTreeSet<(String, String)> {
        let rows = self.rows("Company").into_iter();
        rows.filter(|(_, row_key, _)| row_key.starts_with(super::super::REFERENCE_PREFIX))
            .map(|(partition_key, row_key, _)| (partition_key, row_key))
            .collect()
    }

    pub(super) fn employees(&self) -> Vec<Employee> {
        let read = |(department, id, _): (String, String, String)| {
            let key = Employee::key(&department, id.parse::<u32>().unwrap());
            block_on(self.engine.table::<Employee>().get(key)).unwrap().unwrap().into_value()
        };
        let is_one = |row: &(String, String, String)| row.1.parse::<u32>().is_ok();
        self.rows("Company").into_iter().filter(is_one).map(read).collect()
    }

    pub(super) fn departments(&self) -> Vec<Department> {
        let read = |(department, _, _): (String, String, String)| {
            let key = Department::key(&department);
            block_on(self.engine.table::<Department>().get(key)).unwrap().unwrap().into_value()
        };
        self.rows("Company").into_iter().filter(|row| row.1 == "Department").map(read).collect()
    }

    pub(super) fn projects(&self) -> Vec<Project> {
        let scan = self.engine.table::<Project>().scan("to compare").max_rows(100_000);
        block_on(scan.collect()).unwrap()
    }

    /// Asserts that each copy equals its source, and that exactly the required references are stored. `at` is part of the failure message.
    pub(super) fn assert_agreement(&self, at: &str) {
        assert_eq!(self.references(), self.assert_copies(at), "{at}: references");
    }

    /// Asserts that each copy equals its source. Returns the keys of the required references.
    pub(super) fn assert_copies(&self, at: &str) -> BTreeSet<(String, String)> {
        let employees = self.employees();
        let find = |department: &str, id: Option<i32>| {
            let id = u32::try_from(id?).unwrap();
            let found = employees.iter().find(|one| one.department == department && one.id == id);
            Some(found.unwrap_or_else(|| panic!("{at}: {department} {id} is gone, and referred to")))
        };
        let mut wanted = BTreeSet::new();
        let mut refer = |relation: &str, table: &str, holder: table_core::EntityKey, source: &Employee| {
            let reference = crate::copies::reference::Reference {
                relation: relation.to_owned(),
                holder_table: TableName::new(table).unwrap(),
                holder,
            };
            let key = reference.key(&source.key_of().unwrap()).unwrap();
            wanted.insert((key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned()));
        };
        for department in self.departments() {
            let manager = find(&department.department, department.manager_id);
            let mut expected = department.clone();
            match manager {
                Some(manager) => {
                    Manager::set(&mut expected, Manager::copied(manager));
                    refer("manager", "Company", department.key_of().unwrap(), manager);
                }
                None => Manager::clear(&mut expected),
            }
            assert_eq!(department, expected, "{at}");
        }
        for project in self.projects() {
            let (lead, deputy) = (find("Sales", project.lead), find("Sales", project.deputy));
            let mut expected = project.clone();
            expected.lead_name = lead.map(Lead::copied);
            expected.deputy_name = deputy.map(Deputy::copied);
            assert_eq!(project, expected, "{at}");
            for (relation, source) in [("lead", lead), ("deputy", deputy)] {
                if let Some(source) = source {
                    refer(relation, "Projects", project.key_of().unwrap(), source);
                }
            }
        }
        wanted
    }

    /// Returns the number of intents that have not been completed.
    pub(super) fn pending(&self) -> usize {
        let is_intent = |row: &(String, String, String)| row.1.starts_with(OUTBOX_PREFIX);
        ["Company", "Projects"]
            .iter()
            .map(|table| self.rows(table).iter().filter(|row| is_intent(row)).count())
            .sum()
    }
}

pub(super) fn ada() -> Employee {
    Employee {
        department: "Sales".into(),
        id: 223,
        first_name: "Ada".into(),
        last_name: "Lovelace".into(),
        age: 36,
        email_address: "ada@contoso.com".into(),
    }
}

pub(super) fn bob() -> Employee {
    Employee {
        id: 9,
        first_name: "Bob".into(),
        last_name: "Kahn".into(),
        email_address: "bob@contoso.com".into(),
        ..ada()
    }
}

pub(super) fn sales(manager_id: Option<i32>) -> Department {
    Department {
        department: "Sales".into(),
        department_name: "Sales".into(),
        employee_count: 27,
        manager_id,
        manager_first_name: None,
        manager_last_name: None,
        manager_email: None,
    }
}

pub(super) fn project(name: &str, lead: Option<i32>) -> Project {
    Project { name: name.into(), part: 1, lead, lead_name: None, deputy: None, deputy_name: None }
}
