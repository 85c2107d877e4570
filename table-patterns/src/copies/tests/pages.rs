//! Tests sources whose references fill several pages, on a store that returns short pages, as the service may do.

use pollster::block_on;
use proptest::prelude::*;
use table_core::{Entity, TableEntity, TableStoreExt};

use super::kit::{Company, Employee, Project, ada, bob, project};
use crate::copies::CopyRelation;

/// Replaces a project's row with one that the entity type cannot decode.
fn break_row(company: &Company, holder: &Project) {
    let key = holder.key_of().unwrap();
    let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap().with("Lead", "Ada");
    block_on(company.engine.untyped("Projects").unwrap().insert_or_replace(&row)).unwrap();
}

fn read(company: &Company, holder: &Project) -> Project {
    let projects = company.engine.table::<Project>();
    block_on(projects.get(Project::key(&holder.name, holder.part))).unwrap().unwrap().into_value()
}

/// Returns the test's projects. Each has a lead, and every second one also a deputy.
fn holders(count: u16) -> Vec<Project> {
    let holder = |part| Project {
        part,
        deputy: (part % 2 == 0).then_some(9),
        ..project(if part % 3 == 0 { "Engine" } else { "Loom" }, Some(223))
    };
    (0..count).map(holder).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pat_den_2_a_holder_that_cannot_be_written_blocks_no_holder_on_any_page(
        (page, count, broken) in (1..4_usize, 1..9_u16, any::<u16>()),
        (by_worker, is_deleted) in any::<(bool, bool)>(),
    ) {
        let company = Company::on(|store| store.pages_of(page));
        let holders = holders(count);
        block_on(company.employees.insert(&ada())).unwrap();
        block_on(company.employees.insert(&bob())).unwrap();
        for holder in &holders {
            block_on(company.projects.insert(holder)).unwrap();
        }
        company.recover();
        let is_broken = |holder: &&Project| broken & (1 << holder.part) != 0;
        holders.iter().filter(is_broken).for_each(|holder| break_row(&company, holder));
        if is_deleted {
            block_on(company.employees.delete(Employee::key("Sales", 223), table_core::etag::IfMatch::Any)).unwrap();
        } else {
            let rename = |ada: &mut Employee| ada.last_name = "Byron".into();
            block_on(company.employees.update(Employee::key("Sales", 223), rename)).unwrap();
        }
        if by_worker {
            company.recover();
        } else {
            let settled = block_on(company.employees.settle_copies(Employee::key("Sales", 223)));
            prop_assert_eq!(settled.is_err(), holders.iter().any(|holder| is_broken(&holder)));
        }
        for holder in holders.iter().filter(|holder| !is_broken(holder)) {
            let found = read(&company, holder);
            let mut expected = holder.clone();
            if is_deleted {
                super::kit::Lead::clear(&mut expected);
            } else {
                expected.lead_name = Some("Byron".into());
            }
            expected.deputy_name = expected.deputy.map(|_| bob().last_name);
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn pat_den_2_a_source_that_cannot_be_read_blocks_no_other_relation_of_the_holder() {
    let company = Company::on(|store| store);
    let holder = Project { deputy: Some(9), ..project("Engine", Some(223)) };
    block_on(async {
        company.employees.insert(&ada()).await?;
        company.employees.insert(&bob()).await?;
        company.projects.insert(&holder).await.map(drop)
    })
    .unwrap();
    company.recover();
    // Another tool writes both the project, without its copies, and the lead.
    let key = holder.key_of().unwrap();
    let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap();
    let row = row.with("Lead", 223).with("Deputy", 9);
    block_on(company.engine.untyped("Projects").unwrap().insert_or_replace(&row)).unwrap();
    let key = ada().key_of().unwrap();
    let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap().with("Age", "36");
    block_on(company.engine.untyped("Company").unwrap().insert_or_replace(&row)).unwrap();
    let settled = block_on(company.projects.settle_copies(Project::key("Engine", 1)));
    assert!(settled.is_err());
    assert_eq!(read(&company, &holder).deputy_name, Some(bob().last_name));
}
