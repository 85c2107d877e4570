//! Tests each kind of write that affects copies: the stored rows, the requests and the errors.

mod limits;

use pollster::block_on;
use table_core::ErrorCode;
use table_core::etag::IfMatch;

use super::kit::{Company, Department, Employee, Manager, Project, ada, bob, project, sales};
use crate::entities::Entities;
use crate::tests::faults::{Call, sendable};

fn company() -> Company {
    let company = Company::new();
    block_on(company.employees.insert(&ada())).unwrap();
    block_on(company.employees.insert(&bob())).unwrap();
    company.store.heal();
    company
}

fn read(company: &Company) -> Department {
    block_on(company.departments.table().get(Department::key("Sales"))).unwrap().unwrap().into_value()
}

fn read_project(company: &Company, name: &str) -> Project {
    block_on(company.projects.table().get(Project::key(name, 1))).unwrap().unwrap().into_value()
}

#[test]
fn pat_den_1_one_point_query_returns_a_department_with_its_manager() {
    let company = company();
    // Values set by the program for copied properties are overwritten with the source's values.
    let wrong = Department { manager_last_name: Some("Nobody".into()), ..sales(Some(223)) };
    block_on(company.departments.insert(&wrong)).unwrap();
    assert_eq!(company.store.calls(), [Call::Get, Call::Submit]);
    company.store.heal();
    let read = read(&company);
    assert_eq!(company.store.calls(), [Call::Get]);
    assert_eq!(
        (read.manager_first_name.as_deref(), read.manager_last_name.as_deref()),
        (Some("Ada"), Some("Lovelace"))
    );
    assert_eq!(read.manager_email.as_deref(), Some("ada@contoso.com"));
    assert_eq!(company.pending(), 0, "nothing is to follow in one partition");
    company.assert_agreement("inserted");
}

#[test]
fn pat_den_2_in_one_partition_source_and_copy_change_in_one_transaction() {
    let company = company();
    block_on(company.departments.insert(&sales(Some(223)))).unwrap();
    company.store.heal();
    let change = |ada: &mut Employee| ada.last_name = "Byron".into();
    let changed = block_on(company.employees.update(Employee::key("Sales", 223), change)).unwrap();
    assert_eq!(company.store.calls(), [Call::Get, Call::Query, Call::Get, Call::Submit]);
    assert_eq!((changed.last_name.as_str(), company.pending()), ("Byron", 0));
    assert_eq!(read(&company).manager_last_name.as_deref(), Some("Byron"));
    company.assert_agreement("changed");

    // A change to properties that are not copied costs the same as without copies.
    company.store.heal();
    block_on(company.employees.update(Employee::key("Sales", 223), |ada| ada.age += 1)).unwrap();
    assert_eq!(company.store.calls(), [Call::Get, Call::Submit]);
}

#[test]
fn pat_den_2_cross_partition_copies_follow_by_the_outbox() {
    let company = company();
    for name in ["Engine", "Loom"] {
        block_on(company.projects.insert(&project(name, Some(223)))).unwrap();
        assert_eq!(read_project(&company, name).lead_name.as_deref(), Some("Lovelace"), "at once");
    }
    let change = |ada: &mut Employee| ada.last_name = "Byron".into();
    block_on(company.employees.update(Employee::key("Sales", 223), change)).unwrap();
    assert_eq!(company.pending(), 3, "of two holders and their source");
    assert_eq!(read_project(&company, "Loom").lead_name.as_deref(), Some("Lovelace"), "not yet (PAT-EC-6)");
    block_on(company.worker().run_until_idle()).unwrap();
    assert_eq!(read_project(&company, "Loom").lead_name.as_deref(), Some("Byron"));
    assert_eq!(company.pending(), 0);
    company.assert_agreement("followed");
}

#[test]
fn pat_den_3_a_change_finds_its_copies_by_one_range_of_its_partition() {
    let company = company();
    // These employees have RowKeys close to the source's RowKey.
    for id in [22, 2230, 222, 224] {
        block_on(company.employees.insert(&Employee { id, ..bob() })).unwrap();
        block_on(company.projects.insert(&project(&format!("P{id}"), i32::try_from(id).ok()))).unwrap();
    }
    block_on(company.projects.insert(&project("Engine", Some(223)))).unwrap();
    company.recover();
    company.store.heal();
    assert_eq!(block_on(company.employees.settle_copies(Employee::key("Sales", 223))).unwrap(), 1);
    assert_eq!(company.store.calls(), [Call::Query, Call::Get, Call::Get, Call::Submit]);
}

