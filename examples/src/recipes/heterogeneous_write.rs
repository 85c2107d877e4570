//! Writes entities of different types atomically in one transaction (PAT-HET, PAT-CK-3).

use table_core::{Entity, ErrorCode, IfMatch, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::staff::{Department, Employee};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "heterogeneous-write",
    question: "Grace joins Research: can the head count of the department ever differ from its employees?",
    schema: Department::SCHEMA,
    run: |store, _| Box::pin(run(store)),
};

async fn run(store: &Store) -> Result<Report> {
    let (employees, departments) = (store.table::<Employee>(), store.table::<Department>());
    let research = || Department::key("Research", "RESEARCH");
    let grace = Employee {
        department: "Research".to_owned(),
        id: 900,
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
        age: 37,
    };
    let counted = async || {
        let found = employees.query(Employee::rows("Research")).collect().await?;
        let head_count = departments.get(research()).await?.map(|department| department.employee_count);
        Ok::<_, table_core::Error>((found.len(), head_count))
    };
    let alone = Department {
        department: "Research".to_owned(),
        code: "RESEARCH".to_owned(),
        department_name: "Research".to_owned(),
        employee_count: 0,
    };
    departments.insert_or_replace(&alone).await?;
    match employees.delete(Employee::key("Research", 900), IfMatch::Any).await {
        Err(error) if error.is_not_found() => {}
        left => left?, // deletes the employee that a stopped run left behind
    }
    let before = counted().await?;
    assert_eq!(before, (0, Some(0)));
    let mut answer = Grid::new(["Transaction", "Outcome", "#Employees", "#EmployeeCount"]);
    let mut row = |what: &str, outcome: &str, (found, count): (usize, Option<i32>)| {
        answer.row([what, outcome, &found.to_string(), &count.unwrap_or_default().to_string()]);
    };
    row("before", "", before);

    // One transaction writes two types in one partition, conditional on the version of the department. If two writers run concurrently, one of them must retry.
    // Every employee is therefore counted.
    let Some(department) = departments.get(research()).await? else { panic!("just written") };
    let grown = Department { employee_count: department.employee_count + 1, ..department.value().clone() };
    let mut hire = employees.transaction(Employee::partition("Research"))?;
    hire.insert(&grace)?.replace(&grown, department.etag())?;
    hire.commit().await?;
    let after = counted().await?;
    assert_eq!(after, (before.0 + 1, before.1.map(|count| count + 1)));
    row("insert Grace, replace the department", "committed", after);

    // A second hire with the previous version of the department writes neither entity.
    let mut again = employees.transaction(Employee::partition("Research"))?;
    let ada =
        Employee { id: 901, first_name: "Ada".to_owned(), last_name: "Lovelace".to_owned(), ..grace.clone() };
    again.insert(&ada)?.replace(&grown, department.etag())?;
    let Err(refused) = again.commit().await else { panic!("the department has changed since") };
    assert_eq!((refused.code(), refused.operation()), (ErrorCode::UpdateConditionNotSatisfied, Some(1)));
    assert_eq!(counted().await?, after);
    row("the same for Ada, with the version from before", refused.code().as_str(), after);

    let mut leave = employees.transaction(Employee::partition("Research"))?;
    leave.delete::<Employee>(Employee::key("Research", 900), IfMatch::Any)?;
    leave.delete::<Department>(research(), IfMatch::Any)?;
    leave.commit().await?;
    assert_eq!(counted().await?, (0, None));
    row("delete both", "committed", (0, None));
    Ok(Report::new("", answer).note(refused.to_string()))
}
