//! Point and range queries. Their cost is proportional to the number of rows returned (DQ-2, DQ-3).

use table_core::{Engine, Entity, Result, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    name: String,
}

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    for (id, name) in [(9, "Mary"), (99, "Jun"), (100, "Adam"), (199, "Jane"), (223, "Ali")] {
        employees.insert(&Employee { department: "Sales".to_owned(), id, name: name.to_owned() }).await?;
    }

    let jane = employees.get(Employee::key("Sales", 199)).await?;
    assert_eq!(jane.map(|jane| jane.name.clone()).as_deref(), Some("Jane"));
    assert_eq!(employees.get(Employee::key("Sales", 200)).await?, None);

    // The numbers have leading zeros, because keys must sort in the same order as the numbers (DQ-10).
    let hundreds = employees.query(Employee::rows("Sales").id(100..=199));
    println!("{}", hundreds.plan()?);
    let names: Vec<String> = hundreds.collect().await?.into_iter().map(|employee| employee.name).collect();
    assert_eq!(names, ["Adam", "Jane"]);

    // A number with too many digits is reported before a request is sent. It never becomes a key in the wrong order.
    let Err(too_long) = employees.get(Employee::key("Sales", 1_000_000)).await else { panic!("six digits") };
    println!("{too_long}");
    Ok(())
}
