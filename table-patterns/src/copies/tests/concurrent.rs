//! Tests copies with concurrent writers and workers.

use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;

use super::kit::{Company, Department, Employee, Manager, Project, ada, bob, project, sales};
use crate::copies::CopyRelation;

#[test]
fn pat_den_2_concurrent_writers_and_workers_converge() {
    let company = Company::new();
    block_on(async {
        company.employees.insert(&ada()).await?;
        company.employees.insert(&bob()).await?;
        company.departments.insert(&sales(Some(223))).await?;
        for name in ["Engine", "Loom", "Mill"] {
            company.projects.insert(&project(name, Some(223))).await?;
        }
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
    let left = AtomicUsize::new(4);
    std::thread::scope(|scope| {
        for (thread, id) in [(0, 223), (1, 9)] {
            let (company, left) = (company.again(), &left);
            scope.spawn(move || {
                for number in 0..25 {
                    let rename = |one: &mut Employee| one.last_name = format!("Name{thread}x{number}");
                    block_on(company.employees.update(Employee::key("Sales", id), rename)).unwrap();
                }
                left.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let (one, left_one) = (company.again(), &left);
        scope.spawn(move || {
            for number in 0..25 {
                let name = ["Engine", "Loom", "Mill"][number % 3];
                let lead = [223, 9][number % 2];
                let change = |project: &mut Project| {
                    project.lead = Some(lead);
                    project.deputy = (number % 5 == 0).then_some(9);
                    project.deputy_name = None;
                };
                block_on(one.projects.update(Project::key(name, 1), change)).unwrap();
            }
            left_one.fetch_sub(1, Ordering::SeqCst);
        });
        let (one, left_one) = (company.again(), &left);
        scope.spawn(move || {
            for number in 0..25_usize {
                let manager = [Some(223), None, Some(9)][number % 3];
                let change = |sales: &mut Department| {
                    Manager::clear(sales);
                    sales.manager_id = manager;
                };
                block_on(one.departments.update(Department::key("Sales"), change)).unwrap();
                // The source and the copy are always consistent: both are read in one page, which is a snapshot.
                let rows = one.rows("Company");
                let find = |row: &str| rows.iter().find(|(_, row_key, _)| row_key == row).unwrap().2.clone();
                let department = find("Department");
                if let Some(id) = manager {
                    let source = find(&format!("{id:06}"));
                    let name = source.split("LastName: String(").nth(1).unwrap().split(')').next().unwrap();
                    assert!(
                        department.contains(&format!("ManagerLastName: String({name})")),
                        "{department} {source}"
                    );
                }
            }
            left_one.fetch_sub(1, Ordering::SeqCst);
        });
        for _ in 0..2 {
            let (company, left) = (company.again(), &left);
            scope.spawn(move || {
                while left.load(Ordering::SeqCst) > 0 {
                    block_on(company.worker().run_once()).unwrap();
                }
            });
        }
    });
    company.recover();
    assert_eq!(company.pending(), 0);
    company.assert_agreement("after all");
}
