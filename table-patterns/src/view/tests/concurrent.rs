//! Tests views with concurrent writers, followers and a rebuild.

use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;

use super::kit::Company;

#[test]
fn imp_6_concurrent_writers_and_followers_count_each_entity_once() {
    let company = Company::on(table_core::Engine::in_memory(), |store| store.pages_of(5));
    let left = AtomicUsize::new(3);
    std::thread::scope(|scope| {
        for (thread, department) in [(0_u32, "Sales"), (1, "Marketing"), (2, "Sales")] {
            let (company, left) = (company.again(), &left);
            scope.spawn(move || {
                for number in 0..20_u32 {
                    let id = thread * 100 + number;
                    company.hire(department, id, "Ada", ["London", "Paris"][number as usize % 2], 30);
                    company.change(department, id, |one| {
                        one.age += i32::try_from(number).unwrap();
                        one.city = ["Rome", "London"][number as usize % 2].to_owned();
                    });
                    if number % 3 == 0 {
                        company.fire(department, id);
                    }
                }
                left.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for _ in 0..2 {
            let (company, left) = (company.again(), &left);
            scope.spawn(move || {
                while left.load(Ordering::SeqCst) > 0 {
                    block_on(company.view.catch_up(10)).unwrap();
                }
            });
        }
        let other = Company::on(company.engine.clone(), |store| store.pages_of(3));
        scope.spawn(move || block_on(other.view.rebuild().page(3).run()).unwrap());
    });
    company.catch_up();
    company.assert_right("after all");
    let progress = block_on(company.view.rebuild().run()).unwrap();
    assert_eq!(progress.corrected, 0, "no sum was wrong");
    company.assert_right("rebuilt");
}
