//! An update of a range. The message has a number and the right form.

use table_core::{Engine, Entity, Table};

#[derive(Entity, Clone)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

fn update(table: &Table<Employee, Engine>) {
    let _ = table.update(Employee::partition("Sales"), |employee| employee.age += 1);
}

fn main() {}
