//! Tests recounts while entities leave and re-enter the recounted partition of the view.

use std::collections::{BTreeMap, BTreeSet};

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::store::TableStore;
use table_core::{Result, TableStoreExt};

use super::kit::{Company, Headcount};
use crate::tests::faults::Fault;

/// An upper bound on the number of requests in a recount. In each test, an entity moves before some of the requests.
const REQUESTS: usize = 14;

/// The error that the recount must correct.
#[derive(Clone, Copy, Debug)]
enum Damage {
    None,
    WrongSum,
    StrayRow,
}

/// Creates a company with two employees: Bob in London, and Ada in London if `starts_here` is `true`, or else in Paris.
fn company(damage: Damage, starts_here: bool) -> Company {
    // Each page has two rows, so Ada also moves between pages.
    let company = Company::on(Engine::in_memory(), |store| store.pages_of(2));
    company.hire("Sales", 1, "Ada", if starts_here { "London" } else { "Paris" }, 36);
    company.hire("Sales", 2, "Bob", "London", 20);
    company.catch_up();
    let rows = company.engine.table::<Headcount>();
    match damage {
        Damage::None => {}
        Damage::WrongSum => {
            block_on(rows.update(Headcount::key("London", "all"), |row| row.years = 7)).map(drop).unwrap();
        }
        Damage::StrayRow => {
            let stray = Headcount { of: "London".into(), row: "name_Nobody".into(), employees: 1, years: 9 };
            block_on(rows.insert(&stray)).map(drop).unwrap();
        }
    }
    company
}

/// Returns the names of the properties in each row of London that is visible to readers.
fn properties(company: &Company) -> BTreeMap<String, BTreeSet<String>> {
    let query = Query::new(KeyRange::rows("London", TextRange::ALL));
    let page = block_on(company.engine.query(&TableName::new("Headcounts").unwrap(), &query, None)).unwrap();
    let is_read = |row_key: &str| !RowKey::new(row_key).unwrap().is_reserved();
    let rows = page.rows.iter().filter(|row| is_read(row.row_key));
    let names = rows.map(|row| {
        let names = row.row.properties().map(|property| property.map(|property| property.name.to_owned()));
        (row.row_key.to_owned(), names.collect::<Result<_>>().unwrap())
    });
    names.collect()
}

/// Recounts London. Before each request listed in `moves`, Ada moves to or from London. Then checks the view.
fn recount_among(damage: Damage, starts_here: bool, moves: [usize; 3]) {
    let company = company(damage, starts_here);
    let (other, mut is_here) = (company.again(), starts_here);
    company.store.script(move |_, at| {
        let times = moves.iter().filter(|wanted| **wanted == at).count();
        if times == 0 {
            return Fault::None;
        }
        let (other, mut cities) = (other.clone(), Vec::new());
        for _ in 0..times {
            is_here = !is_here;
            cities.push(if is_here { "London" } else { "Paris" });
        }
        Fault::Meanwhile(Box::new(move || {
            for city in cities {
                other.change("Sales", 1, |ada| ada.city = city.into());
                other.catch_up();
            }
        }))
    });
    block_on(company.view.recount(&PartitionKey::new("London").unwrap())).unwrap();
    company.store.heal();
    company.catch_up();
    let at = format!("{damage:?}, starts in London: {starts_here}, moves before {moves:?}");
    company.assert_right(&at);
    let (rows, expected) = (properties(&company), Company::expected(&company.sources()));
    let names = ["Employees".to_owned(), "Years".to_owned()].into();
    assert!(rows.values().all(|found| *found == names), "{at}: {rows:?}");
    let is_missing = |row: &&String| !expected.contains_key(&("London".to_owned(), (*row).clone()));
    let zeros: Vec<_> = rows.keys().filter(is_missing).collect();
    let stray = if matches!(damage, Damage::StrayRow) { vec!["name_Nobody"] } else { Vec::new() };
    assert_eq!(zeros, stray, "{at}: rows without an entity");
}

#[test]
fn imp_6_an_entity_that_leaves_and_comes_back_during_a_recount_keeps_its_row() {
    for damage in [Damage::None, Damage::WrongSum, Damage::StrayRow] {
        for starts_here in [true, false] {
            for first in 0..REQUESTS {
                for second in first..REQUESTS {
                    recount_among(damage, starts_here, [first, second, usize::MAX]);
                }
            }
        }
    }
}

#[test]
fn imp_6_an_entity_that_moves_three_times_during_a_recount_keeps_its_row() {
    for first in 0..REQUESTS / 2 {
        for second in first..REQUESTS {
            for third in second..REQUESTS {
                recount_among(Damage::WrongSum, second % 2 == 0, [first, second, third]);
            }
        }
    }
}
