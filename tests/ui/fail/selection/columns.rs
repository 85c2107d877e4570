//! Conditions written in the syntax of other libraries: column functions, lists of values, and operators. Each mistake is reported once.

use chrono::{DateTime, Utc};
use table_core::{Engine, Entity, Filter, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    age: i32,
    since: DateTime<Utc>,
    active: bool,
}

fn conditions(table: &Table<Employee, Engine>) -> table_core::Result<()> {
    let all = || table.query(Employee::partition("Sales"));
    let _ = all().filter(Employee::LAST_NAME.is_in("Jones")); //~ T230
    let _ = all().filter(Employee::AGE.is_in(30)); //~ T230
    let _ = all().filter(Employee::AGE.is_in(["30", "40"])); //~ T230
    let _ = all().filter(Employee::LAST_NAME.in_(["Jones"])); //~ T197
    let _ = all().filter(Employee::LAST_NAME.not_in(["Jones"])); //~ T197
    let _ = all().filter(Employee::LAST_NAME.begins_with("Jo")); //~ T197
    let _ = all().filter(Employee::ACTIVE.and(Employee::AGE.ge(18))); //~ T197
    let _ = all().filter(Employee::LAST_NAME.ilike("jo%")); //~ T098
    let _ = all().filter(Employee::LAST_NAME.to_lowercase().eq("jones")); //~ T235
    let _ = all().filter(Employee::LAST_NAME.as_str().eq("Jones")); //~ T235
    let _ = all().filter(Employee::LAST_NAME.len().gt(3)); //~ T235
    let _ = all().filter(Employee::SINCE.year().eq(2014)); //~ T235
    let _ = all().filter(Employee::SINCE.gt("2014-08-22")); //~ T087
    let _ = all().filter([Employee::AGE.ge(18), Employee::AGE.lt(65)]); //~ T096
    let _ = all().filter(Some(Employee::AGE.ge(18))); //~ T096
    let _ = all().filter(Filter::parse("Age gt 30")?); //~ T096
    let _ = all().filter(Employee::ACTIVE & Employee::LAST_NAME); //~ T096
    let _ = all().filter(Employee::AGE.ge(18).and("Active")); //~ T096
    let ages = vec![30, 40];
    // A method name that an operand also has does not change the message.
    let _ = ages.filter(|age| *age > 30).count(); //~ T?
    let _ = ages.value(); //~ T?
    Ok(())
}

fn main() {}
