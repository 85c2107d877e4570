//! Current and former employees. One entity type is stored in two tables (PAT-EC).

use table_core::Entity;

use crate::model::company;

/// An employee, stored first in the table `Current` and later in the table `Archive`. Example key: (`Sales`, `000456`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Current")]
#[partition_key(department)]
#[row_key(id)]
pub struct CurrentEmployee {
    /// The name of the department.
    pub department: String,
    /// The employee number, with at most six digits.
    #[digits(6)]
    pub id: u32,
    /// The given name.
    pub first_name: String,
    /// The family name.
    pub last_name: String,
    /// `true` after the employee's last day.
    pub has_left: bool,
}

impl From<&company::Employee> for CurrentEmployee {
    fn from(employee: &company::Employee) -> Self {
        let company::Employee { department, id, first_name, last_name, .. } = employee.clone();
        Self { department, id, first_name, last_name, has_left: false }
    }
}
