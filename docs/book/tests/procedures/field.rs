//! Tests the procedure for adding a field to existing rows while programs built from the previous release are writing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pollster::block_on;
use table_patterns::{Engine, ErrorCode, IfMatch, TableStoreExt as _};

use crate::page::Procedure;

mod old {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub logins: i64,
    }
}

mod new {
    #[derive(table_patterns::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub logins: i64,
        pub nickname: Option<String>,
    }
}

const EMPLOYEES: u32 = 1_200;

fn department(id: u32) -> String {
    format!("department {}", id % 5)
}

#[test]
fn every_row_gets_a_new_field_while_the_old_release_writes() {
    let mut page = Procedure::of("book/evolution.md", "A new field");
    let store = Engine::in_memory();
    let old = block_on(store.table::<old::Employee>().create_if_missing()).unwrap();
    let all = (0..EMPLOYEES).map(|id| old::Employee { department: department(id), id, logins: 0 });
    block_on(old.bulk().insert_all(all)).unwrap();

    page.step("Add the field as an `Option`. Old rows read as `None`.");
    let new = block_on(store.table::<new::Employee>().create_if_missing()).unwrap();
    let rows = block_on(new.scan("no nickname").max_rows(10_000).collect()).unwrap();
    assert!(rows.iter().all(|employee| employee.nickname.is_none()));
    assert_eq!(rows.len(), usize::try_from(EMPLOYEES).unwrap());

    page.step("Programs of both releases can run side by side. When the old release merges or updates, it keeps properties that it does not know.");
    let is_over = AtomicBool::new(false);
    let logins = thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let mut logins = 0_u32;
            while !is_over.load(Ordering::Relaxed) || logins < EMPLOYEES {
                let id = logins * 7 % EMPLOYEES;
                let key = old::Employee::key(department(id), id);
                block_on(old.update(key, |employee| employee.logins += 1)).unwrap();
                logins += 1;
            }
            logins
        });
        page.step("If every row must have the value, scan the table and write it with `update`.");
        for employee in block_on(new.scan("nicknames").max_rows(10_000).collect()).unwrap() {
            let key = new::Employee::key(&employee.department, employee.id);
            block_on(new.update(key, |employee| employee.nickname = Some(format!("N{}", employee.id))))
                .unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    let rows = block_on(new.scan("nicknames").max_rows(10_000).collect()).unwrap();
    assert!(rows.iter().all(|employee| employee.nickname == Some(format!("N{}", employee.id))));
    assert_eq!(rows.iter().map(|employee| employee.logins).sum::<i64>(), i64::from(logins));

    let mut page = Procedure::of("book/evolution.md", "A new field");
    page.step("Its `replace` and `insert_or_replace` are refused once it has read the new schema");
    let restarted = block_on(store.table::<old::Employee>().create_if_missing()).unwrap();
    let employee = old::Employee { department: department(3), id: 3, logins: 0 };
    let refused = block_on(restarted.replace(&employee, IfMatch::Any)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SchemaMismatch);
    let refused = block_on(restarted.insert_or_replace(&employee)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SchemaMismatch);
    assert!(block_on(restarted.merge(&employee, IfMatch::Any)).is_ok());
    let found = block_on(new.get(new::Employee::key(department(3), 3))).unwrap().unwrap();
    assert_eq!((found.logins, found.nickname.as_deref()), (0, Some("N3")));
}
