//! The employee of the running example, as a derived entity. The tests of the typed table and of all backends use this type.

use table_core::entity::ProjectionOf;
use table_core::query::{EntityRef, KeyRange, Select};
use table_core::selection::{FanOut, RowRange, Selection};
use table_core::{Entity, FromEntity, Result, property};

/// An employee in the running example, such as number `000223` in `Sales` (DQ-2).
#[derive(Clone, Debug, Entity, PartialEq, Eq)]
#[partition_key(department)]
#[row_key(id)]
pub struct Employee {
    /// The `PartitionKey`.
    pub department: String,
    /// The `RowKey` as six digits.
    #[digits(6)]
    pub id: u32,
    /// The `FirstName` property.
    pub first_name: String,
    /// The `Age` property.
    pub age: i32,
    /// The `Room` property, which is optional.
    pub room: Option<String>,
}

impl Employee {
    /// Creates an employee who is 30 years old and has no room.
    #[must_use]
    pub fn new(department: &str, id: u32) -> Self {
        Self {
            department: department.to_owned(),
            id,
            first_name: format!("Number {id}"),
            age: 30,
            room: None,
        }
    }

    /// Selects the employees in several departments, in key order.
    pub fn partitions(departments: &[&str]) -> Selection<Self, FanOut> {
        Selection::new(Ok(departments.iter().map(|department| KeyRange::partition(*department)).collect()))
    }

    /// Selects the employees in a department whose numbers are in `from..below`.
    pub fn ids(department: &str, from: u32, below: u32) -> Selection<Self, RowRange> {
        Self::rows(department).id(from..below)
    }
}

/// A projection of [`Employee`] that reads only the first name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameOnly {
    /// The `FirstName` property.
    pub first_name: String,
    /// The number of properties in the row returned by the store.
    pub properties: usize,
}

impl ProjectionOf<Employee> for NameOnly {}

impl FromEntity for NameOnly {
    fn select() -> Select {
        Select::names(["FirstName"])
    }

    fn from_entity(entity: EntityRef<'_>) -> Result<Self> {
        let first_name = property::read(entity.row, "FirstName", &mut 0)?;
        Ok(Self { first_name, properties: entity.row.len() })
    }
}
