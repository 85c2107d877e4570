//! An example for `docs/compare.md`: employees with a unique e-mail address, stored with `native_db`.

use std::ops::RangeInclusive;
use std::slice;

use native_db::db_type::Error;
use native_db::{Builder, Database, Models, ToKey, native_db};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[native_model(id = 1, version = 1)]
#[native_db(
    primary_key(place -> String),
    secondary_key(company_email -> String, unique)
)]
struct Employee {
    company: String,
    department: String,
    id: u32,
    email: String,
}

impl Employee {
    fn place(&self) -> String {
        place(&self.company, &self.department, self.id)
    }

    fn company_email(&self) -> String {
        company_email(&self.company, &self.email)
    }
}

/// Returns the key of an employee. Keys sort by company, department and number.
fn place(company: &str, department: &str, id: u32) -> String {
    format!("{company}\0{department}\0{id:010}")
}

fn company_email(company: &str, email: &str) -> String {
    format!("{company}\0{email}")
}

fn insert(db: &Database<'_>, ada: Employee) -> Outcome<()> {
    let write = db.rw_transaction()?;
    write.insert(ada)?;
    Ok(write.commit()?)
}

fn by_email(db: &Database<'_>, company: &str, email: &str) -> Outcome<Option<Employee>> {
    let read = db.r_transaction()?;
    Ok(read.get().secondary(EmployeeKey::company_email, company_email(company, email))?)
}

fn of_department(
    db: &Database<'_>,
    company: &str,
    department: &str,
    ids: &RangeInclusive<u32>,
) -> Outcome<Vec<Employee>> {
    let read = db.r_transaction()?;
    let employees = read.scan().primary::<Employee>()?;
    let at = |id| place(company, department, id);
    let found = employees.range(at(*ids.start())..=at(*ids.end()))?.collect::<Result<_, Error>>();
    Ok(found?)
}

fn change_email(db: &Database<'_>, ada: &Employee, email: &str) -> Outcome<()> {
    let write = db.rw_transaction()?;
    write.update(ada.clone(), Employee { email: email.to_owned(), ..ada.clone() })?;
    Ok(write.commit()?)
}

fn main() -> Outcome<()> {
    let mut models = Models::new();
    models.define::<Employee>()?;
    let db = Builder::new().create_in_memory(&models)?; // or `create(&models, "company.db")?`
    let ada = Employee {
        company: "contoso".into(),
        department: "Sales".into(),
        id: 223,
        email: "ada@contoso.com".into(),
    };
    insert(&db, ada.clone())?;
    assert_eq!(by_email(&db, "contoso", "ada@contoso.com")?.as_ref(), Some(&ada));
    assert_eq!(of_department(&db, "contoso", "Sales", &(100..=299))?, slice::from_ref(&ada));

    let second = insert(&db, Employee { id: 224, ..ada.clone() });
    assert!(second.is_err_and(|error| matches!(error.downcast_ref(), Some(Error::DuplicateKey { .. }))));

    change_email(&db, &ada, "lovelace@contoso.com")?;
    assert_eq!(by_email(&db, "contoso", "ada@contoso.com")?, None);
    Ok(())
}
