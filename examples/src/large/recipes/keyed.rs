//! Queries supported by keys: a point query, a range of numbers, and all builds of a package.

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::large::PackageIndex;
use crate::large::recipes::middle;
use crate::model::packages::Build;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const POINT: Recipe<PackageIndex> = Recipe {
    name: "large-point",
    question: "One build in the middle of all builds",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(point(store, index)),
};

pub(super) const RANGE: Recipe<PackageIndex> = Recipe {
    name: "large-range",
    question: "The second to the fifth build of one package",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(range(store, index)),
};

pub(super) const COMPOUND_KEY: Recipe<PackageIndex> = Recipe {
    name: "large-compound-key",
    question: "Every build of one package",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(compound_key(store, index)),
};

async fn point(store: &Store, index: &PackageIndex) -> Result<Report> {
    let expected = Build::from(middle(index));
    let builds = store.table::<Build>();
    let key = Build::key(&expected.section, &expected.package, expected.number);
    let plan = builds.plan(key.clone())?;
    let found = builds.get(key).await?;
    assert_eq!(found.as_deref(), Some(&expected));
    Ok(Report::new(plan, listed(&[expected])))
}

async fn range(store: &Store, index: &PackageIndex) -> Result<Report> {
    let middle = middle(index).package;
    let builds = store.table::<Build>();
    let query = builds.query(Build::rows(&middle.section).package_is(&middle.name).number(2..=5));
    let plan = query.plan()?;
    let found = query.collect().await?;
    let of_package = index.section(&middle.section).filter(|build| build.package == middle);
    let expected: Vec<Build> =
        of_package.filter(|build| (2..=5).contains(&build.number)).map(Build::from).collect();
    assert_eq!(found, expected);
    Ok(Report::new(plan, listed(&found)))
}

async fn compound_key(store: &Store, index: &PackageIndex) -> Result<Report> {
    let middle = middle(index).package;
    let builds = store.table::<Build>();
    let query = builds.query(Build::rows(&middle.section).package_is(&middle.name));
    let plan = query.plan()?;
    let found = query.collect().await?;
    let of_package = index.section(&middle.section).filter(|build| build.package == middle);
    assert!(found.iter().cloned().eq(of_package.map(Build::from)));
    Ok(Report::new(plan, listed(&found)))
}

fn listed(builds: &[Build]) -> Grid {
    let mut answer = Grid::new(["Section", "Package", "#Build", "Version", "Built", "#KiB"]);
    for build in builds {
        let (number, size) = (build.number.to_string(), build.installed_size.to_string());
        answer.row([
            &build.section,
            &build.package,
            &number,
            &build.version,
            &build.built.to_string(),
            &size,
        ]);
    }
    answer
}
