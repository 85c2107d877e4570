//! Tests a view whose table is deleted and recreated while a process applies an entity.

use pollster::block_on;
use table_core::name::TableName;
use table_core::store::TableStore;

use super::kit::{Company, Employee};
use crate::tests::faults::Fault;

/// Suspends a process before request `number`. Meanwhile, the entity that it applies is deleted, and other processes replace the view and apply all changes.
/// Returns `None` if the process sent fewer requests. Otherwise, returns `true` if the process left rows of the deleted entity.
fn is_wrong_after(number: usize, city: &'static str) -> Option<bool> {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    company.hire("Sales", 2, "Bob", city, 40);
    let others = company.again();
    let mut act = Some(move || {
        others.fire("Sales", 1);
        block_on(others.engine.delete_table(&TableName::new("Headcounts").unwrap())).unwrap();
        let others = others.again();
        block_on(others.view.rebuild().run()).unwrap();
        others.catch_up();
    });
    company.store.script(move |_, at| match act.take_if(|_| at == number) {
        Some(act) => Fault::Meanwhile(Box::new(act)),
        None => Fault::None,
    });
    let _ = block_on(company.view.apply(&Employee::key("Sales", 1).into_key().unwrap()));
    if company.store.calls().len() <= number {
        return None;
    }
    company.store.heal();
    let is_wrong = company.stored() != Company::expected(&company.sources());
    let process = company.again();
    block_on(process.view.rebuild().page(2).run()).unwrap();
    company.assert_right(&format!("request {number}, Bob in {city}"));
    assert_eq!(block_on(process.view.poison()).unwrap(), []);
    let again = block_on(process.view.rebuild().run()).unwrap();
    assert_eq!((again.removed, again.corrected, again.failed), (0, 0, 0), "request {number}, Bob in {city}");
    Some(is_wrong)
}

#[test]
fn imp_6_a_rebuild_removes_an_entity_that_was_written_to_a_view_after_its_table_was_recreated() {
    for city in ["London", "Paris"] {
        let outcomes: Vec<_> = (0..).map_while(|number| is_wrong_after(number, city)).collect();
        assert!(outcomes.iter().any(|is_wrong| *is_wrong), "{outcomes:?}");
    }
}
