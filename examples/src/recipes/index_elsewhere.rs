//! An index in another partition. The outbox updates the index after the entity. The result type shows that a result may be stale (PAT-INTER).

use std::time::Duration;

use table_core::queue::QueueStore;
use table_core::{Entity, Result, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::outbox::Outbox;
use table_patterns::work::{Worker, WorkerOptions};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company_indexed::inter::Employee;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "index-elsewhere",
    question: "Jane changes her address: when does the directory, in another partition, show it?",
    schema: Employee::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    store.unmetered().table::<Employee>().delete_table().await?; // deletes the table of an earlier run
    let outbox = Outbox::new(store.clone(), store.queues().clone(), store.queue("directory")?);
    outbox.create_queues().await?;
    outbox.queues().clear(outbox.queue()).await?;
    let employees = store.entities_with_outbox::<Employee, _>(outbox.clone()).create_if_missing().await?;
    let idle = Duration::from_millis(20);
    let options =
        WorkerOptions { lease: Duration::from_secs(5 * 60), poll_interval: idle, ..WorkerOptions::default() };
    let settle = async |intents: u64| {
        let worker = Worker::with_options(outbox.clone(), options).with_index_handler(&employees);
        worker.run(|| worker.metrics().done >= intents).await;
        worker.metrics().longest_lag
    };

    // Each insert also records, in the same transaction, that an index row must be written (PAT-EC-8).
    let sales = inputs.employees.iter().filter(|employee| employee.department == "Sales");
    for employee in sales.cloned() {
        let crate::model::company::Employee { department, id, first_name, last_name, age, email } = employee;
        employees.insert(&Employee { department, id, first_name, last_name, age, email }).await?;
    }
    settle(5).await;
    let mut answer = Grid::new(["Step", "By jonesj@", "By jane@", "Verified"]);
    let by_email = |email: &str| Employee::by_email("Sales", email);
    let mut row = async |step: &str| {
        let mut cells = vec![step.to_owned()];
        let mut verified = "nobody".to_owned();
        for address in ["jonesj@contoso.com", "jane@contoso.com"] {
            // A copy does not dereference to the entity. The caller must accept that the copy may be stale, or read the entity (PAT-INTER-5).
            let Some(copy) = employees.get_eventual(by_email(address)).await? else {
                cells.push("nobody".to_owned());
                continue;
            };
            cells.push(copy.possibly_stale().first_name.clone());
            if let Some(jane) = copy.verify(&employees).await? {
                verified = format!("{} has {}", jane.first_name, jane.email);
            }
        }
        cells.push(verified);
        answer.row(&cells);
        Ok::<_, table_core::Error>(cells.split_off(1))
    };
    assert_eq!(row("settled").await?, ["Jane", "nobody", "Jane has jonesj@contoso.com"]);

    employees.update(Employee::key("Sales", 223), |jane| jane.email = "jane@contoso.com".into()).await?;
    assert_eq!(
        row("changed, not settled").await?,
        ["Jane", "nobody", "nobody"],
        "the copy is behind, and says so"
    );
    let lag = settle(1).await;
    assert_eq!(row("settled again").await?, ["nobody", "Jane", "Jane has jane@contoso.com"]);
    assert!(employees.check().run().await?.is_clean());
    Ok(Report::new(employees.table().plan(by_email("jane@contoso.com"))?, answer)
        .note("If readers cannot accept stale data, put the index into the partition of its entities: see `unique-index`.")
        .measured(format!("Lag from the change to its copy: {lag:?}.")))
}
