//! Optimistic concurrency. The second of two writers gets an error and retries (IMP-2, CON-3).

use table_core::{Entity, ErrorCode, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company::Employee;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "optimistic-concurrency",
    question: "Two clerks change employee 223 at once. Whose change is lost?",
    schema: Employee::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let employees = store.table::<Employee>();
    let key = Employee::key("Sales", 223);
    let before = inputs.employees.iter().find(|employee| employee.id == 223);
    let read = employees.get(key.clone()).await?;
    assert_eq!(read.as_deref(), before);
    let Some(read) = read else { panic!("employee 223 was imported") };
    let mut answer = Grid::new(["Step", "Outcome", "#Age", "E-mail"]);
    let mut step = |what: &str, outcome: &str, employee: &Employee| {
        answer.row([what, outcome, &employee.age.to_string(), &employee.email]);
    };
    step("both read", "", &read);

    let first = Employee { age: read.age + 1, ..read.value().clone() };
    employees.replace(&first, read.etag()).await?;
    step("the first replaces, If-Match", "done", &first);

    let second = Employee { email: "jane@contoso.com".to_owned(), ..read.value().clone() };
    let Err(refused) = employees.replace(&second, read.etag()).await else {
        panic!("the version is an old one")
    };
    assert_eq!(refused.code(), ErrorCode::UpdateConditionNotSatisfied);
    step("the second replaces, If-Match", refused.code().as_str(), &first);

    let both = employees.update(&read, |employee| employee.email.clone_from(&second.email)).await?;
    assert_eq!((both.age, both.email.as_str()), (first.age, "jane@contoso.com"), "no change is lost");
    step("the second updates, with retry", "done", &both);

    let restored = employees.update(&both, |employee| employee.clone_from(&read)).await?;
    assert_eq!(Some(restored.value()), before);
    step("put back for the next run", "done", &restored);
    Ok(Report::new("", answer).note(format!("The second writer got: {refused}")))
}
