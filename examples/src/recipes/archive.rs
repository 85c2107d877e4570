//! Archiving. One transaction records a change together with outbox entries for other tables. Workers process the entries. An entry that keeps failing is
//! marked as poison (PAT-EC).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::{
    Entity, Error, ErrorCode, IfMatch, Operation, OperationKind, Result, Table, TableName, TableStore,
    TableStoreExt, Transaction,
};
use table_patterns::outbox::{Intent, Message, Outbox, Step};
use table_patterns::work::{Archive, Backoff, Delivery, Handler, Worker, WorkerOptions, archive};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company_archive::CurrentEmployee;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "archive",
    question: "Employee 456 leaves: how is he moved from table `Current` to `Archive`, and payroll notified, whatever fails?",
    schema: CurrentEmployee::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

/// A message that informs payroll of an employee's last day.
#[derive(Serialize, Deserialize)]
struct LastDay {
    employee: u32,
}

impl Message for LastDay {
    const NAME: &'static str = "payroll";
    const VERSION: u32 = 1;
}

/// A stand-in for an external system. Its calls must be idempotent (PAT-EC-2). Setting the last day of an employee is idempotent.
struct Payroll;

impl Handler<LastDay> for Payroll {
    async fn handle(&self, last_day: &LastDay, _: Delivery<'_>) -> Result<()> {
        let unknown = || Error::new(ErrorCode::InvalidInput, "payroll does not know this employee");
        (last_day.employee == 456).then_some(()).ok_or_else(unknown)
    }
}

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    store.unmetered().table::<CurrentEmployee>().create_if_missing().await?;
    let current = store.table::<CurrentEmployee>();
    let archived: Table<CurrentEmployee, _> = Table::new(store.clone(), TableName::new("Archive")?);
    store.create_table_if_missing(archived.name()?).await?;
    let outbox = Outbox::new(store.clone(), store.queues().clone(), store.queue("archive")?);
    prepare(&current, &archived, &outbox, inputs).await?;

    // One transaction writes the change and two intents (records of work to be done). Neither the change nor the intents can exist without the other
    // (PAT-EC-8).
    let leaver = current.get(CurrentEmployee::key("Sales", 456)).await?;
    let Some(leaver) = leaver else { panic!("employee 456 works here") };
    let leaving = CurrentEmployee { has_left: true, ..leaver.value().clone() };
    let key = leaving.key_of()?;
    let mut sales = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
    let replace = OperationKind::Replace(leaving.to_row()?, leaver.etag().into());
    sales.push(Operation { row_key: key.row_key.clone(), kind: replace })?;
    let moved = archive(current.name()?, &key, archived.name()?)?;
    outbox.record(&mut sales, &Intent::of(key.row_key.clone()).step(moved))?;
    let step = Step::call(&LastDay { employee: 456 })?;
    outbox.record(&mut sales, &Intent::of(key.row_key.clone()).step(step))?;
    outbox.submit(current.name()?, sales).await?;

    // The worker has no handler for payroll. It retries the failed step. After three attempts, the step becomes poison (PAT-EC-4).
    let now = Backoff { initial: Duration::ZERO, max: Duration::ZERO };
    let idle = Duration::from_millis(20);
    let options = WorkerOptions {
        lease: Duration::from_secs(5 * 60),
        poison_after: 3,
        redelivery: now,
        poll_interval: idle,
        ..WorkerOptions::default()
    };
    let worker = Worker::with_options(outbox.clone(), options).handler(Archive::new(store.clone()));
    worker.run(|| worker.metrics().poisoned > 0).await;
    let first = worker.metrics();
    let depth = outbox.backlog().await?;
    let mut answer = Grid::new(["After", "In Current", "In Archive", "#Poison", "Poison says"]);
    let poison = outbox.poison(32).await?;
    let Some(entry) = poison.first() else { panic!("payroll is poison") };
    let says = entry.error.clone().unwrap_or_default();
    let place = || async {
        let there = current.get(CurrentEmployee::key("Sales", 456)).await?.is_some();
        let archived = archived.get(CurrentEmployee::key("Sales", 456)).await?;
        Ok::<_, Error>((there, archived.map(table_core::Versioned::into_value)))
    };
    assert_eq!(place().await?, (false, Some(leaving.clone())), "moved, whatever became of payroll");
    assert!(says.contains("no handler is registered"), "{says}");
    assert!(first.done >= 1 && entry.attempts == options.poison_after);
    answer.row(["a worker without payroll", "no", "yes", "1", says.as_str()]);

    // An operator inspects the poison, starts a worker with the handler, and requeues the work.
    while outbox.requeue_poison().await?.is_some() {}
    let worker = Worker::with_options(outbox.clone(), options).handler(Payroll);
    worker.run(|| worker.metrics().done > 0).await;
    let (second, later) = (worker.metrics(), outbox.backlog().await?);
    assert!(outbox.poison(32).await?.is_empty(), "nothing is left");
    answer.row(["requeued to one with it", "no", "yes", "0", ""]);
    Ok(Report::new("", answer)
        .note("Between the two steps a reader finds him in both tables, because the steps are not isolated (PAT-EC-6).")
        .measured(format!(
            "Lag from the change to the end of its intents: {:?}, and {:?}.",
            first.lag, second.lag
        ))
        .measured(format!(
            "Depth after the first worker: {} waiting, {} poison; after the second: {} and {}.",
            depth.waiting, depth.poison, later.waiting, later.poison
        )))
}

/// Inserts all employees of Sales into `Current`, deletes employee 456 from `Archive`, and clears the queues of earlier runs.
async fn prepare(
    current: &Table<CurrentEmployee, Store>,
    archived: &Table<CurrentEmployee, Store>,
    outbox: &Outbox<Store, impl table_core::queue::QueueStore>,
    inputs: &Inputs,
) -> Result<()> {
    outbox.create_queues().await?;
    outbox.queues().clear(outbox.queue()).await?;
    outbox.queues().clear(&outbox.queue().poison()?).await?;
    for employee in inputs.employees.iter().filter(|employee| employee.department == "Sales") {
        current.insert_or_replace(&employee.into()).await?;
    }
    match archived.delete(CurrentEmployee::key("Sales", 456), IfMatch::Any).await {
        Err(error) if error.is_not_found() => Ok(()),
        outcome => outcome,
    }
}
