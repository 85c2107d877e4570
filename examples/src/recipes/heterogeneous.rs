//! Partitions with several types. Rows of two known types and of an unknown type are read as one enum (PAT-HET-4 to PAT-HET-6).

use table_core::{Entity, EntitySet, IfMatch, Result, Selection, TableEntity, TableStoreExt, Value};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::layout::plain;
use crate::model::staff::{self, Department, Employee};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "heterogeneous",
    question: "Which rows of any type are in the partition Sales, and how is an untyped head count incremented?",
    schema: Department::SCHEMA,
    run: |store, _| Box::pin(run(store)),
};

/// The types of rows in the partition. Each type has a key prefix. The compiler checks that the prefixes are unambiguous.
#[derive(EntitySet, Debug, PartialEq)]
enum Member {
    Department(Department),
    Employee(Employee),
    /// A row of an unknown type. It is kept unchanged (PAT-HET-6).
    #[other]
    Unknown(TableEntity),
}

async fn run(store: &Store) -> Result<Report> {
    let rows = store.untyped(Employee::SCHEMA.table)?;
    let robot = TableEntity::new("Sales", "ROBOT_000001")?.with("Model", "Unit 1");
    rows.insert_or_replace(&robot).await?;

    let query = store.table::<Employee>().query(Employee::partition("Sales")).read_as::<Member>();
    let plan = query.plan()?;
    let members = query.collect().await?;
    let mut expected = Vec::new();
    expected.extend(
        staff::departments().into_iter().filter(|it| it.department == "Sales").map(Member::Department),
    );
    expected
        .extend(staff::employees().into_iter().filter(|it| it.department == "Sales").map(Member::Employee));
    let Some((Member::Unknown(unknown), known)) = members.split_last() else { panic!("ROBOT sorts last") };
    assert_eq!(known, expected);
    assert!(unknown.key() == robot.key() && unknown.iter().eq(robot.iter()), "kept, and reported");

    // Every entity with an `EmployeeCount` is changed: the count is incremented. All other properties remain unchanged (PAT-HET-5).
    let bags = rows.query(Selection::partition("Sales")).collect().await?;
    let counted: Vec<_> = bags.iter().filter(|bag| bag.get("EmployeeCount").is_some()).collect();
    assert_eq!(counted.len(), 1);
    for bag in counted {
        let Some(Value::Int32(count)) = bag.get("EmployeeCount") else { panic!("a head count is an Int32") };
        for change in [count + 1, *count] {
            let patch = TableEntity::from(bag.key().clone()).with("EmployeeCount", change);
            rows.merge(&patch, IfMatch::Any).await?;
            let found = store.table::<Department>().get(Department::key("Sales", "SALES")).await?;
            let found = found.map(|it| (it.department_name.clone(), it.employee_count));
            assert_eq!(found, Some(("Sales".to_owned(), change)));
        }
    }
    rows.delete(robot.key(), IfMatch::Any).await?;

    let mut answer = Grid::new(["RowKey", "Type", "Properties"]);
    for (bag, member) in bags.iter().zip(&members) {
        let kind = match member {
            Member::Department(_) => "Department",
            Member::Employee(_) => "Employee",
            Member::Unknown(_) => "unknown, kept as a bag",
        };
        let properties: Vec<_> = bag.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
        answer.row([bag.key().row_key.as_str(), kind, &properties.join("  ")]);
    }
    Ok(Report::new(plan, answer)
        .note("The department's EmployeeCount went up by one and back, by merges of a bag."))
}
