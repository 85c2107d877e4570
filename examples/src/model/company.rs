//! The company in the pattern catalogue: employees with their reviews (PAT-CK) and expense claims (PAT-LOG).

use chrono::{DateTime, Utc};
use table_core::Entity;

/// An employee. Example key: (`Sales`, `empid_000123`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
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
    /// The e-mail address.
    #[property("EmailAddress")]
    pub email: String,
}

/// The review of an employee for one year. It sorts after the employee. Example key: (`Sales`, `empid_000123_2012`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
pub struct Review {
    /// The name of the employee's department.
    pub department: String,
    /// The number of the reviewed employee.
    #[digits(6)]
    pub employee: u32,
    /// The year covered by the review.
    #[digits(4)]
    pub year: u16,
    /// The rating by the manager, from 1 to 5.
    pub manager_rating: i32,
    /// The rating by colleagues, from 1 to 5.
    pub peer_rating: i32,
    /// The comments, as free text.
    pub comments: String,
}

/// An expense claim of an employee. The latest claim sorts first. Example key: (`empid_000123`, `2519954698939999999_001`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "EmployeeExpense")]
#[partition_key("empid_", employee)]
#[row_key(desc(at), "_", number)]
pub struct Expense {
    /// The employee number of the claimant.
    #[digits(6)]
    pub employee: u32,
    /// The time of the claim.
    pub at: DateTime<Utc>,
    /// A number that distinguishes claims made at the same time.
    #[digits(3)]
    pub number: u16,
    /// The amount in cents.
    pub amount: i64,
    /// The purpose, as free text.
    pub purpose: String,
}

/// Returns all employees of the company.
#[must_use]
pub fn employees() -> Vec<Employee> {
    let employee = |department: &str, id, first_name: &str, last_name: &str, age, email: &str| Employee {
        department: department.to_owned(),
        id,
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        age,
        email: format!("{email}@contoso.com"),
    };
    vec![
        employee("Marketing", 17, "Ken", "Kwok", 23, "kenk"),
        employee("Marketing", 522, "Don", "Hall", 34, "donh"),
        employee("Sales", 9, "Mary", "Jones", 51, "maryj"),
        employee("Sales", 123, "Jun", "Cao", 47, "junc"),
        employee("Sales", 152, "Adam", "Jones", 29, "adamj"),
        employee("Sales", 223, "Jane", "Jones", 32, "jonesj"),
        employee("Sales", 456, "Ali", "Smith", 61, "alis"),
    ]
}

/// Returns all reviews of the company's employees.
#[must_use]
pub fn reviews() -> Vec<Review> {
    let review = |employee, year, manager_rating, peer_rating, comments: &str| Review {
        department: "Sales".to_owned(),
        employee,
        year,
        manager_rating,
        peer_rating,
        comments: comments.to_owned(),
    };
    vec![
        review(123, 2011, 3, 4, "Settled in well"),
        review(123, 2012, 5, 4, "Won the tender of the year"),
        review(123, 2013, 4, 5, "Teaches the others"),
        review(223, 2012, 4, 4, "Steady"),
    ]
}

/// Returns all expense claims, earliest first.
#[must_use]
pub fn expenses() -> Vec<Expense> {
    // Two claims are made on each day at the same time, starting at 2014-07-31T18:21:46Z.
    let first = DateTime::from_timestamp(1_406_830_906, 0).unwrap_or_default();
    (0..30u16)
        .map(|nth| Expense {
            employee: 123,
            at: first + chrono::Duration::days(i64::from(nth / 2)),
            number: nth % 2 + 1,
            amount: i64::from(nth) * 1_250 + 990,
            purpose: if nth % 2 == 0 { "Travel" } else { "Meals" }.to_owned(),
        })
        .collect()
}
