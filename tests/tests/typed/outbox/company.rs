//! A fixture with employees in departments, and with a directory of their e-mail addresses in another table. An outbox keeps the directory up to date.

use std::collections::BTreeMap;
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{RowView, RowWriter};
use table_core::{
    EntityKey, IfMatch, Operation, OperationKind, PartitionKey, QueueName, Result, Row, RowKey, TableName,
    TableStore, Transaction, ValueRef,
};
use table_patterns::outbox::{Intent, Outbox, REGISTRY, Step};
use table_patterns::work::{Runtime, Sweep, Worker, WorkerOptions};
use tests::faults::{Control, Controlled};
use tests::time::{Skew, Time};

pub(crate) type Store = Controlled<Engine>;

/// The stores of the company, and their clock.
pub(crate) struct Company {
    pub(crate) engine: Engine,
    time: Time,
}

pub(crate) fn employees() -> TableName {
    TableName::new("Employee").unwrap()
}

pub(crate) fn directory() -> TableName {
    TableName::new("Directory").unwrap()
}

fn row(email: &str, age: i32) -> Row {
    let mut writer = RowWriter::new();
    writer.property("Email", ValueRef::String(email));
    writer.property("Age", ValueRef::Int32(age));
    writer.finish()
}

fn read(row: RowView<'_>) -> (String, i32) {
    let Some(ValueRef::String(email)) = row.find("Email", &mut 0).unwrap() else { panic!("no email") };
    let Some(ValueRef::Int32(age)) = row.find("Age", &mut 0).unwrap() else { panic!("no age") };
    (email.to_owned(), age)
}

/// Returns the key of an employee in the directory.
fn place(id: &str, email: &str) -> EntityKey {
    EntityKey::new("email", format!("{email}_{id}")).unwrap()
}

impl Company {
    pub(crate) fn new() -> Self {
        let time = Time::default();
        let engine = time.engine();
        for table in [employees(), directory()] {
            block_on(engine.create_table(&table)).unwrap();
        }
        let company = Self { engine, time };
        block_on(company.outbox(&Control::default()).create_queues()).unwrap();
        company
    }

    pub(crate) fn time(&self) -> Time {
        self.time.clone()
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.time.pass(time);
    }

    /// Returns a runtime that advances the simulated time of the company instead of waiting.
    pub(crate) fn runtime(&self) -> Runtime {
        self.runtime_of(Skew::None)
    }

    /// Returns the runtime of a process whose clock has the given skew.
    pub(crate) fn runtime_of(&self, skew: Skew) -> Runtime {
        self.time.runtime_of(skew)
    }

    /// Returns the outbox of a process that may be killed by `control`.
    pub(crate) fn outbox(&self, control: &Control) -> Outbox<Store, Store> {
        let store = control.over(self.engine.clone());
        Outbox::with_runtime(store.clone(), store, QueueName::new("work").unwrap(), self.runtime())
    }

    /// Returns the outbox of a process whose clock has the given skew.
    pub(crate) fn outbox_by(&self, skew: Skew) -> Outbox<Store, Store> {
        let store = Control::default().over(self.engine.clone());
        Outbox::with_runtime(store.clone(), store, QueueName::new("work").unwrap(), self.runtime_of(skew))
    }

    pub(crate) fn worker(&self, control: &Control) -> Worker<Store, Store> {
        let options = WorkerOptions { messages_per_receive: 3, ..WorkerOptions::default() };
        Worker::with_options(self.outbox(control), options)
    }

