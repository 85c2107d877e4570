//! Tests a source whose table is temporarily missing, and partitions that are set aside.

use pollster::block_on;
use table_core::key::PartitionKey;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, TableStoreExt};

use super::kit::{Company, Employee};
use crate::view::poison::{feed_of, gap_in};

fn department(number: u32) -> String {
    format!("d{number}")
}

/// Creates a company with five departments. The view has read their feeds, which are quiet.
fn company() -> Company {
    let company = Company::new();
    (0..5).for_each(|number| company.hire(&department(number), 1, "Ada", "London", 36));
    company.catch_up();
    company
}

fn assert_right(company: &Company) {
    let scan = company.engine.table::<Employee>().scan("to compare").max_rows(1_000);
    assert_eq!(company.stored(), Company::expected(&block_on(scan.collect()).unwrap()));
}

#[test]
fn imp_6_a_missing_source_table_is_an_error_and_sets_no_partition_aside() {
    let company = company();
    let table = company.employees.table().name().unwrap().clone();
    let (backup, other) = (company.backup(), company.again());
    let view = other.view.clone().with_poison_limit(1);
    block_on(company.engine.delete_table(&table)).unwrap();
    for _ in 0..2 {
        let error = block_on(view.catch_up(100)).unwrap_err();
        assert!(error.is_table_not_found(), "{error}");
        assert!(block_on(view.freshness()).unwrap_err().is_table_not_found());
        assert!(block_on(view.rebuild().run()).unwrap_err().is_table_not_found());
    }
    assert_eq!(block_on(view.poison()).unwrap(), []);
    block_on(company.engine.create_table(&table)).unwrap();
    company.restore(&backup);
    company.again().hire("d1", 2, "Grace", "Paris", 40);
    while block_on(view.catch_up(100)).unwrap().is_behind {}
    assert_eq!(block_on(view.poison()).unwrap(), []);
    assert_right(&company);
}

#[test]
fn imp_6_partitions_that_are_set_aside_stop_no_view() {
    let company = company();
    // A new process does not remember which feeds are quiet.
    let view = company.again().view.with_poison_limit(2);
    let error = Error::new(ErrorCode::TableNotFound, "another program has set the partitions aside");
    for number in 0..5 {
        let partition = PartitionKey::new(department(number)).unwrap();
        block_on(view.set_aside(&feed_of(&partition).unwrap(), &error)).unwrap();
        block_on(view.set_aside(&gap_in(&partition).unwrap(), &error)).unwrap();
    }
    company.hire("d1", 2, "Grace", "Paris", 40);
    while block_on(view.catch_up(100)).unwrap().is_behind {}
    assert_right(&company);
    assert_eq!(block_on(view.poison()).unwrap().len(), 5, "the gaps remain until a rebuild");
    block_on(view.rebuild().run()).unwrap();
    assert_eq!(block_on(view.poison()).unwrap(), []);
    let set_aside = |number: u32| -> Result<()> {
        block_on(view.set_aside(&Employee::key("d1", number).into_key()?, &error))
    };
    // The entities do not exist, so a retry applies all of them.
    (10..13).for_each(|number| set_aside(number).unwrap());
    for department in ["d1", "d2"] {
        company.hire(department, 3, "Alan", "Rome", 41);
    }
    for _ in 0..2 {
        while block_on(view.catch_up(100)).unwrap().is_behind {}
        let poison = block_on(view.poison()).unwrap();
        let feed = feed_of(&PartitionKey::new("d1").unwrap()).unwrap();
        let feeds: Vec<_> = poison.iter().filter(|one| one.source == feed).collect();
        assert_eq!((poison.len(), feeds.len()), (4, 1), "{poison:?}");
        assert!(feeds[0].error.contains("3 entities of the partition are set aside"), "{poison:?}");
    }
    let stored = |city: &str| {
        let sums = company.stored();
        sums.get(&(city.to_owned(), "all".to_owned())).map(|(employees, _)| *employees)
    };
    assert_eq!(stored("Rome"), Some(1), "the other partition is followed");
    assert_eq!(block_on(view.retry_poison()).unwrap(), 3);
    while block_on(view.catch_up(100)).unwrap().is_behind {}
    assert_eq!(block_on(view.poison()).unwrap(), []);
    assert_right(&company);
}
