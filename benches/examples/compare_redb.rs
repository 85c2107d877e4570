//! An example for `docs/compare.md`: employees with a unique e-mail address, stored with `redb`.

use std::ops::RangeInclusive;
use std::slice;

use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The table of employees. It maps company, department and number to the e-mail.
const EMPLOYEES: TableDefinition<'_, (&str, &str, u32), &str> = TableDefinition::new("employees");
/// The unique index. It maps company and e-mail to department and number.
const BY_EMAIL: TableDefinition<'_, (&str, &str), (&str, u32)> = TableDefinition::new("by_email");

#[derive(Clone, Debug, PartialEq)]
struct Employee {
    company: String,
    department: String,
    id: u32,
    email: String,
}

impl Employee {
    fn key(&self) -> (&str, &str, u32) {
        (&self.company, &self.department, self.id)
    }
}

/// Inserts an employee. Returns `false` if the key or the e-mail address is taken.
fn insert(db: &Database, ada: &Employee) -> Outcome<bool> {
    let write = db.begin_write()?;
    {
        let mut employees = write.open_table(EMPLOYEES)?;
        let mut emails = write.open_table(BY_EMAIL)?;
        let email = (ada.company.as_str(), ada.email.as_str());
        if employees.get(ada.key())?.is_some() || emails.get(email)?.is_some() {
            return Ok(false); // the transaction is dropped, which aborts it
        }
        employees.insert(ada.key(), ada.email.as_str())?;
        emails.insert(email, (ada.department.as_str(), ada.id))?;
    }
    write.commit()?;
    Ok(true)
}

fn by_email(db: &Database, company: &str, email: &str) -> Outcome<Option<Employee>> {
    let emails = db.begin_read()?.open_table(BY_EMAIL)?;
    let Some(found) = emails.get((company, email))? else { return Ok(None) };
    let (department, id) = found.value();
    Ok(Some(Employee {
        company: company.to_owned(),
        department: department.to_owned(),
        id,
        email: email.to_owned(),
    }))
}

fn of_department(
    db: &Database,
    company: &str,
    department: &str,
    ids: &RangeInclusive<u32>,
) -> Outcome<Vec<Employee>> {
    let employees = db.begin_read()?.open_table(EMPLOYEES)?;
    let (first, last) = ((company, department, *ids.start()), (company, department, *ids.end()));
    let mut found = Vec::new();
    for entry in employees.range(first..=last)? {
        let (key, email) = entry?;
        let (company, department, id) = key.value();
        found.push(Employee {
            company: company.to_owned(),
            department: department.to_owned(),
            id,
            email: email.value().to_owned(),
        });
    }
    Ok(found)
}

/// Changes the e-mail address of an employee. Returns `false` if the new address is taken.
fn change_email(db: &Database, ada: &Employee, email: &str) -> Outcome<bool> {
    let write = db.begin_write()?;
    {
        let mut employees = write.open_table(EMPLOYEES)?;
        let mut emails = write.open_table(BY_EMAIL)?;
        if emails.get((ada.company.as_str(), email))?.is_some() {
            return Ok(false);
        }
        employees.insert(ada.key(), email)?;
        emails.remove((ada.company.as_str(), ada.email.as_str()))?;
        emails.insert((ada.company.as_str(), email), (ada.department.as_str(), ada.id))?;
    }
    write.commit()?;
    Ok(true)
}

fn main() -> Outcome<()> {
    let db = Database::builder().create_with_backend(InMemoryBackend::new())?; // or `create("company.redb")?`
    let ada = Employee {
        company: "contoso".into(),
        department: "Sales".into(),
        id: 223,
        email: "ada@contoso.com".into(),
    };
    assert!(insert(&db, &ada)?);
    assert_eq!(by_email(&db, "contoso", "ada@contoso.com")?.as_ref(), Some(&ada));
    assert_eq!(of_department(&db, "contoso", "Sales", &(100..=299))?, slice::from_ref(&ada));

    assert!(!insert(&db, &Employee { id: 224, ..ada.clone() })?);

    assert!(change_email(&db, &ada, "lovelace@contoso.com")?);
    assert_eq!(by_email(&db, "contoso", "ada@contoso.com")?, None);
    Ok(())
}
