//! Tests that every write through a handle to a copied entity or a holder of copies maintains the copies.

use pollster::block_on;
use table_core::ErrorCode;
use table_core::etag::IfMatch;

use super::kit::{Company, Department, Employee, ada, bob, project, sales};
use crate::tests::faults::{Call, Fault};

fn manager(company: &Company) -> Option<String> {
    company.departments().into_iter().next().and_then(|department| department.manager_last_name)
}

/// Makes another process change Ada's last name just before the first transaction.
fn renamed_meanwhile(
    rival: Company,
    name: &'static str,
) -> impl FnMut(Call, usize) -> Fault + Send + 'static {
    let mut rival = Some(rival);
    move |call, _| match (call, rival.take()) {
        (Call::Submit, Some(rival)) => Fault::Meanwhile(Box::new(move || {
            let rename = |ada: &mut Employee| ada.last_name = name.into();
            block_on(rival.employees.update(Employee::key("Sales", 223), rename)).unwrap();
        })),
        (_, still) => {
            rival = still;
            Fault::None
        }
    }
}

fn lead(company: &Company) -> Option<String> {
    company.projects().into_iter().next().and_then(|project| project.lead_name)
}

#[test]
fn pat_den_2_every_verb_on_a_source_updates_its_copies() {
    block_on(async {
        let company = Company::new();
        let (employees, departments) = (&company.employees, &company.departments);
        employees.insert(&ada()).await.unwrap();
        departments.insert(&sales(Some(223))).await.unwrap();
        company.projects.insert(&project("Engine", Some(223))).await.unwrap();
        let named = |name: &str| Employee { last_name: name.into(), ..ada() };
        let key = || Employee::key("Sales", 223);
        for (name, verb) in ["replace", "merge", "put", "patch", "update"].into_iter().enumerate() {
            let name = name.to_string();
            match verb {
                "replace" => employees.replace(&named(&name), IfMatch::Any).await.map(drop),
                "merge" => employees.merge(&named(&name), IfMatch::Any).await.map(drop),
                "put" => employees.insert_or_replace(&named(&name)).await.map(drop),
                "patch" => {
                    employees.patch(key()).set(Employee::LAST_NAME, name.as_str()).send().await.map(drop)
                }
                _ => employees.update(key(), |ada| ada.last_name.clone_from(&name)).await.map(drop),
            }
            .unwrap();
            assert_eq!(manager(&company).as_deref(), Some(name.as_str()), "{verb}: in the transaction");
            company.recover();
            assert_eq!(lead(&company).as_deref(), Some(name.as_str()), "{verb}: by the outbox");
            company.assert_agreement(verb);
        }
        let error = employees.delete(key(), IfMatch::Any).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-DEN-2")));
        departments.delete(Department::key("Sales"), IfMatch::Any).await.unwrap();
        employees.delete(key(), IfMatch::Any).await.unwrap();
        company.recover();
        assert_eq!(lead(&company), None, "cleared, as the relation declares");
        company.assert_agreement("deleted");
    });
}

#[test]
fn pat_den_2_every_verb_on_a_holder_copies_the_values_of_its_sources() {
    block_on(async {
        let company = Company::new();
        let (employees, departments) = (&company.employees, &company.departments);
        employees.bulk().insert_all([ada(), bob()]).await.unwrap();
        let wrong = |id| Department { manager_last_name: Some("wrong".into()), ..sales(id) };
        let (key, bob) = (|| Department::key("Sales"), bob().id.cast_signed());
        let error = departments.insert(&sales(Some(999))).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::ResourceNotFound, Some("PAT-DEN-2")));
        company.store.script(renamed_meanwhile(company.again(), "Byron"));
        departments.bulk().insert_all([wrong(Some(223))]).await.unwrap();
        company.store.heal();
        assert_eq!(manager(&company).as_deref(), Some("Byron"), "as read again");
        company.assert_agreement("bulk");
        departments.replace(&wrong(Some(bob)), IfMatch::Any).await.unwrap();
        company.assert_agreement("replace");
        departments.merge(&wrong(Some(223)), IfMatch::Any).await.unwrap();
        company.assert_agreement("merge");
        departments.insert_or_replace(&wrong(Some(bob))).await.unwrap();
        company.assert_agreement("insert_or_replace");
        departments.patch(key()).set(Department::MANAGER_ID, 223).send().await.unwrap();
        company.assert_agreement("patch");
        let read = departments.get(key()).await.unwrap().unwrap();
        let updated = departments.update(read, |sales| sales.manager_id = Some(bob)).await.unwrap();
        company.assert_agreement("update");
        assert_eq!(updated.into_value(), company.departments().remove(0), "with the copies");

        departments.delete(key(), IfMatch::Any).await.unwrap();
        company.assert_agreement("delete");
    });
}

/// Tests that a unit of work with holders, sources and other entities sets the copies when it is committed (PAT-DEN-2).
#[test]
fn pat_den_2_a_unit_updates_copies() {
    block_on(async {
        let company = Company::new();
        let (employees, departments) = (&company.employees, &company.departments);
        employees.bulk().insert_all([ada(), bob()]).await.unwrap();
        company.projects.insert(&project("Engine", Some(223))).await.unwrap();
        company.recover();
        let sales_rows = || Employee::partition("Sales");

        let mut unit = employees.unit(sales_rows()).unwrap().with(departments);
        unit.insert(&sales(Some(223))).unwrap().insert(&Employee { id: 300, ..bob() }).unwrap();
        // The manager's name changes between the read and the commit.
        company.store.script(renamed_meanwhile(company.again(), "Byron"));
        assert_eq!(unit.commit().await.unwrap().len(), 2, "the versions of what was added");
        company.store.heal();
        assert_eq!(manager(&company).as_deref(), Some("Byron"));
        company.recover();
        company.assert_agreement("inserted");

        let read = employees.get(Employee::key("Sales", 223)).await.unwrap().unwrap();
        let mut unit = employees.unit(sales_rows()).unwrap().with(departments);
        unit.update(&read, |ada| ada.last_name = "King".into()).unwrap();
        unit.insert(&Employee { id: 301, ..bob() }).unwrap();
        assert_eq!(unit.commit().await.unwrap().len(), 2, "not those of holders");
        assert_eq!(manager(&company).as_deref(), Some("King"), "in the transaction");
        company.recover();
        assert_eq!(lead(&company).as_deref(), Some("King"), "by the outbox");
        company.assert_agreement("renamed");

        // If one of the unit's entities has changed since it was read, the unit fails and writes nothing.
        let mut unit = employees.unit(sales_rows()).unwrap().with(departments);
        unit.update(&read, |ada| ada.last_name = "Late".into()).unwrap();
        let before = company.rows("Company");
        assert!(unit.commit().await.unwrap_err().is_conflict());
        assert_eq!(company.rows("Company"), before);

        // If a unit contains a holder and its source, each is written once.
        let read = employees.get(Employee::key("Sales", 223)).await.unwrap().unwrap();
        let department = departments.get(Department::key("Sales")).await.unwrap().unwrap();
        let mut unit = employees.unit(sales_rows()).unwrap().with(departments);
        unit.update(&read, |ada| ada.last_name = "Byron".into()).unwrap();
        unit.update(&department, |sales| sales.employee_count = 1).unwrap();
        unit.commit().await.unwrap();
        assert_eq!(manager(&company).as_deref(), Some("Byron"), "in the transaction");
        company.recover();
        company.assert_agreement("both in one unit");
    });
}
