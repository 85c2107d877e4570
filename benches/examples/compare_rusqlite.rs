//! An example for `docs/compare.md`: employees with a unique e-mail address, stored with `SQLite`.

use std::ops::RangeInclusive;
use std::slice;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Result, Row, params};

const SCHEMA: &str = "CREATE TABLE employees (
    company TEXT NOT NULL,
    department TEXT NOT NULL,
    id INTEGER NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (company, department, id),
    UNIQUE (company, email)
) STRICT, WITHOUT ROWID";

#[derive(Clone, Debug, PartialEq)]
struct Employee {
    company: String,
    department: String,
    id: u32,
    email: String,
}

impl Employee {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            company: row.get("company")?,
            department: row.get("department")?,
            id: row.get("id")?,
            email: row.get("email")?,
        })
    }
}

fn insert(db: &Connection, ada: &Employee) -> Result<usize> {
    db.execute(
        "INSERT INTO employees VALUES (?1, ?2, ?3, ?4)",
        params![ada.company, ada.department, ada.id, ada.email],
    )
}

fn by_email(db: &Connection, company: &str, email: &str) -> Result<Option<Employee>> {
    let sql = "SELECT * FROM employees WHERE company = ?1 AND email = ?2";
    db.query_row(sql, params![company, email], Employee::from_row).optional()
}

fn of_department(
    db: &Connection,
    company: &str,
    department: &str,
    ids: &RangeInclusive<u32>,
) -> Result<Vec<Employee>> {
    let sql = "SELECT * FROM employees
        WHERE company = ?1 AND department = ?2 AND id BETWEEN ?3 AND ?4 ORDER BY id";
    let mut select = db.prepare_cached(sql)?;
    let found = select.query_map(params![company, department, ids.start(), ids.end()], Employee::from_row)?;
    found.collect()
}

fn change_email(db: &Connection, ada: &Employee, email: &str) -> Result<usize> {
    db.execute(
        "UPDATE employees SET email = ?4 WHERE company = ?1 AND department = ?2 AND id = ?3",
        params![ada.company, ada.department, ada.id, email],
    )
}

fn main() -> Result<()> {
    let db = Connection::open_in_memory()?; // or `Connection::open("company.db")?`
    db.execute_batch(SCHEMA)?;
    let ada = Employee {
        company: "contoso".into(),
        department: "Sales".into(),
        id: 223,
        email: "ada@contoso.com".into(),
    };
    insert(&db, &ada)?;
    assert_eq!(by_email(&db, "contoso", "ada@contoso.com")?.as_ref(), Some(&ada));
    assert_eq!(of_department(&db, "contoso", "Sales", &(100..=299))?, slice::from_ref(&ada));

    let second = insert(&db, &Employee { id: 224, ..ada.clone() });
    assert!(second.is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)));

    assert_eq!(change_email(&db, &ada, "lovelace@contoso.com")?, 1);
    assert_eq!(by_email(&db, "contoso", "ada@contoso.com")?, None);
    Ok(())
}