#[test]
fn pat_den_2_a_changed_or_removed_reference_updates_the_copy() {
    let company = company();
    block_on(company.departments.insert(&sales(Some(223)))).unwrap();
    block_on(company.projects.insert(&project("Engine", Some(223)))).unwrap();
    let key = || Department::key("Sales");
    let changed = block_on(company.departments.update(key(), |sales| sales.manager_id = Some(9))).unwrap();
    assert_eq!(changed.manager_first_name.as_deref(), Some("Bob"));
    let engine = || Project::key("Engine", 1);
    let changed = block_on(company.projects.update(engine(), |engine| engine.lead = Some(9))).unwrap();
    assert_eq!(changed.lead_name.as_deref(), Some("Kahn"));
    block_on(company.worker().run_until_idle()).unwrap();
    company.assert_agreement("another");
    // A change to the former source no longer affects the holder.
    let change = |ada: &mut Employee| ada.last_name = "Byron".into();
    block_on(company.employees.update(Employee::key("Sales", 223), change)).unwrap();
    assert_eq!(company.pending(), 0);

    block_on(company.departments.update(key(), Manager::none)).unwrap();
    block_on(company.projects.update(engine(), |engine| engine.lead = None)).unwrap();
    assert_eq!(read(&company).manager_id, None);
    let read = read_project(&company, "Engine");
    assert_eq!(read.lead_name.as_deref(), Some("Kahn"), "what was copied is the program's to keep");
    block_on(company.projects.update(engine(), |engine| engine.lead_name = None)).unwrap();
    block_on(company.worker().run_until_idle()).unwrap();
    company.assert_agreement("none");
    assert!(company.references().is_empty());
}

impl Manager {
    fn none(sales: &mut Department) {
        <Self as crate::copies::CopyRelation>::clear(sales);
    }
}

#[test]
fn pat_den_2_a_referenced_source_is_not_deleted_if_declared() {
    let company = company();
    block_on(company.departments.insert(&sales(Some(223)))).unwrap();
    let error = block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-DEN-2")));
    assert!(error.to_string().contains("(PartitionKey='Sales',RowKey='Department')"), "{error}");
    block_on(company.departments.update(Department::key("Sales"), Manager::none)).unwrap();
    block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap();
    assert_eq!(company.pending(), 0);
    assert_eq!(company.employees(), [bob()]);

    // After the holder is deleted, the source can be deleted.
    block_on(company.departments.update(Department::key("Sales"), |sales| sales.manager_id = Some(9)))
        .unwrap();
    block_on(company.departments.delete(Department::key("Sales"), IfMatch::Any)).unwrap();
    assert!(company.references().is_empty());
    block_on(company.employees.delete(Employee::key("Sales", 9), IfMatch::Any)).unwrap();
    company.assert_agreement("empty");
}

#[test]
fn pat_den_2_holders_clear_a_deleted_source_if_declared() {
    let company = company();
    let both = Project { deputy: Some(223), ..project("Engine", Some(223)) };
    block_on(company.projects.insert(&both)).unwrap();
    block_on(company.projects.insert(&Project { deputy: Some(9), ..project("Loom", Some(223)) })).unwrap();
    block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap();
    assert_eq!(company.pending(), 3, "of two holders and their source");
    block_on(company.worker().run_until_idle()).unwrap();
    assert_eq!(read_project(&company, "Engine"), project("Engine", None));
    assert_eq!(read_project(&company, "Loom").deputy_name.as_deref(), Some("Kahn"));
    company.assert_agreement("cleared");
}

#[test]
fn pat_den_2_a_reference_to_a_missing_source_is_refused() {
    let company = company();
    for outcome in [
        block_on(company.departments.insert(&sales(Some(1)))).map(drop),
        block_on(company.projects.insert(&project("Engine", Some(1)))).map(drop),
    ] {
        let error = outcome.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::ResourceNotFound, Some("PAT-DEN-2")));
        assert_eq!(error.key(), Some(("Sales", "000001")));
    }
    assert!(company.departments().is_empty() && company.projects().is_empty());
    assert!(company.references().is_empty());
}

