//! Writes to a table with millions of rows. One write is conditional on an `ETag`, and the other is a transaction of a hundred operations. Both recipes undo
//! their changes.

use table_core::{Entity, Error, ErrorCode, IfMatch, Result, TableStoreExt};

use crate::grid::Grid;
use crate::large::PackageIndex;
use crate::large::recipes::{middle, middling_section};
use crate::model::packages::Build;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const OPTIMISTIC_CONCURRENCY: Recipe<PackageIndex> = Recipe {
    name: "large-optimistic-concurrency",
    question: "Two changes of one build, both from the same version",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(optimistic_concurrency(store, index)),
};

pub(super) const TRANSACTION: Recipe<PackageIndex> = Recipe {
    name: "large-transaction",
    question: "The first hundred builds of a section in one transaction; a hundred and one are refused",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(transaction(store, index)),
};

async fn optimistic_concurrency(store: &Store, index: &PackageIndex) -> Result<Report> {
    let imported = Build::from(middle(index));
    let builds = store.table::<Build>();
    let key = Build::key(&imported.section, &imported.package, imported.number);
    let Some(read) = builds.get(key).await? else { panic!("the build was imported") };
    assert_eq!(*read, imported);
    let larger = Build { installed_size: imported.installed_size + 1, ..imported.clone() };
    builds.replace(&larger, read.etag()).await?;
    let Err(refused) = builds.replace(&imported, read.etag()).await else {
        panic!("the version is an old one")
    };
    assert_eq!(refused.code(), ErrorCode::UpdateConditionNotSatisfied);
    let updated = builds.update(&read, |build| build.maintainer.push_str(" (changed)")).await?;
    assert_eq!(
        (updated.installed_size, updated.maintainer.ends_with(" (changed)")),
        (larger.installed_size, true)
    );
    builds.replace(&imported, updated.etag()).await?;

    let mut answer = Grid::new(["Step", "Outcome"]);
    answer
        .row(["first replace", "done"])
        .row(["second replace", refused.code().as_str()])
        .row(["update", "done"]);
    Ok(Report::new("", answer).note(refused.to_string()))
}

async fn transaction(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let first: Vec<Build> = index.section(section).take(101).map(Build::from).collect();
    let builds = store.table::<Build>();
    let mut transaction = builds.transaction(Build::partition(section))?;
    let mut refused = None;
    for build in &first {
        refused = transaction.replace(build, IfMatch::Any).err();
    }
    // If the section has more than a hundred builds, the transaction has too many operations and is rejected.
    assert_eq!(refused.as_ref().and_then(Error::rule), (first.len() > 100).then_some("EGT-2"));
    let written = transaction.commit().await?;
    assert_eq!(written.len(), first.len().min(100));

    let mut answer = Grid::new(["Section", "#Written at once"]);
    answer.row([section, &written.len().to_string()]);
    Ok(Report::new("", answer).note(refused.map(|error| error.to_string()).unwrap_or_default()))
}
