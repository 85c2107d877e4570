//! A fixture for tests: an entity with every kind of index.

use proptest::prelude::*;
use table_core::Entity;

#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", crate = table_core)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
#[index(ByAge, row_key("age_", age, "_", id), include(first_name), when = Employee::is_grown)]
#[index(
    EmailDirectory,
    unique,
    partition_key("email_", department),
    row_key(email),
    include(first_name, last_name)
)]
#[index(ByBadge, unique, table = "Badges", partition_key(bucket(badge, 4)), row_key(badge))]
#[index_entity(ByLastName, at_most = 100, row_key("lastname_", last_name))]
#[index_entity(Namesakes, at_most = 100, partition_key("lastname_", last_name), row_key("all"))]
pub(crate) struct Employee {
    pub(crate) department: String,
    #[digits(6)]
    #[property("EmployeeId")]
    pub(crate) id: u32,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    #[digits(3)]
    pub(crate) age: u8,
    #[property("EmailAddress")]
    pub(crate) email: String,
    pub(crate) badge: Option<u32>,
}

impl Employee {
    fn is_grown(&self) -> bool {
        self.age >= 18
    }
}

pub(crate) fn jones() -> Employee {
    Employee {
        department: "Sales".to_owned(),
        id: 223,
        first_name: "Jane".to_owned(),
        last_name: "Jones".to_owned(),
        age: 32,
        email: "jonesj@contoso.com".to_owned(),
        badge: None,
    }
}

/// Generates employees with only a few distinct values. Their keys and lists therefore collide.
pub(crate) fn employee() -> impl Strategy<Value = Employee> {
    let names = (prop::sample::select(vec!["Jane", "Jun"]), prop::sample::select(vec!["Jones", "Cao"]));
    let badge = prop::option::of(0_u32..4);
    (prop::sample::select(vec!["Sales", "Marketing"]), 0_u32..5, names, 16_u8..20, "[ab]", badge).prop_map(
        |(department, id, (first_name, last_name), age, email, badge)| Employee {
            department: department.to_owned(),
            id,
            first_name: first_name.to_owned(),
            last_name: last_name.to_owned(),
            age,
            email,
            badge,
        },
    )
}
