//! Tests that copies stay consistent if a process dies before or after any request, or is suspended at any request while all other processes continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pollster::block_on;
use table_core::ErrorCode;
use table_core::etag::IfMatch;

use super::kit::{Company, Department, Employee, Project, ada, bob, project, sales};
use crate::tests::faults::Fault;

/// Creates two employees, a department and a project, all with consistent copies. Each page of a query has one row.
fn company() -> Company {
    let company = Company::on(|store| store.pages_of(1));
    block_on(async {
        company.employees.insert(&ada()).await?;
        company.employees.insert(&bob()).await?;
        company.departments.insert(&sales(Some(223))).await?;
        company.projects.insert(&project("Engine", Some(223))).await.map(drop)
    })
    .unwrap();
    company.recover();
    company.assert_agreement("at the beginning");
    company.store.heal();
    company
}

/// A write to the company, any request of which may fail or lose its response.
type Scene = fn(&Company);

/// Every kind of write, each followed by one worker run. Errors are ignored, because an error means that the process has died.
const SCENES: [(&str, Scene); 8] = [
    ("rename", |company| {
        let rename = |ada: &mut Employee| ada.last_name = "Byron".into();
        let _ = block_on(company.employees.update(Employee::key("Sales", 223), rename));
        let _ = block_on(company.worker().run_until_idle());
    }),
    ("insert", |company| {
        let _ = block_on(company.projects.insert(&Project { deputy: Some(9), ..project("Loom", Some(223)) }));
        let _ = block_on(company.worker().run_until_idle());
    }),
    ("another lead", |company| {
        let _ = block_on(company.projects.update(Project::key("Engine", 1), |engine| engine.lead = Some(9)));
        let _ = block_on(company.worker().run_until_idle());
    }),
    ("another manager", |company| {
        let _ = block_on(
            company.departments.update(Department::key("Sales"), |sales| sales.manager_id = Some(9)),
        );
    }),
    ("project gone", |company| {
        let _ = block_on(company.projects.delete(Project::key("Engine", 1), IfMatch::Any));
        let _ = block_on(company.worker().run_until_idle());
    }),
    ("department gone", |company| {
        let _ = block_on(company.departments.delete(Department::key("Sales"), IfMatch::Any));
    }),
    ("source gone", |company| {
        let _ = block_on(company.departments.delete(Department::key("Sales"), IfMatch::Any));
        let _ = block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any));
        let _ = block_on(company.worker().run_until_idle());
    }),
    ("refused", |company| {
        let _ = block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any));
    }),
];

fn requests(scene: Scene) -> usize {
    let company = company();
    scene(&company);
    company.store.calls().len()
}

#[test]
fn pat_den_2_copies_converge_after_a_crash_at_any_request() {
    for (name, scene) in SCENES {
        let requests = requests(scene);
        assert!(requests >= 3, "{name}: {requests}");
        for number in 0..requests {
            for after in [false, true] {
                let at = format!("{name}: dies {} request {number}", if after { "after" } else { "before" });
                let company = company();
                company.store.script(move |_, call| match call {
                    _ if call < number => Fault::None,
                    _ if call == number && after => Fault::After(ErrorCode::EngineClosed),
                    _ => Fault::Before(ErrorCode::EngineClosed),
                });
                scene(&company);
                company.again().recover();
                assert_eq!(company.pending(), 0, "{at}");
                assert_left_over(&company, &at);
            }
        }
    }
}

/// Asserts that all copies are consistent. Allows references to holders that were never written, because the next change to the source removes them.
fn assert_left_over(company: &Company, at: &str) {
    let wanted = company.assert_copies(at);
    assert!(company.references().is_superset(&wanted), "{at}: {wanted:?}");
    let alive = company.again();
    for employee in company.employees() {
        let key = Employee::key(&employee.department, employee.id);
        block_on(alive.employees.settle_copies(key)).unwrap_or_else(|error| panic!("{at}: {error}"));
    }
    company.assert_agreement(at);
}