/// The program in an earlier release, when departments did not copy their managers' names.
mod older {
    use table_core::Entity;
    use table_core::selection::{Point, Selection};

    use crate::copies::CopyRelation;

    #[derive(Entity, Debug)]
    #[entity(table = "Company", copied_by(Lead))]
    #[partition_key(department)]
    #[row_key(id)]
    pub(super) struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        pub(super) last_name: String,
    }

    #[derive(Entity)]
    #[entity(table = "Projects", copies_from(Lead))]
    #[partition_key(name)]
    #[row_key(part)]
    struct Project {
        name: String,
        part: u16,
        lead: Option<i32>,
        lead_name: Option<String>,
    }

    struct Lead;

    impl CopyRelation for Lead {
        type Source = Employee;
        type Holder = Project;
        type Copied = String;
        const NAME: &'static str = "lead";

        fn reference(project: &Project) -> Option<Selection<Employee, Point>> {
            Some(Employee::key("Sales", u32::try_from(project.lead?).ok()?))
        }
        fn copied(lead: &Employee) -> String {
            lead.last_name.clone()
        }
        fn set(project: &mut Project, name: String) {
            project.lead_name = Some(name);
        }
        fn clear(project: &mut Project) {
            (project.lead, project.lead_name) = (None, None);
        }
    }
}

#[test]
fn invalid_input_is_refused_and_nothing_is_partially_written() {
    let company = company();
    block_on(company.departments.insert(&sales(Some(223)))).unwrap();
    let before = company.rows("Company");
    let key = || Employee::key("Sales", 223);
    let error = block_on(company.employees.update(key(), |ada| ada.id = 7)).unwrap_err();
    assert_eq!(error.rule(), Some("UPD-6"));
    let error = block_on(company.departments.update(Department::key("Sales"), |sales| {
        sales.department = "Marketing".into();
    }));
    assert_eq!(error.unwrap_err().rule(), Some("UPD-6"));
    assert!(
        block_on(company.employees.update(Employee::key("Sales", 5), drop_it)).unwrap_err().is_not_found()
    );
    assert!(block_on(company.departments.insert(&sales(None))).unwrap_err().is_already_exists());
    assert!(
        block_on(company.projects.delete(Project::key("None", 1), IfMatch::Any)).unwrap_err().is_not_found()
    );
    // A write by a program without this relation is refused, because it would leave outdated copies.
    let older = Entities::<older::Employee, _, _>::from(company.outbox.clone());
    let key = older::Employee::key("Sales", 223);
    let error = block_on(older.update(key, |ada| ada.last_name = "Byron".into())).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported);
    assert!(error.to_string().contains("`manager`"), "{error}");
    assert_eq!(company.rows("Company"), before);
    assert_eq!(company.pending(), 0);
}

fn drop_it(_: &mut Employee) {}

#[test]
fn futures_are_send() {
    let company = company();
    block_on(sendable(company.departments.insert(&sales(Some(223))))).unwrap();
    block_on(sendable(company.employees.update(Employee::key("Sales", 223), drop_it))).unwrap();
    block_on(sendable(company.employees.settle_copies(Employee::key("Sales", 223)))).unwrap();
    block_on(sendable(company.departments.settle_copies(Department::key("Sales")))).unwrap();
    block_on(sendable(company.departments.delete(Department::key("Sales"), IfMatch::Any))).unwrap();
    block_on(sendable(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any))).unwrap();
}

/// Tests that deleting an entity with its parts clears its holders or is refused because of them, like any other delete (PAT-DEN-2).
#[test]
fn pat_den_2_a_deletion_with_parts_is_refused_or_clears_the_holders() {
    let company = company();
    block_on(company.departments.insert(&sales(Some(223)))).unwrap();
    let error = block_on(company.employees.delete_with_parts(Employee::key("Sales", 223))).unwrap_err();
    assert_eq!(error.rule(), Some("PAT-DEN-2"), "{error}");
    assert_eq!(read(&company).manager_id, Some(223));
    block_on(company.projects.insert(&project("Engine", Some(9)))).unwrap();
    assert_eq!(block_on(company.employees.delete_with_parts(Employee::key("Sales", 9))).unwrap(), 1);
    company.recover();
    assert_eq!(read_project(&company, "Engine").lead, None);
    company.assert_agreement("after the deletion");
}
