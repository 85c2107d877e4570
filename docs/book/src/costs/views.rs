//! Counts the cost of feeds and views.

use table_patterns::retry::Retry;
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::{Entity, EntityStore as _, Result};

use super::{Counted, run};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", feed)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(department)]
#[row_key("headcount")]
struct Headcount {
    department: String,
    employees: i64,
}

struct Headcounts;

impl View for Headcounts {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        view.add(Headcount::key(&employee.department), Headcount::EMPLOYEES, 1)
    }
}

#[test]
fn views() {
    let mut counted = Counted::new();
    run(async {
        let employees =
            counted.store.entities::<Employee>().with_runtime(counted.runtime()).create_if_missing().await?;
        let view = ViewTable::<Headcounts, _>::new(counted.store.clone());
        let view =
            view.with_retry(Retry::default().with_runtime(counted.runtime())).create_if_missing().await?;
        view.rebuild().run().await?;
        let insert = async |department: &str, id| {
            employees.insert(&Employee { department: department.into(), id }).await.map(drop)
        };
        insert("Sales", 1).await?;
        counted.start();
        insert("Sales", 2).await?;
        counted.row("`insert` of a source, the next one of a process in a partition that is not quiet");
        view.catch_up(100).await?;
        counted.row("the first `catch_up`: one partition, two new entities; marks it as quiet");
        for id in 3..=102 {
            insert("Sales", id).await?;
        }
        counted.start();
        while view.catch_up(1_000).await?.is_behind {}
        counted.row("the next `catch_up`: 100 new entities with adjacent keys");
        view.catch_up(1_000).await?;
        counted.row("the next `catch_up`: no new entities; marks the partition as quiet");
        for id in 1..100 {
            insert(&format!("Department {id}"), id).await?;
        }
        while view.catch_up(1_000).await?.is_behind {}
        counted.start();
        view.catch_up(1_000).await?;
        counted.row("another `catch_up` within ten seconds: 100 quiet partitions");
        view.table().await?.get(Headcount::key("Sales")).await?;
        counted.row("read a row of the view, the first in ten seconds");
        Ok(())
    });
    counted.hold("book/pattern-views.md", "views");
}
