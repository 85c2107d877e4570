//! The running example, derived, for the tests of the typed table and of every backend.

use table_core::entity::ProjectionOf;
use table_core::error::Result;
use table_core::property;
use table_core::query::{EntityRef, KeyRange, Select};
use table_core::selection::{FanOut, RowRange, Selection};
use table_core::{Entity, FromEntity};

/// An employee of the running example: `Sales`, `000223` (DQ-2).
#[derive(Clone, Debug, Entity, PartialEq, Eq)]
#[partition_key(department)]
#[row_key(id)]
pub struct Employee {
    /// The `PartitionKey`.
    pub department: String,
    /// The `RowKey`, six digits.
    #[digits(6)]
    pub id: u32,
    /// `FirstName`
    pub first_name: String,
    /// `Age`
    pub age: i32,
    /// `Room`, which not everybody has.
    pub room: Option<String>,
}

impl Employee {
    /// Number `id` of a department, 30 years old, without a room.
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

    /// Several departments, in key order.
    pub fn partitions(departments: &[&str]) -> Selection<Self, FanOut> {
        Selection::new(Ok(departments.iter().map(|department| KeyRange::partition(*department)).collect()))
    }

    /// The employees of a department from one number on, below another.
    pub fn ids(department: &str, from: u32, below: u32) -> Selection<Self, RowRange> {
        Self::rows(department).id(from..below)
    }
}

/// A projection of an employee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameOnly {
    /// `FirstName`
    pub first_name: String,
    /// How many properties the store sent.
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
