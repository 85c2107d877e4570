//! A badge stored in the partition of its employee. This is a one-to-one relationship (IMP-6).

use table_core::Entity;

/// The badge of an employee. Example key: (`Sales`, `empid_000123-badge`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", employee, "-badge")]
pub struct Badge {
    /// The name of the employee's department.
    pub department: String,
    /// The employee number.
    #[digits(6)]
    pub employee: u32,
    /// The floors whose doors the badge opens.
    pub floors: String,
}
