//! Queries without a suitable key: partition scans, a filter, a projection and a table scan. All of them return streams.

use futures_util::TryStreamExt;
use table_core::{Entity, Result, TableStoreExt};

use crate::grid::{Grid, thousands};
use crate::large::PackageIndex;
use crate::large::recipes::middling_section;
use crate::model::packages::{Build, BuildSize, FirstBuild};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

/// The minimum size, in KiB, of builds matched by the filters.
const HUGE: i64 = 20_000;

pub(super) const PARTITION_SCAN: Recipe<PackageIndex> = Recipe {
    name: "large-partition-scan",
    question: "How many packages does a section have, the latest first, page after page?",
    schema: FirstBuild::SCHEMA,
    run: |store, index| Box::pin(partition_scan(store, index)),
};

pub(super) const TABLE_SCAN: Recipe<PackageIndex> = Recipe {
    name: "large-table-scan",
    question: "How many builds of any section are larger than 20,000 KiB?",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(table_scan(store, index)),
};

pub(super) const FILTER: Recipe<PackageIndex> = Recipe {
    name: "large-filter",
    question: "Which builds of a section are larger than 20,000 KiB?",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(filter(store, index)),
};

pub(super) const PROJECTION: Recipe<PackageIndex> = Recipe {
    name: "large-projection",
    question: "How large are the builds of a section together?",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(projection(store, index)),
};

async fn partition_scan(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let log = store.table::<FirstBuild>();
    let query = log.query(FirstBuild::partition(section));
    let plan = query.plan()?;
    let mut found = query.stream();
    let mut expected: Vec<_> =
        index.section(section).filter(|build| build.number == 1).map(FirstBuild::from).collect();
    expected.sort_by(|left, right| right.built.cmp(&left.built).then(left.package.cmp(&right.package)));
    let mut expected = expected.into_iter();
    let mut count = 0;
    while let Some(build) = found.try_next().await? {
        assert_eq!(Some(build.value()), expected.next().as_ref());
        count += 1;
    }
    assert_eq!(expected.next(), None);
    Ok(Report::new(plan, one(section, "Packages", count)))
}

async fn table_scan(store: &Store, index: &PackageIndex) -> Result<Report> {
    let builds = store.table::<Build>();
    let sections = index.sections().count() as u64;
    let scan = builds.scan("how many builds are huge").max_rows(index.len() + sections);
    let scan = scan.filter(Build::INSTALLED_SIZE.gt(HUGE)).project::<BuildSize>();
    let plan = scan.plan()?;
    let count = scan.for_each(|build| assert!(build.installed_size > HUGE)).await?;
    let expected = index.builds().filter(|build| build.installed_size > HUGE).count();
    assert_eq!(count, expected as u64);
    Ok(Report::new(plan, one("all", "Builds above 20,000 KiB", count)))
}

async fn filter(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let builds = store.table::<Build>();
    let query = builds.query(Build::rows(section)).filter(Build::INSTALLED_SIZE.gt(HUGE));
    let plan = query.plan()?;
    let found = query.collect().await?;
    let huge = index.section(section).filter(|build| build.installed_size > HUGE);
    assert!(found.iter().cloned().eq(huge.map(Build::from)));
    Ok(Report::new(plan, one(section, "Builds above 20,000 KiB", found.len() as u64)))
}

async fn projection(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let builds = store.table::<Build>();
    let query = builds.query(Build::rows(section)).project::<BuildSize>();
    let plan = query.plan()?;
    let sum = query.stream().try_fold(0, async |sum, build| Ok(sum + build.installed_size)).await?;
    assert_eq!(sum, index.section(section).map(|build| build.installed_size).sum::<i64>());
    Ok(Report::new(plan, one(section, "KiB", sum.unsigned_abs())))
}

fn one(section: &str, what: &str, number: u64) -> Grid {
    let mut answer = Grid::new(["Section", &format!("#{what}")]);
    answer.row([section, &thousands(number)]);
    answer
}
