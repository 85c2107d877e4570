//! Compares copies with a simple model after random sequences of actions. Workers run late, twice and in any order.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::etag::IfMatch;

use super::kit::{Company, Department, Employee, Project, ada, project, sales};

#[derive(Clone, Debug)]
enum Act {
    Hire(u32),
    Rename(u32, u8),
    Fire(u32),
    Found(Option<u32>),
    Manage(Option<u32>),
    Close,
    Plan(u16, Option<u32>, Option<u32>),
    Lead(u16, Option<u32>, Option<u32>),
    Drop(u16),
    /// Makes a worker receive a pending message and process it.
    Work,
    /// Settles an employee's copies, as a repeated or delayed delivery would.
    Propagate(u32),
    Settle(u16),
    Recover,
}

fn act() -> impl Strategy<Value = Act> {
    let id = || 1..4_u32;
    let some = || proptest::option::of(1..4_u32);
    let part = || 0..3_u16;
    prop_oneof![
        3 => id().prop_map(Act::Hire),
        6 => (id(), any::<u8>()).prop_map(|(id, name)| Act::Rename(id, name)),
        2 => id().prop_map(Act::Fire),
        2 => some().prop_map(Act::Found),
        3 => some().prop_map(Act::Manage),
        1 => Just(Act::Close),
        3 => (part(), some(), some()).prop_map(|(part, lead, deputy)| Act::Plan(part, lead, deputy)),
        5 => (part(), some(), some()).prop_map(|(part, lead, deputy)| Act::Lead(part, lead, deputy)),
        1 => part().prop_map(Act::Drop),
        4 => Just(Act::Work),
        2 => id().prop_map(Act::Propagate),
        2 => part().prop_map(Act::Settle),
        1 => Just(Act::Recover),
    ]
}

/// A model of the company: the employees' last names, and the numbers of employees referenced by departments and projects.
#[derive(Clone, Debug, Default)]
struct Model {
    names: BTreeMap<u32, String>,
    /// `None` if the department does not exist. The inner value is its manager's number; `None` if it has no manager.
    #[expect(
        clippy::option_option,
        reason = "the outer option is the department, the inner one its manager"
    )]
    manager: Option<Option<u32>>,
    projects: BTreeMap<u16, (Option<u32>, Option<u32>)>,
}

impl Model {
    fn is_there(&self, id: Option<u32>) -> bool {
        id.is_none_or(|id| self.names.contains_key(&id))
    }

    fn name(&self, id: Option<u32>) -> Option<String> {
        id.map(|id| self.names[&id].clone())
    }
}

fn number(id: Option<u32>) -> Option<i32> {
    id.map(|id| i32::try_from(id).unwrap())
}

