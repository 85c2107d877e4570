//! Tests references inserted by another program that can write to the source's partition, and holders that cannot be read.

use pollster::block_on;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode};

use super::kit::{Company, Employee, ada, project};
use crate::converge;
use crate::copies::reference::Reference;
use crate::tests::faults::{Call, Fault};

/// Writes a row without going through a handle, as another program would.
fn write(company: &Company, table: &str, key: &EntityKey, row: Row) {
    let (table, write) =
        (TableName::new(table).unwrap(), [(key.row_key.clone(), OperationKind::Insert(row))]);
    block_on(converge::submit(&company.engine, &table, &key.partition_key, write)).unwrap();
}

/// Renames Ada and applies all pending changes.
fn rename(company: &Company, name: &str) {
    let rename = |ada: &mut Employee| ada.last_name = name.into();
    block_on(company.employees.update(Employee::key("Sales", 223), rename)).unwrap();
    company.recover();
}

#[test]
fn pat_den_3_a_forged_reference_makes_no_worker_write_to_another_table() {
    for is_opened in [false, true] {
        let mut company = Company::new();
        if is_opened {
            company.employees = block_on(company.employees.clone().create_if_missing()).unwrap();
        }
        block_on(company.employees.insert(&ada())).unwrap();
        block_on(company.projects.insert(&project("Engine", Some(223)))).unwrap();
        company.recover();
        // A row of another table looks like a project, and refers to Ada.
        block_on(company.engine.create_table(&TableName::new("Archive").unwrap())).unwrap();
        let (archived, source) = (project("Loom", Some(223)), ada().key_of().unwrap());
        write(&company, "Archive", &archived.key_of().unwrap(), archived.to_row().unwrap());
        for (relation, table) in
            [("lead", "Archive"), ("deputy", "Archive"), ("lead", "Gone"), ("manager", "Archive")]
        {
            let (holder_table, holder) = (TableName::new(table).unwrap(), archived.key_of().unwrap());
            let reference = Reference { relation: relation.into(), holder_table, holder };
            write(&company, "Company", &reference.key(&source).unwrap(), reference.row());
        }
        let before = company.rows("Archive");
        rename(&company, "Byron");
        block_on(company.employees.settle_copies(Employee::key("Sales", 223))).unwrap();
        assert_eq!(company.projects()[0].lead_name.as_deref(), Some("Byron"), "opened: {is_opened}");
        assert_eq!((company.rows("Archive"), company.pending()), (before.clone(), 0), "opened: {is_opened}");
        // No forged reference prevents the deletion of the source.
        block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap();
        company.recover();
        assert_eq!(company.projects()[0].lead, None, "opened: {is_opened}");
        assert_eq!((company.rows("Archive"), company.pending()), (before, 0), "opened: {is_opened}");
    }
}

#[test]
fn pat_den_2_a_holder_that_cannot_be_read_blocks_no_other() {
    for number in 1..=3 {
        let company = Company::new();
        block_on(company.employees.insert(&ada())).unwrap();
        for name in ["Engine", "Loom", "Mill"] {
            block_on(company.projects.insert(&project(name, Some(223)))).unwrap();
        }
        company.recover();
        let rename = |ada: &mut Employee| ada.last_name = "Byron".into();
        block_on(company.employees.update(Employee::key("Sales", 223), rename)).unwrap();
        // The references are queried before the holders are read.
        let (mut has_queried, mut gets) = (false, 0);
        company.store.script(move |call, _| {
            has_queried |= call == Call::Query;
            gets += usize::from(has_queried && call == Call::Get);
            let is_it = call == Call::Get && gets == number;
            if is_it { Fault::Before(ErrorCode::EntityMismatch) } else { Fault::None }
        });
        let error = block_on(company.employees.settle_copies(Employee::key("Sales", 223))).unwrap_err();
        company.store.heal();
        assert_eq!(error.code(), ErrorCode::EntityMismatch, "holder {number}: {error}");
        let names = company.projects().into_iter().map(|project| project.lead_name);
        let updated = names.filter(|name| name.as_deref() == Some("Byron")).count();
        assert_eq!(updated, 2, "holder {number}");
    }
}
