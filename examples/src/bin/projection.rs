//! A projection: a struct with fewer fields than the entity. The compiler checks it against the entity (DQ-13).

use table_core::{Engine, Entity, Projection, Result, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    first_name: String,
    last_name: String,
    photo: Vec<u8>,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Name {
    first_name: String,
    last_name: String,
}

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    let ada = Employee {
        department: "Sales".to_owned(),
        id: 1,
        first_name: "Ada".to_owned(),
        last_name: "Jones".to_owned(),
        photo: vec![0; 60_000],
    };
    employees.insert(&ada).await?;

    // The photo is not transferred by this query.
    let query = employees.query(Employee::partition("Sales")).project::<Name>();
    println!("{}", query.plan()?);
    let names = query.collect().await?;
    assert_eq!(names, [Name { first_name: "Ada".to_owned(), last_name: "Jones".to_owned() }]);
    Ok(())
}
