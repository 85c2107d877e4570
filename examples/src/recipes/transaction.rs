//! Entity group transactions. The operations take effect atomically. An error contains the index of the failed operation (EGT-9, IMP-3).

use table_core::{Entity, ErrorCode, IfMatch, Result, TableStoreExt, Versioned};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company::Employee;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "transaction",
    question: "Everybody in Sales has a birthday, and one of them does not exist. Who is a year older?",
    schema: Employee::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let employees = store.table::<Employee>();
    let before: Vec<&Employee> =
        inputs.employees.iter().filter(|employee| employee.department == "Sales").collect();
    let mut answer = Grid::new(["Transaction", "Outcome", "Ages"]);
    let ages = |found: &[Employee]| found.iter().map(|e| e.age.to_string()).collect::<Vec<_>>().join(" ");
    let older = |employee: &Employee| Employee { age: employee.age + 1, ..employee.clone() };

    let mut birthdays = employees.transaction(Employee::partition("Sales"))?;
    for employee in &before {
        birthdays.replace(&older(employee), IfMatch::Any)?;
    }
    birthdays.replace(&Employee { id: 999_999, ..older(before[0]) }, IfMatch::Any)?;
    let Err(refused) = birthdays.commit().await else { panic!("there is no employee 999999") };
    assert_eq!((refused.code(), refused.operation()), (ErrorCode::ResourceNotFound, Some(before.len())));
    let after = now(store, &before).await?;
    assert!(after.iter().eq(before.iter().copied()), "nothing was applied");
    answer.row(["6 replaces, one of nobody", refused.code().as_str(), &ages(&after)]);

    let mut birthdays = employees.transaction(Employee::partition("Sales"))?;
    for employee in &before {
        birthdays.replace(&older(employee), IfMatch::Any)?;
    }
    let etags = birthdays.commit().await?;
    assert_eq!(etags.len(), before.len());
    let after = now(store, &before).await?;
    assert!(after.iter().cloned().eq(before.iter().map(|employee| older(employee))), "all was applied");
    answer.row(["5 replaces", "committed", &ages(&after)]);

    let mut elsewhere = employees.transaction(Employee::partition("Sales"))?;
    let marketing = inputs.employees.iter().find(|employee| employee.department == "Marketing");
    let Some(Err(stranger)) = marketing.map(|employee| elsewhere.insert(employee)) else {
        panic!("another partition")
    };
    answer.row(["an entity of Marketing", stranger.code().as_str(), "not even sent"]);

    let mut restore = employees.transaction(Employee::partition("Sales"))?;
    for employee in &before {
        restore.replace(*employee, IfMatch::Any)?;
    }
    restore.commit().await?;
    assert!(now(store, &before).await?.iter().eq(before.iter().copied()));
    Ok(Report::new("", answer).note(refused.to_string()).note(stranger.to_string()))
}

/// Returns the stored state of the given employees.
async fn now(store: &Store, of: &[&Employee]) -> Result<Vec<Employee>> {
    let keys = of.iter().map(|employee| Employee::key("Sales", employee.id));
    let found = store.table::<Employee>().get_many(keys).await?;
    Ok(found.into_iter().flatten().map(Versioned::into_value).collect())
}
