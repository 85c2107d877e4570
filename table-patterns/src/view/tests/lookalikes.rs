//! Tests a source with indexes in its own table. The index rows have `RowKey`s in the same format as the entities, and the view must ignore them.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::queue::QueueName;
use table_core::{Entity, Result, TableStoreExt};

use crate::EntityStore;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::view::{Projection, View, ViewTable};
use crate::work::Worker;

/// An employee. A row in the first index contains the whole entity, and a row in the second index contains only a part of it.
#[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", feed)]
#[partition_key(department)]
#[row_key(id)]
#[index(ByBadge, unique, partition_key("badge_", badge), row_key(id))]
#[index(ByDesk, unique, partition_key("desk_", desk), row_key(id), include(age))]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    badge: String,
    desk: String,
    age: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(department)]
#[row_key("sums")]
struct Headcount {
    department: String,
    employees: i64,
    years: i64,
}

/// A view with the number of employees in each department, and the sum of their ages.
struct Headcounts;

impl View for Headcounts {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        let key = || Headcount::key(&employee.department);
        view.add(key(), Headcount::EMPLOYEES, 1)?;
        view.add(key(), Headcount::YEARS, employee.age.into())
    }
}

type Out = Outbox<Engine, Engine>;

/// The employees, a worker that writes their index rows, and a view that stops as soon as one entity is set aside.
struct World {
    engine: Engine,
    staff: Entities<Employee, Engine, Out>,
    worker: Worker<Engine, Engine>,
    view: ViewTable<Headcounts, Engine>,
}

/// An action on the employees or the view.
#[derive(Clone, Debug)]
enum Act {
    /// Inserts an employee, or moves an employee to another badge and desk.
    Save {
        id: u32,
        at: u8,
        age: i32,
    },
    Delete {
        id: u32,
    },
    Work,
    CatchUp,
    Rebuild,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..4_u32, 0..3_u8, 20..60_i32).prop_map(|(id, at, age)| Act::Save { id, at, age }),
        1 => (0..4_u32).prop_map(|id| Act::Delete { id }),
        3 => Just(Act::Work),
        1 => Just(Act::CatchUp),
        1 => Just(Act::Rebuild),
    ];
    prop::collection::vec(act, 1..20)
}

fn department(id: u32) -> String {
    ["Sales", "badge"][usize::from(id % 2 == 1)].to_owned()
}

impl World {
    async fn new() -> Result<Self> {
        let engine = Engine::in_memory();
        let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("work")?);
        outbox.create_queues().await?;
        let staff = engine.entities_with_outbox::<Employee, _>(outbox.clone()).create_if_missing().await?;
        let view = ViewTable::new(engine.clone()).create_if_missing().await?.with_poison_limit(0);
        Ok(Self { engine, worker: Worker::new(outbox).with_index_handler(&staff), staff, view })
    }

    /// Applies all pending changes to the view.
    async fn catch_up(&self) -> Result<()> {
        while self.view.catch_up(3).await?.changes > 0 {}
        Ok(())
    }

    async fn act(&self, act: &Act) -> Result<()> {
        match *act {
            Act::Save { id, at, age } => {
                let (badge, desk) = (format!("{id}{at}"), format!("{at}{id}"));
                let new = Employee { department: department(id), id, badge, desk, age };
                self.staff.insert_or_replace(&new).await.map(drop)
            }
            Act::Delete { id } => {
                let deleted = self.staff.delete(Employee::key(department(id), id), IfMatch::Any).await;
                if deleted.as_ref().is_err_and(table_core::Error::is_not_found) { Ok(()) } else { deleted }
            }
            Act::Work => self.worker.run_until_idle().await,
            Act::CatchUp => self.catch_up().await,
            Act::Rebuild => self.view.rebuild().page(2).run().await.map(drop),
        }
    }

    /// Returns the view's rows whose sums are not 0.
    async fn stored(&self) -> Result<BTreeMap<String, (i64, i64)>> {
        let rows = self.engine.table::<Headcount>().scan("to compare").max_rows(1_000).collect().await?;
        let rows = rows.into_iter().map(|row| (row.department, (row.employees, row.years)));
        Ok(rows.filter(|(_, sums)| *sums != (0, 0)).collect())
    }

    async fn expected(&self) -> Result<BTreeMap<String, (i64, i64)>> {
        let mut sums = BTreeMap::<_, (i64, i64)>::new();
        for employee in (0..4).map(|id| Employee::key(department(id), id)) {
            if let Some(employee) = self.staff.get(employee).await? {
                let sum = sums.entry(employee.department.clone()).or_default();
                *sum = (sum.0 + 1, sum.1 + i64::from(employee.age));
            }
        }
        Ok(sums)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn index_rows_that_look_like_entities_are_not_in_the_view(acts in acts()) {
        block_on(async {
            let world = World::new().await.unwrap();
            for act in acts.iter().chain(&[Act::Work, Act::Rebuild]) {
                world.act(act).await.unwrap();
            }
            let built = world.view.rebuild().run().await.unwrap();
            let expected = world.expected().await.unwrap();
            let employees: i64 = expected.values().map(|(employees, _)| employees).sum();
            assert_eq!((built.applied, built.failed), (employees.cast_unsigned(), 0));
            world.catch_up().await.unwrap();
            assert_eq!(world.stored().await.unwrap(), expected);
            assert_eq!(world.view.poison().await.unwrap(), []);
        });
    }
}

/// An employee, as declared by a program that is unaware of the indexes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", feed)]
#[partition_key(department)]
#[row_key(id)]
struct Unindexed {
    department: String,
    #[digits(3)]
    id: u32,
    age: Option<i32>,
}

/// The view of a program that is unaware of the indexes. It counts index rows as employees.
struct WithIndexRows;

impl View for WithIndexRows {
    type Source = Unindexed;
    type Row = Headcount;

    fn project(employee: &Unindexed, view: &mut Projection<Headcount>) -> Result<()> {
        view.add(Headcount::key(&employee.department), Headcount::EMPLOYEES, 1)
    }
}

#[test]
fn a_rebuild_removes_index_rows_that_were_applied_as_entities() {
    block_on(async {
        let world = World::new().await.unwrap();
        let earlier = ViewTable::<WithIndexRows, _>::new(world.engine.clone());
        for act in [Act::Save { id: 2, at: 1, age: 30 }, Act::Work] {
            world.act(&act).await.unwrap();
        }
        assert_eq!(earlier.rebuild().run().await.unwrap().applied, 3);
        assert_eq!(world.stored().await.unwrap().len(), 3);
        let rebuilt = world.view.rebuild().run().await.unwrap();
        assert_eq!((rebuilt.applied, rebuilt.removed), (1, 2));
        assert_eq!(world.stored().await.unwrap(), world.expected().await.unwrap());
    });
}
