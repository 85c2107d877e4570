//! Tests that costs are bounded if an entity moves repeatedly between partitions, and during a rebuild with concurrent writers.

use pollster::block_on;
use proptest::prelude::*;
use table_core::TableStoreExt;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::store::TableStore;

use super::kit::{Company, Headcount};
use crate::tests::faults::{Call, Fault};
use crate::view::record::{BY, OF, Places, Share};

/// Returns each employee's list of the view's partitions that contain the employee.
fn lists(company: &Company) -> Vec<Places> {
    let query = Query::new(KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(OF) });
    let page = block_on(company.engine.query(company.view.rows.name().unwrap(), &query, None)).unwrap();
    page.rows.iter().map(|row| Places::read(row.row).unwrap()).collect()
}

#[test]
fn imp_6_an_entity_moved_a_thousand_times_costs_no_more_than_after_a_few() {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "city 0", 70);
    company.catch_up();
    let mut costs = Vec::new();
    for city in 1..=1_000_u32 {
        company.change("Sales", 1, |ada| ada.city = format!("city {city}"));
        company.store.heal();
        block_on(company.view.catch_up(10)).unwrap();
        if [5, 1_000].contains(&city) {
            costs.push(company.store.calls());
        }
        if city % 100 == 0 {
            let sales = table_core::PartitionKey::new("Sales").unwrap();
            let position = block_on(company.view.position(&sales)).unwrap();
            let table = company.employees.table().name().unwrap();
            block_on(company.view.feed().trim(table, &sales, &position)).unwrap();
        }
    }
    assert_eq!(costs[0], costs[1]);
    // Three of the requests are for the lease.
    assert!(costs[0].len() <= 26, "{} requests: {:?}", costs[0].len(), costs[0]);
    let cities = ["Sales", "city 1000"].map(str::to_owned);
    assert_eq!(lists(&company), [Places(cities.into())]);
    company.assert_right("moved");
}

/// Runs a rebuild of a view in which one sum is wrong by `drift`. Before each of the rebuild's first `changes` queries, an employee changes and another
/// follower applies the change. Returns the number of requests and the number of corrected rows.
fn rebuild_during(changes: usize, drift: i64) -> (usize, u64) {
    let company = Company::on(table_core::Engine::in_memory(), |store| store.pages_of(5));
    for id in 0..60 {
        company.hire("Sales", id, "Ada", "London", 30);
    }
    company.catch_up();
    let rows = company.engine.table::<Headcount>();
    block_on(rows.update(Headcount::key("London", "all"), |row| row.years += drift)).unwrap();
    company.store.heal();
    let (others, mut left) = (company.again(), changes);
    company.store.script(move |call, _| {
        if call != Call::Query || left == 0 {
            return Fault::None;
        }
        left -= 1;
        let (others, id) = (others.clone(), u32::try_from(left % 60).unwrap());
        Fault::Meanwhile(Box::new(move || {
            others.change("Sales", id, |one| one.age += 1);
            if id == 7 {
                others.change("Sales", id, |one| "Paris".clone_into(&mut one.city));
            }
            others.catch_up();
        }))
    });
    let progress = block_on(company.view.rebuild().page(10).run()).unwrap();
    let calls = company.store.calls().len();
    company.assert_right("rebuilt");
    // No row is still marked by a recount.
    let query = Query::new(KeyRange::rows("London", TextRange::ALL));
    let page = block_on(company.engine.query(company.view.rows.name().unwrap(), &query, None)).unwrap();
    for row in page.rows.iter().filter(|row| !row.row_key.starts_with(BY)) {
        assert_eq!(crate::view::record::recount_of(row.row).unwrap(), None);
    }
    (calls, progress.corrected)
}

#[test]
fn imp_6_a_rebuild_finishes_even_if_every_page_it_reads_changes() {
    let (quiet, _) = rebuild_during(0, 0);
    let (busy, corrected) = rebuild_during(usize::MAX, 0);
    assert_eq!(corrected, 0, "writers make no sum wrong");
    assert!(busy < 3 * quiet, "{busy} requests, {quiet} without writers");
    let (busy, corrected) = rebuild_during(usize::MAX, 1_000);
    assert_eq!(corrected, 1);
    assert!(busy < 3 * quiet, "{busy} requests, {quiet} without writers");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn imp_6_two_recounts_with_concurrent_writers_give_correct_sums(
        at in 1..60_usize,
        second in prop::option::of(1..60_usize),
        drift in -2_i64..3,
        moves in prop::collection::vec((0..12_u32, 0..3_usize), 1..6),
    ) {
        let company = Company::on(table_core::Engine::in_memory(), |store| store.pages_of(3));
        for id in 0..12 {
            company.hire("Sales", id, "Ada", ["London", "Paris"][id as usize % 2], 30);
        }
        company.catch_up();
        let rows = company.engine.table::<Headcount>();
        block_on(rows.update(Headcount::key("London", "all"), |row| row.years += drift)).unwrap();
        company.store.heal();
        let others = company.again();
        // Applying a change would never complete if other changes overtook every attempt. The other changes therefore stop eventually.
        let mut left = 50;
        company.store.script(move |_, call| {
            let (others, moves) = (others.clone(), moves.clone());
            let recounts = second == Some(call);
            if !recounts && (call % at != 0 || left == 0) {
                return Fault::None;
            }
            left -= i32::from(!recounts);
            Fault::Meanwhile(Box::new(move || {
                for (id, city) in moves {
                    let city = ["London", "Paris", "Rome"][city];
                    others.change("Sales", id, |one| (one.age, one.city) = ((one.age + 1) % 70, city.to_owned()));
                }
                others.catch_up();
                if recounts {
                    block_on(others.view.rebuild().page(4).run()).unwrap();
                }
            }))
        });
        block_on(company.view.rebuild().page(4).run()).unwrap();
        company.store.heal();
        company.catch_up();
        company.assert_right("at the end");
        for share in company.shares("London") {
            prop_assert!(share.cuts.len() <= 2);
        }
    }
}

impl Company {
    /// Returns each entity's record in the view's partition `place`.
    fn shares(&self, place: &str) -> Vec<Share> {
        let query = Query::new(KeyRange::rows(place, TextRange::prefix(BY)));
        let page = block_on(self.engine.query(self.view.rows.name().unwrap(), &query, None)).unwrap();
        page.rows.iter().map(|row| Share::read(row.row).unwrap()).collect()
    }
}