/// Applies an action to both the company and the model, and asserts that both accept it or both reject it.
fn run(company: &Company, model: &mut Model, act: &Act) {
    // The worker clears the holders of a deleted source later. Until then, a project may refer to a missing employee.
    match *act {
        Act::Hire(id) => {
            let done = block_on(company.employees.insert(&Employee { id, ..ada() })).is_ok();
            assert_eq!(done, !model.names.contains_key(&id));
            if done {
                model.names.insert(id, ada().last_name);
            }
        }
        Act::Rename(id, name) => {
            let name = format!("Name{name}");
            let rename = |one: &mut Employee| one.last_name.clone_from(&name);
            let done = block_on(company.employees.update(Employee::key("Sales", id), rename)).is_ok();
            assert_eq!(done, model.names.contains_key(&id));
            if done {
                model.names.insert(id, name);
            }
        }
        Act::Fire(id) => {
            let done = block_on(company.employees.delete(Employee::key("Sales", id), IfMatch::Any)).is_ok();
            assert_eq!(done, model.names.contains_key(&id) && model.manager.flatten() != Some(id));
            if done {
                // All pending work is completed before the number is reused for another employee.
                company.recover();
                model.names.remove(&id);
                for (lead, deputy) in model.projects.values_mut() {
                    *lead = lead.filter(|lead| *lead != id);
                    *deputy = deputy.filter(|deputy| *deputy != id);
                }
            }
        }
        Act::Found(id) => {
            let done = block_on(company.departments.insert(&sales(number(id)))).is_ok();
            assert_eq!(done, model.manager.is_none() && model.is_there(id));
            if done {
                model.manager = Some(id);
            }
        }
        Act::Manage(id) => {
            let change = |sales: &mut Department| {
                <super::kit::Manager as crate::copies::CopyRelation>::clear(sales);
                sales.manager_id = number(id);
            };
            let done = block_on(company.departments.update(Department::key("Sales"), change)).is_ok();
            assert_eq!(done, model.manager.is_some() && model.is_there(id));
            if done {
                model.manager = Some(id);
            }
        }
        Act::Close => {
            let done = block_on(company.departments.delete(Department::key("Sales"), IfMatch::Any)).is_ok();
            assert_eq!(done, model.manager.take().is_some());
        }
        Act::Plan(part, lead, deputy) => {
            let new = Project { part, deputy: number(deputy), ..project("Engine", number(lead)) };
            let done = block_on(company.projects.insert(&new)).is_ok();
            let is_new = !model.projects.contains_key(&part);
            assert_eq!(done, is_new && model.is_there(lead) && model.is_there(deputy));
            if done {
                model.projects.insert(part, (lead, deputy));
            }
        }
        Act::Lead(part, lead, deputy) => {
            let change = |project: &mut Project| {
                (project.lead, project.lead_name) = (number(lead), None);
                (project.deputy, project.deputy_name) = (number(deputy), None);
            };
            let done = block_on(company.projects.update(Project::key("Engine", part), change)).is_ok();
            let is_there = model.projects.contains_key(&part);
            assert_eq!(done, is_there && model.is_there(lead) && model.is_there(deputy));
            if done {
                model.projects.insert(part, (lead, deputy));
            }
        }
        Act::Drop(part) => {
            let done = block_on(company.projects.delete(Project::key("Engine", part), IfMatch::Any)).is_ok();
            assert_eq!(done, model.projects.remove(&part).is_some());
        }
        Act::Work => drop(block_on(company.worker().run_once()).unwrap()),
        Act::Propagate(id) => {
            block_on(company.employees.settle_copies(Employee::key("Sales", id))).unwrap();
        }
        Act::Settle(part) => {
            block_on(company.projects.settle_copies(Project::key("Engine", part))).unwrap();
        }
        Act::Recover => company.recover(),
    }
    // Copies in the source's partition are updated without delay.
    let department = company.departments().pop();
    assert_eq!(department.as_ref().map(|sales| sales.manager_id), model.manager.map(number));
    let name = department.and_then(|sales| sales.manager_last_name);
    assert_eq!(name, model.name(model.manager.flatten()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn pat_den_2_any_program_agrees_with_the_model(
        acts in proptest::collection::vec(act(), 1..30),
        page in prop_oneof![1..4_usize, Just(usize::MAX)],
    ) {
        let company = Company::on(|store| store.pages_of(page));
        let mut model = Model::default();
        for act in &acts {
            run(&company, &mut model, act);
        }
        company.recover();
        prop_assert_eq!(company.pending(), 0);
        let projects = company.projects().into_iter().map(|project| {
            (project.part, ((project.lead, project.lead_name), (project.deputy, project.deputy_name)))
        });
        let expected = model.projects.iter().map(|(part, (lead, deputy))| {
            (*part, ((number(*lead), model.name(*lead)), (number(*deputy), model.name(*deputy))))
        });
        prop_assert_eq!(projects.collect::<BTreeMap<_, _>>(), expected.collect());
        // Refused writes have left references, which the next change to their source removes.
        for id in 1..4 {
            block_on(company.employees.settle_copies(Employee::key("Sales", id))).unwrap();
        }
        company.assert_agreement("at the end");
    }
}