#[test]
fn pat_ec_5_a_request_that_fails_once_is_retried_by_the_worker() {
    for (name, scene) in SCENES {
        for number in 0..requests(scene) {
            let company = company();
            company.store.script(move |_, call| match call {
                call if call == number => Fault::After(ErrorCode::OperationTimedOut),
                _ => Fault::None,
            });
            scene(&company);
            company.again().recover();
            assert_left_over(&company, &format!("{name}: no answer to request {number}"));
        }
    }
}

/// Tests a process suspended at a request until other processes have completed all pending work. It then resumes and dies. No other process runs afterwards to
/// repair the data, so the late writes must not overwrite newer data.
#[test]
fn pat_den_2_a_delayed_process_undoes_nothing() {
    let meanwhile: [(&str, Scene); 5] = [
        ("renamed back", |company| {
            let rename = |ada: &mut Employee| ada.last_name = "Lovelace".into();
            block_on(company.employees.update(Employee::key("Sales", 223), rename)).unwrap();
            company.recover();
        }),
        ("renamed twice", |company| {
            for name in ["Byron", "Lovelace"] {
                let rename = |ada: &mut Employee| ada.last_name = name.into();
                block_on(company.employees.update(Employee::key("Sales", 223), rename)).unwrap();
                company.recover();
            }
        }),
        ("renamed", |company| {
            let rename = |ada: &mut Employee| ada.last_name = "King".into();
            block_on(company.employees.update(Employee::key("Sales", 223), rename)).unwrap();
            company.recover();
        }),
        ("left and taken up", |company| {
            for lead in [9, 223] {
                let change = |engine: &mut Project| engine.lead = Some(lead);
                let _ = block_on(company.projects.update(Project::key("Engine", 1), change));
                company.recover();
            }
        }),
        ("gone and back", |company| {
            let _ = block_on(company.departments.delete(Department::key("Sales"), IfMatch::Any));
            block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap();
            company.recover();
            block_on(company.employees.insert(&ada())).unwrap();
        }),
    ];
    // Workers and writers that may be suspended while they hold stale data.
    let sleepers: [(&str, Scene); 6] = [
        ("renames and propagates", |company| {
            let rename = |ada: &mut Employee| ada.last_name = "Byron".into();
            let _ = block_on(company.employees.update(Employee::key("Sales", 223), rename));
            let _ = block_on(company.employees.settle_copies(Employee::key("Sales", 223)));
        }),
        ("leaves and settles", |company| {
            let _ =
                block_on(company.projects.update(Project::key("Engine", 1), |engine| engine.lead = Some(9)));
            let _ = block_on(company.worker().run_until_idle());
        }),
        ("propagates", |company| {
            let _ = block_on(company.employees.settle_copies(Employee::key("Sales", 223)));
        }),
        ("settles", |company| {
            let _ = block_on(company.projects.settle_copies(Project::key("Engine", 1)));
            let _ = block_on(company.departments.settle_copies(Department::key("Sales")));
        }),
        ("leaves", |company| {
            let _ =
                block_on(company.projects.update(Project::key("Engine", 1), |engine| engine.lead = Some(9)));
        }),
        ("takes up", |company| {
            let _ = block_on(company.projects.insert(&project("Loom", Some(223))));
        }),
    ];
    for (what, scene) in sleepers {
        for (event, act) in meanwhile {
            for number in 0..requests(scene) {
                let at = format!("{what}, {event} at request {number}");
                let company = company();
                let (others, happened) = (company.again(), Arc::new(AtomicBool::new(false)));
                let has_happened = Arc::clone(&happened);
                company.store.script(move |_, call| {
                    if call == number && !has_happened.swap(true, Ordering::SeqCst) {
                        let others = others.clone();
                        return Fault::Meanwhile(Box::new(move || act(&others)));
                    }
                    Fault::None
                });
                scene(&company);
                assert!(happened.load(Ordering::SeqCst), "{at}");
                company.store.heal();
                // The suspended process may have recorded work without performing it.
                company.recover();
                assert_left_over(&company, &at);
            }
        }
    }
}