    /// Sets the e-mail address and the age of an employee, or deletes the employee. Records the change for the directory in the same transaction.
    pub(crate) async fn change(
        &self,
        outbox: &Outbox<Store, Store>,
        id: &str,
        to: Option<(&str, i32)>,
    ) -> Result<()> {
        let key = EntityKey::new("Sales", id)?;
        let found = outbox.store().get(&employees(), &key, &Select::All).await?;
        let mut intent = Intent::of(RowKey::new(id)?);
        if let Some(found) = &found {
            let (old, _) = read(found.row.view());
            if to.is_none_or(|(email, _)| email != old) {
                intent = intent.step(Step::delete_if_exists(directory(), place(id, &old)));
            }
        }
        if let Some((email, age)) = to {
            intent = intent.step(Step::insert_or_replace(directory(), place(id, email), row(email, age)));
        }
        if intent.steps().is_empty() {
            return Ok(());
        }
        let kind = match (found.map(|found| IfMatch::ETag(found.etag)), to) {
            (None, Some((email, age))) => OperationKind::Insert(row(email, age)),
            (Some(version), Some((email, age))) => OperationKind::Replace(row(email, age), version),
            (Some(version), None) => OperationKind::Delete(version),
            (None, None) => return Ok(()),
        };
        let mut sales = Transaction::new(PartitionKey::new("Sales")?, outbox.store().capabilities().limits)?;
        sales.push(Operation { row_key: key.row_key, kind })?;
        outbox.record(&mut sales, &intent)?;
        outbox.submit(&employees(), sales).await?;
        Ok(())
    }

    pub(crate) fn all(&self, table: &TableName) -> Vec<(EntityKey, Row)> {
        let (mut all, mut from) = (Vec::new(), None);
        loop {
            let page = block_on(self.engine.query(table, &Query::new(KeyRange::ALL), from.as_ref())).unwrap();
            for entity in page.rows.iter() {
                let key = EntityKey::new(entity.partition_key, entity.row_key).unwrap();
                all.push((key, entity.row.to_row()));
            }
            from = page.continuation;
            if from.is_none() {
                return all;
            }
        }
    }

    /// Deletes the registered partitions from the registry. Keeps the seal keys, which authenticate intents.
    pub(crate) fn forget_partitions(&self) {
        let registry = TableName::new(REGISTRY).unwrap();
        for (key, _) in
            self.all(&registry).into_iter().filter(|(key, _)| key.partition_key.as_str() != "keys")
        {
            let limits = self.engine.capabilities().limits;
            let mut transaction = Transaction::new(key.partition_key, limits).unwrap();
            let kind = OperationKind::Delete(IfMatch::Any);
            transaction.push(Operation { row_key: key.row_key, kind }).unwrap();
            block_on(self.engine.submit(&registry, transaction)).unwrap();
        }
    }

    /// Returns the number of intents (recorded work) that have not been completed.
    pub(crate) fn pending(&self) -> usize {
        self.all(&employees()).iter().filter(|(key, _)| key.row_key.is_reserved()).count()
    }

    /// Returns the stored contents of the directory.
    pub(crate) fn directory(&self) -> BTreeMap<EntityKey, (String, i32)> {
        let rows = self.all(&directory()).into_iter().filter(|(key, _)| !key.row_key.is_reserved());
        rows.map(|(key, row)| (key, read(row.view()))).collect()
    }

    /// Returns the expected contents of the directory, computed from the employees.
    pub(crate) fn expected(&self) -> BTreeMap<EntityKey, (String, i32)> {
        let rows = self.all(&employees()).into_iter().filter(|(key, _)| !key.row_key.is_reserved());
        rows.map(|(key, row)| {
            let (email, age) = read(row.view());
            (place(key.row_key.as_str(), &email), (email, age))
        })
        .collect()
    }

    /// Lets time pass, and runs sweeps and workers until nothing is pending, as surviving processes would.
    pub(crate) fn recover(&self) {
        let control = Control::default();
        let (worker, outbox) = (self.worker(&control), self.outbox(&control));
        let sweep = Sweep::new(outbox.clone());
        for _ in 0..6 {
            self.pass(Duration::from_secs(400));
            block_on(sweep.sweep_registered()).unwrap();
            block_on(worker.run_until_idle()).unwrap();
            // Suspended processes had received some work too often, so it became poison. An operator requeues it.
            while block_on(outbox.requeue_poison()).unwrap().is_some() {}
        }
    }

    /// Checks that no work is pending, and that the directory is correct.
    pub(crate) fn assert_settled(&self) {
        assert_eq!(self.pending(), 0, "intents are left");
        assert_eq!(self.directory(), self.expected());
        let depth = block_on(self.outbox(&Control::default()).backlog()).unwrap();
        assert_eq!((depth.waiting, depth.poison), (0, 0));
    }
}
