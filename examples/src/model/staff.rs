//! Two entity types in one table, identified by a row-key prefix (PAT-HET).

use table_core::Entity;

/// An employee. Example key: (`Sales`, `EMPLOYEE_000123`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("EMPLOYEE_", id)]
pub struct Employee {
    /// The name of the department.
    pub department: String,
    /// The employee number, with at most six digits.
    #[digits(6)]
    pub id: u32,
    /// The given name.
    pub first_name: String,
    /// The family name.
    pub last_name: String,
    /// The age in years.
    pub age: i32,
}

/// A department, in the same partition as its employees. Example key: (`Sales`, `DEPARTMENT_SALES`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("DEPARTMENT_", code)]
pub struct Department {
    /// The department's name, as it appears in the keys of its employees.
    pub department: String,
    /// The name of the department in capital letters.
    pub code: String,
    /// The name of the department, as displayed.
    pub department_name: String,
    /// The number of employees in the department.
    pub employee_count: i32,
}

/// Returns all employees of the example.
#[must_use]
pub fn employees() -> Vec<Employee> {
    super::company::employees()
        .into_iter()
        .map(|person| Employee {
            department: person.department,
            id: person.id,
            first_name: person.first_name,
            last_name: person.last_name,
            age: person.age,
        })
        .collect()
}

/// Returns all departments of the example.
#[must_use]
pub fn departments() -> Vec<Department> {
    let everybody = employees();
    ["Marketing", "Sales"]
        .into_iter()
        .map(|name| Department {
            department: name.to_owned(),
            code: name.to_uppercase(),
            department_name: name.to_owned(),
            employee_count: everybody.iter().filter(|person| person.department == name).fold(0, |n, _| n + 1),
        })
        .collect()
}
