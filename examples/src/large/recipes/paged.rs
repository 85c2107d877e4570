//! Queries read page by page. One continues from a stored token, and the other reads the newest rows.

use table_core::{Continuation, Entity, Result, TableStoreExt, Versioned};

use crate::grid::Grid;
use crate::large::PackageIndex;
use crate::large::recipes::middling_section;
use crate::model::packages::{Build, FirstBuild};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const PAGING: Recipe<PackageIndex> = Recipe {
    name: "large-paging",
    question: "The first five pages of a section, with only a text kept in between",
    schema: Build::SCHEMA,
    run: |store, index| Box::pin(paging(store, index)),
};

pub(super) const LOG_TAIL: Recipe<PackageIndex> = Recipe {
    name: "large-log-tail",
    question: "Which ten packages are the newest of their section?",
    schema: FirstBuild::SCHEMA,
    run: |store, index| Box::pin(log_tail(store, index)),
};

async fn paging(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let mut expected = index.section(section).map(Build::from);
    let mut answer = Grid::new(["#Page", "#Builds", "First", "Token to store"]);
    let mut token: Option<String> = None;
    for number in 1..=5 {
        let builds = store.table::<Build>();
        let query = builds.query(Build::rows(section)).page_size(200);
        let page = match &token {
            None => query.page().await?,
            Some(token) => query.page_from(&token.parse::<Continuation>()?).await?,
        };
        assert!(
            page.items.iter().map(|build| build.value().clone()).eq(expected.by_ref().take(page.items.len()))
        );
        token = page.continuation.as_ref().map(ToString::to_string);
        let first = page.items.first().map(|build| build.package.clone()).unwrap_or_default();
        let token_text = token.clone().unwrap_or_default();
        answer.row([number.to_string(), page.items.len().to_string(), first, token_text]);
        if token.is_none() {
            assert_eq!(expected.next(), None, "no token, no more pages");
            break;
        }
    }
    let plan = store.table::<Build>().query(Build::rows(section)).page_size(200).plan()?;
    Ok(Report::new(plan, answer))
}

async fn log_tail(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let log = store.table::<FirstBuild>();
    let query = log.query(FirstBuild::partition(section)).page_size(10);
    let plan = query.plan()?;
    let page = query.page().await?;
    let mut expected: Vec<FirstBuild> =
        index.section(section).filter(|build| build.number == 1).map(FirstBuild::from).collect();
    expected.sort_by(|left, right| right.built.cmp(&left.built).then(left.package.cmp(&right.package)));
    expected.truncate(10);
    assert!(page.items.iter().map(Versioned::value).eq(&expected));

    let mut answer = Grid::new(["Section", "Package", "Version", "Built"]);
    for build in &expected {
        answer.row([&build.section, &build.package, &build.version, &build.built.to_string()]);
    }
    Ok(Report::new(plan, answer))
}
