//! Tests that compare views with a simple model after random actions. Changes are applied late, twice and in any order.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::etag::IfMatch;
use table_core::{Entity, TableStoreExt};

use super::kit::{Company, Employee};

#[derive(Clone, Debug)]
enum Act {
    Put(u8, u8, u8),
    Fire(u8),
    /// Applies an employee to the view out of order, as if a change had been delivered early, late or repeatedly.
    Apply(u8),
    CatchUp(usize),
    /// Deletes the view's cursors. All changes are then delivered again.
    Forget,
    Rebuild,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..6_u8, 0..3_u8, any::<u8>()).prop_map(|(id, city, age)| Act::Put(id, city, age)),
        2 => (0..6_u8).prop_map(Act::Fire),
        3 => (0..6_u8).prop_map(Act::Apply),
        3 => (1..5_usize).prop_map(Act::CatchUp),
        1 => Just(Act::Forget),
        1 => Just(Act::Rebuild),
    ]
}

fn employee(id: u8) -> Employee {
    let department = ["Sales", "Marketing"][usize::from(id) % 2].to_owned();
    Employee { department, id: u32::from(id), name: "Ada".into(), city: String::new(), age: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn imp_6_any_program_agrees_with_the_model(acts in proptest::collection::vec(act(), 1..40)) {
        let (company, mut model) = (Company::new(), BTreeMap::new());
        for act in acts {
            match act {
                Act::Put(id, city, age) => {
                    let city = ["London", "Paris", "Sales"][usize::from(city)].to_owned();
                    let one = Employee { city, age: i32::from(age), ..employee(id) };
                    block_on(company.employees.insert_or_replace(&one)).unwrap();
                    model.insert(id, one);
                }
                Act::Fire(id) => {
                    let Employee { department, id: number, .. } = employee(id);
                    let key = Employee::key(&department, number);
                    let done = block_on(company.employees.delete(key, IfMatch::Any)).is_ok();
                    prop_assert_eq!(done, model.remove(&id).is_some());
                }
                Act::Apply(id) => block_on(company.view.apply(&employee(id).key_of().unwrap())).unwrap(),
                Act::CatchUp(most) => drop(block_on(company.view.catch_up(most)).unwrap()),
                Act::Forget => {
                    let rows = company.engine.untyped("Headcounts").unwrap();
                    let store = rows.store();
                    for department in ["Sales", "Marketing"] {
                        let key = crate::view::record::cursor_key(&table_core::PartitionKey::new(department).unwrap()).unwrap();
                        let mut delete = table_core::Transaction::new(key.partition_key.clone(), table_core::limits::Limits::PORTABLE).unwrap();
                        let kind = table_core::OperationKind::Delete(IfMatch::Any);
                        delete.push(table_core::Operation { row_key: key.row_key, kind }).unwrap();
                        let _ = block_on(table_core::TableStore::submit(store, rows.name().unwrap(), delete));
                    }
                }
                Act::Rebuild => drop(block_on(company.view.rebuild().page(3).run()).unwrap()),
            }
        }
        company.catch_up();
        let employees: Vec<_> = model.into_values().collect();
        prop_assert_eq!(company.stored(), Company::expected(&employees));
        let progress = block_on(company.view.rebuild().run()).unwrap();
        prop_assert_eq!(progress.corrected, 0);
        prop_assert_eq!(company.stored(), Company::expected(&employees));
    }
}
