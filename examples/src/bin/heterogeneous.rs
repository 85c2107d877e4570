//! Two entity types in one table. The prefix of the row key identifies the type, and rows of both types can be read as one enum (PAT-HET).

use table_core::{Engine, Entity, EntitySet, IfMatch, Result, Selection, TableEntity, TableStoreExt, Value};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(division)]
#[row_key("EMPLOYEE_", id)]
struct Employee {
    division: String,
    #[digits(6)]
    id: u32,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(division)]
#[row_key("DEPARTMENT_", code)]
struct Department {
    division: String,
    code: String,
    employee_count: i32,
}

/// All entity types in the table.
#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Staff {
    Employee(Employee),
    Department(Department),
    #[other]
    Unknown(TableEntity),
}

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let store = Engine::in_memory();
    let employees = store.table::<Employee>().create_if_missing().await?;
    let departments = store.table::<Department>();
    let sales = || "Sales".to_owned();
    let jun = Employee { division: sales(), id: 123, name: "Jun".to_owned() };
    let department = Department { division: sales(), code: "SALES".to_owned(), employee_count: 1 };
    let mut both = employees.transaction(Employee::partition("Sales"))?;
    both.insert(&jun)?.insert(&department)?;
    both.commit().await?;

    // A query for one type excludes the other type by its `RowKey` prefix. A query for the entire partition returns rows of both types.
    assert_eq!(employees.query(Employee::rows("Sales")).collect().await?, std::slice::from_ref(&jun));
    assert_eq!(
        departments.query(Department::rows("Sales")).collect().await?,
        std::slice::from_ref(&department)
    );
    let Err(mixed) = employees.query(Employee::partition("Sales")).collect().await else {
        panic!("two types")
    };
    println!("{mixed}");

    // This query returns every row as its own type. A row of an unknown type becomes a property bag instead of an error.
    let rows = store.untyped("Staff")?;
    rows.insert(&TableEntity::new("Sales", "ROBOT_000001")?.with("Model", "Unit 1")).await?;
    let staff = employees.query(Employee::partition("Sales")).read_as::<Staff>().collect().await?;
    let [Staff::Department(found), Staff::Employee(employee), Staff::Unknown(robot)] = staff.as_slice()
    else {
        panic!("three rows, in the order of their keys")
    };
    assert_eq!((found, employee), (&department, &jun));
    assert_eq!(robot.get("Model"), Some(&Value::from("Unit 1")));

    // Rows of an unknown type can also be changed. Here, every count is incremented, and all other properties remain unchanged (PAT-HET-5).
    let bags = rows.query(Selection::partition("Sales")).collect().await?;
    for bag in &bags {
        if let Some(Value::Int32(count)) = bag.get("EmployeeCount") {
            let patch = TableEntity::from(bag.key().clone()).with("EmployeeCount", count + 1);
            rows.merge(&patch, IfMatch::Any).await?;
        }
    }
    let grown = departments.get(Department::key("Sales", "SALES")).await?;
    assert_eq!(grown.map(|department| department.employee_count), Some(2));
    Ok(())
}
