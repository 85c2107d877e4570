//! A fixture for the view tests: employees, and a view with sums per department and city and one row per employee.

use std::collections::BTreeMap;
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::retry::Retry;
use table_core::row::{Row, RowView};
use table_core::store::TableStore;
use table_core::{Entity, Result, TableStoreExt};

use crate::EntityStore;
use crate::converge;
use crate::entities::Entities;
use crate::feed::Feed;
use crate::outbox::rows::fresh;
use crate::tests::faults::FaultyStore;
use crate::view::{Projection, View, ViewTable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", feed)]
#[partition_key(department)]
#[row_key("empid_", id)]
pub(super) struct Employee {
    pub(super) department: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) city: String,
    pub(super) age: i32,
}

/// An employee, as written by a program that records no changes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", schema_name = "Employee")]
#[partition_key(department)]
#[row_key("empid_", id)]
pub(super) struct Unrecorded {
    pub(super) department: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) city: String,
    pub(super) age: i32,
}

/// An entity of a different type in the same table. The view must ignore it.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("Department")]
pub(super) struct Department {
    pub(super) department: String,
    pub(super) floor: i32,
}

/// A row for a city or a department. The row `all` contains the sums; each row `name_…` belongs to one employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(of)]
#[row_key(row)]
pub(super) struct Headcount {
    pub(super) of: String,
    pub(super) row: String,
    pub(super) employees: i64,
    pub(super) years: i64,
}

pub(super) struct Headcounts;

impl View for Headcounts {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        let city = || Headcount::key(&employee.city, "all");
        view.add(city(), Headcount::EMPLOYEES, 1)?;
        view.add(city(), Headcount::YEARS, employee.age.into())?;
        view.add(Headcount::key(&employee.department, "all"), Headcount::EMPLOYEES, 1)?;
        if employee.age < 60 {
            let row = format!("name_{}_{}_{:06}", employee.name, employee.department, employee.id);
            view.put(&Headcount {
                of: employee.city.clone(),
                row,
                employees: 1,
                years: employee.age.into(),
            })?;
        }
        Ok(())
    }
}

pub(super) type Store = FaultyStore<Engine>;
pub(super) type Rows = BTreeMap<(String, String), (i64, i64)>;

/// The company, as accessed through one process's handles.
#[derive(Clone)]
pub(super) struct Company {
    pub(super) engine: Engine,
    pub(super) store: Store,
    pub(super) employees: Entities<Employee, Store>,
    pub(super) view: ViewTable<Headcounts, Store>,
}

impl Company {
    pub(super) fn new() -> Self {
        Self::on(Engine::in_memory(), |store| store)
    }

    pub(super) fn again(&self) -> Self {
        Self::on(self.engine.clone(), |store| store)
    }

    pub(super) fn on(engine: Engine, with: impl FnOnce(Store) -> Store) -> Self {
        let retry = Retry::new(1_000, Duration::from_micros(10), Duration::from_millis(1));
        let store = with(FaultyStore::new(engine.clone()));
        block_on(store.table::<Employee>().create_if_missing()).unwrap();
        let view = block_on(ViewTable::new(store.clone()).create_if_missing()).unwrap();
        store.heal();
        Self {
            employees: store.entities().with_feed(Feed::new(store.clone())).with_retry(retry.clone()),
            view: view.with_retry(retry).with_lease(Duration::ZERO),
            engine,
            store,
        }
    }

    pub(super) fn hire(&self, department: &str, id: u32, name: &str, city: &str, age: i32) {
        let employee =
            Employee { department: department.into(), id, name: name.into(), city: city.into(), age };
        block_on(self.employees.insert(&employee)).unwrap();
    }

    pub(super) fn fire(&self, department: &str, id: u32) {
        block_on(self.employees.delete(Employee::key(department, id), IfMatch::Any)).unwrap();
    }

    pub(super) fn change(&self, department: &str, id: u32, change: impl FnMut(&mut Employee)) {
        block_on(self.employees.update(Employee::key(department, id), change)).unwrap();
    }

    /// Returns all rows of the source.
    pub(super) fn backup(&self) -> Vec<(EntityKey, Row)> {
        let table = self.employees.table().name().unwrap();
        let page = block_on(self.engine.query(table, &Query::new(KeyRange::ALL), None)).unwrap();
        assert!(page.continuation.is_none());
        let rows = page.rows.iter();
        rows.map(|row| (EntityKey::new(row.partition_key, row.row_key).unwrap(), row.row.to_row())).collect()
    }

    /// Replaces all rows of the source.
    pub(super) fn restore(&self, backup: &[(EntityKey, Row)]) {
        let table = self.employees.table().name().unwrap();
        let gone = self.backup().into_iter().map(|(key, _)| (key, OperationKind::Delete(IfMatch::Any)));
        let rows = backup.iter().map(|(key, row)| (key.clone(), OperationKind::Insert(fresh(row))));
        for (key, kind) in gone.chain(rows) {
            let write = [(key.row_key, kind)];
            block_on(converge::submit(&self.engine, table, &key.partition_key, write)).unwrap();
        }
    }

    /// Applies all pending changes to the view.
    pub(super) fn catch_up(&self) {
        while block_on(self.view.catch_up(7)).unwrap().changes > 0 {}
    }

    pub(super) fn sources(&self) -> Vec<Employee> {
        let table = self.engine.table::<Employee>();
        let query = |department| block_on(table.query(Employee::rows(department)).collect()).unwrap();
        ["Sales", "Marketing"].into_iter().flat_map(query).collect()
    }

    /// Returns the view's stored rows. Omits rows whose sums are 0.
    pub(super) fn stored(&self) -> Rows {
        let scan = self.engine.table::<Headcount>().scan("to compare").max_rows(1_000_000);
        let rows = block_on(scan.collect()).unwrap().into_iter();
        rows.map(|row| ((row.of, row.row), (row.employees, row.years)))
            .filter(|(_, sums)| *sums != (0, 0))
            .collect()
    }

    /// Returns the records in one partition of a view's table as text.
    pub(super) fn records(&self, table: &str, place: &str) -> Vec<String> {
        let rows = TextRange::prefix(crate::view::record::BY);
        let query = Query::new(KeyRange::rows(place, rows));
        let page = block_on(self.engine.query(&TableName::new(table).unwrap(), &query, None)).unwrap();
        let text = |row: RowView<'_>| format!("{:?}", row.properties().collect::<Result<Vec<_>>>().unwrap());
        page.rows.iter().map(|entity| text(entity.row)).collect()
    }

    /// Computes the rows that the view must contain, without using the view's projection.
    pub(super) fn expected(employees: &[Employee]) -> Rows {
        let mut rows = Rows::new();
        for one in employees {
            let years = i64::from(one.age);
            let of_city = rows.entry((one.city.clone(), "all".to_owned())).or_default();
            *of_city = (of_city.0 + 1, of_city.1 + years);
            rows.entry((one.department.clone(), "all".to_owned())).or_default().0 += 1;
            if one.age < 60 {
                let row = format!("name_{}_{}_{:06}", one.name, one.department, one.id);
                rows.insert((one.city.clone(), row), (1, years));
            }
        }
        rows
    }

    pub(super) fn assert_right(&self, at: &str) {
        assert_eq!(self.stored(), Self::expected(&self.sources()), "{at}");
    }
}
