//! Generic functions that take keys. A text or a number is refused where the function is called, and a function without the bound on the source reads no key.

use table_core::selection::{IntoPoints, PointKey, Source};
use table_core::{Entity, EntityKey, Result};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
}

fn of_any<E>(key: impl PointKey<E>) -> Result<EntityKey> {
    key.into_point().key() //~ T271
}

fn count_any<E>(keys: impl IntoPoints<E>) -> usize {
    keys.into_points().len() //~ T271
}

fn of<E>(key: impl PointKey<E, From: Source>) -> Result<EntityKey> {
    key.into_point().key()
}

fn count<E>(keys: impl IntoPoints<E, From: Source>) -> usize {
    keys.into_points().len()
}

fn uses(ada: &Employee) {
    let _ = of(Employee::key("Sales", 7));
    let _ = count([Employee::key("Sales", 7)]);
    let _ = of::<Employee>("7"); //~ T084
    let _ = of::<Employee>(("Sales", 7)); //~ T084
    let _ = of(ada); //~ T084
    let _ = count::<Employee>(["7"]); //~ T084
}

fn main() {}
