//! Tests an attacker who can change the records of a program in one partition, except for their text and seal. The attacker assigns versions. They must not
//! disable later changes of the program.

use table_core::ValueRef;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowView, RowWriter};

use super::*;
use crate::outbox::OUTBOX_PREFIX;

const HOUR: u64 = 36_000_000_000;

/// The program, and the partition in which both the program and the attacker may write.
struct Scene {
    outbox: Outbox<Engine, Engine>,
    engine: Engine,
    time: Arc<AtomicU64>,
    table: TableName,
    sales: PartitionKey,
}

impl Scene {
    fn new() -> Self {
        let (outbox, engine, time) = outbox();
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        Self { outbox, engine, time, table, sales }
    }

    fn submit(&self, row_key: &str, kind: OperationKind) {
        let mut transaction =
            Transaction::new(self.sales.clone(), self.engine.capabilities().limits).unwrap();
        transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
        block_on(self.engine.submit(&self.table, transaction)).unwrap();
    }

    /// Records a guarded step of the program. The step writes a row in another partition.
    fn record(&self, text: &str) {
        let mut writer = RowWriter::new();
        writer.property("Text", ValueRef::String(text));
        let step = Step::insert_or_replace(self.table.clone(), target(), writer.finish());
        let intent = Intent::of(RowKey::new("1").unwrap()).step(step);
        let limits = self.engine.capabilities().limits;
        let mut transaction = Transaction::new(self.sales.clone(), limits).unwrap();
        self.outbox.record(&mut transaction, &intent).unwrap();
        block_on(self.outbox.submit(&self.table, transaction)).unwrap();
    }

    /// Returns the pending record.
    fn recorded(&self) -> (String, Row) {
        let query = Query::new(KeyRange::ALL);
        let page = block_on(self.engine.query(&self.table, &query, None)).unwrap();
        let mut rows = page.rows.iter().filter(|row| row.row_key.starts_with(OUTBOX_PREFIX));
        let found = rows.next().unwrap();
        assert!(rows.next().is_none());
        (found.row_key.to_owned(), found.row.to_row())
    }

    /// Lets workers run for a day.
    fn work(&self) {
        for _ in 0..24 {
            block_on(self.outbox.notify(&self.table, &self.sales)).unwrap();
            block_on(Worker::new(self.outbox.clone()).run_until_idle()).unwrap();
            self.time.fetch_add(HOUR, Ordering::SeqCst);
        }
    }

    fn text(&self) -> Option<String> {
        let found = block_on(self.engine.get(&self.table, &target(), &Select::All)).unwrap()?;
        match found.row.view().find("Text", &mut 0).unwrap() {
            Some(ValueRef::String(text)) => Some(text.to_owned()),
            _ => None,
        }
    }
}

fn target() -> EntityKey {
    EntityKey::new("target", "1").unwrap()
}

/// Returns a copy of a row with one property set to the given value. If `value` is `None`, the property is removed.
fn mutated(row: RowView<'_>, name: &str, value: Option<ValueRef<'_>>) -> Row {
    let mut writer = RowWriter::new();
    for property in row.properties() {
        let property = property.unwrap();
        if property.name != name {
            writer.property(property.name, property.value);
        }
    }
    if let Some(value) = value {
        writer.property(name, value);
    }
    writer.finish()
}

#[test]
fn pat_ec_4_no_property_of_a_record_disables_later_changes() {
    let names =
        ["Version", "Attempts", "NotBefore", "Wait", "Claim", "Error", "Prompted", "Poisoned", "Seal"];
    let values = |now: u64| {
        let numbers = [i64::MAX, i64::MAX - 1, i64::try_from(now).unwrap() + 1_000, 7, 0, -1];
        let numbers = numbers.into_iter().map(|number| Some(ValueRef::Int64(number)));
        numbers.chain([Some(ValueRef::String("UniqueViolation")), Some(ValueRef::Int32(1)), None])
    };
    for name in names {
        for number in 0..9 {
            for is_repeated in [false, true] {
                let at = format!("{name}, value {number}, repeated: {is_repeated}");
                let scene = Scene::new();
                let value = values(scene.time.load(Ordering::SeqCst) + 60 * HOUR).nth(number).unwrap();
                scene.record("first");
                let (row_key, row) = scene.recorded();
                let changed = mutated(row.view(), name, value);
                if is_repeated {
                    scene.work();
                    assert_eq!(scene.text().as_deref(), Some("first"), "{at}");
                    scene.submit(&row_key, OperationKind::Insert(changed));
                } else {
                    scene.submit(&row_key, OperationKind::Replace(changed, IfMatch::Any));
                }
                scene.work();
                scene.record("second");
                scene.work();
                assert_eq!(scene.text().as_deref(), Some("second"), "{at}");
            }
        }
    }
}
