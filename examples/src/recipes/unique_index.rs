//! An index in the partition of its entities. One transaction writes an entity and its index row. A unique index enforces a constraint (PAT-INTRA).

use table_core::{Entity, ErrorCode, Result, TableStoreExt};
use table_patterns::EntityStore;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company_indexed::intra::Employee;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "unique-index",
    question: "Who has the address jonesj@contoso.com, and can two employees have it?",
    schema: Employee::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    store.unmetered().table::<Employee>().delete_table().await?; // deletes the table of an earlier run
    let employees = store.entities::<Employee>().create_if_missing().await?;
    let sales = inputs.employees.iter().filter(|employee| employee.department == "Sales");
    for employee in sales.cloned() {
        let crate::model::company::Employee { department, id, first_name, last_name, age, email } = employee;
        employees.insert(&Employee { department, id, first_name, last_name, age, email }).await?;
    }
    let by_email = |email: &str| Employee::by_email("Sales", email);
    let mut answer = Grid::new(["Step", "Outcome", "Who has jonesj@", "Who has jane@"]);
    let mut row = async |step: &str, outcome: &str| {
        let mut cells = vec![step.to_owned(), outcome.to_owned()];
        for address in ["jonesj@contoso.com", "jane@contoso.com"] {
            let found = employees.get(by_email(address)).await?;
            cells
                .push(found.map_or_else(|| "nobody".to_owned(), |it| format!("{} {}", it.id, it.first_name)));
        }
        answer.row(&cells);
        Ok::<_, table_core::Error>(cells.split_off(2))
    };
    let plan = employees.table().plan(by_email("jonesj@contoso.com"))?;
    assert_eq!(row("five employees and their copies", "").await?, ["223 Jane", "nobody"]);

    // The key of the copy already exists, so the transaction fails and writes neither the entity nor its copy (PAT-INTRA-5).
    let Some(jane) = employees.get(Employee::key("Sales", 223)).await? else { panic!("just inserted") };
    let double = Employee { id: 224, first_name: "June".to_owned(), ..jane.value().clone() };
    let Err(taken) = employees.insert(&double).await else { panic!("Jane has this address") };
    assert_eq!(taken.code(), ErrorCode::UniqueViolation);
    assert_eq!(employees.get(Employee::key("Sales", 224)).await?, None);
    assert_eq!(row("June with the same address", taken.code().as_str()).await?, ["223 Jane", "nobody"]);

    // When the address changes, one transaction deletes the old copy and inserts the new one (PAT-INTRA-7).
    employees.update(Employee::key("Sales", 223), |jane| jane.email = "jane@contoso.com".into()).await?;
    assert_eq!(row("Jane takes another address", "done").await?, ["nobody", "223 Jane"]);
    employees.insert(&double).await?;
    assert_eq!(row("June once more", "done").await?, ["224 June", "223 Jane"]);

    // The copies whose address starts with `a` form a range. Other keys can be queried in the same way (PAT-INTRA-3).
    let found = employees.query(Employee::by_email_rows("Sales").email_prefix("a")).collect().await?;
    assert_eq!(found.iter().map(|it| it.first_name.as_str()).collect::<Vec<_>>(), ["Adam", "Ali"]);
    assert!(employees.check().run().await?.is_clean());
    Ok(Report::new(plan, answer).note(taken.to_string()))
}
