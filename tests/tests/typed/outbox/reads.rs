//! Tests that outbox rows are not entities of the program. Reads skip them, and writes cannot create them.

use pollster::block_on;
use table_core::query::{KeyRange, Query};
use table_core::{Entity, Selection, TableEntity, TableStore, TableStoreExt};
use tests::faults::Control;

use crate::outbox::company::{Company, employees};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Employee")]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: String,
    email: String,
    age: i32,
}

#[test]
fn pat_ec_8_rows_of_an_outbox_are_left_out_of_every_typed_read() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    for id in ["1", "2"] {
        block_on(company.change(&outbox, id, Some(("ada", 36)))).unwrap();
    }
    assert_eq!(company.pending(), 2);
    let raw = block_on(company.engine.query(&employees(), &Query::new(KeyRange::ALL), None)).unwrap();
    assert_eq!(raw.rows.len(), 4); // the store returns every row

    let table = company.engine.table::<Employee>();
    let sales = || table.query(Employee::partition("Sales"));
    assert_eq!(block_on(sales().collect()).unwrap().len(), 2);
    assert_eq!(block_on(sales().page()).unwrap().items.len(), 2);
    assert_eq!(block_on(sales().page_size(1).limit(9).collect()).unwrap().len(), 2);
    assert_eq!(block_on(table.scan("test").max_rows(10).collect()).unwrap().len(), 2);
    let bags = company.engine.untyped("Employee").unwrap();
    let all = block_on(bags.query(Selection::partition("Sales")).collect()).unwrap();
    assert_eq!(all.len(), 2);

    let forged = TableEntity::new("Sales", "\u{FFFC}outbox_1").unwrap();
    assert_eq!(block_on(bags.insert(&forged)).unwrap_err().rule(), Some("PAT-EC-8"));
    let (department, id) = ("Sales".to_owned(), "\u{FFFC}guard_1".to_owned());
    let forged = Employee { department, id, email: String::new(), age: 1 };
    assert_eq!(block_on(table.insert(&forged)).unwrap_err().rule(), Some("PAT-EC-8"));
}
