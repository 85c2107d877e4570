//! Counts the cost of opening a table and of checking its stored schema.

use table_patterns::{Entity, EntityStore as _, TableStoreExt as _};

use super::{Counted, run};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Plain")]
#[partition_key(customer)]
#[row_key(number)]
struct Order {
    customer: String,
    #[digits(6)]
    number: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Indexed")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
}

#[test]
fn opening() {
    let mut counted = Counted::new();
    run(async {
        let order = |number| Order { customer: "ada".into(), number };
        counted.start();
        counted.store.table::<Order>().create_if_missing().await?;
        counted.row("`create_if_missing`, the first table of the store");
        counted.store.table::<Order>().create_if_missing().await?;
        counted.row("`create_if_missing`, the table exists");
        let employees = counted.store.entities::<Employee>().with_runtime(counted.runtime());
        counted.start();
        let employees = employees.create_if_missing().await?;
        counted.row("`create_if_missing` of an entity with an index, a new table");

        let orders = counted.store.table::<Order>();
        counted.start();
        orders.insert(&order(1)).await?;
        counted.row("`insert` through a handle that was not opened");
        orders.get(Order::key("ada", 1)).await?;
        counted.row("`get`");
        let employee = |id| Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") };
        employees.insert(&employee(1)).await?;
        counted.row("`insert` of an entity with an index");
        counted.advance(6);
        counted.start();
        employees.insert(&employee(2)).await?;
        counted.row("the same, more than five seconds after the schema was last read");
        Ok(())
    });
    counted.hold("book/capacity.md", "opening");
}
