//! Two types in one partition. The row of a section is stored among the builds of the section. Its properties distinguish it.

use table_core::{Entity, Result, TableEntity, TableStoreExt, Value};

use crate::grid::{Grid, thousands};
use crate::large::PackageIndex;
use crate::large::recipes::middling_section;
use crate::model::packages::{Build, Section};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const HETEROGENEOUS: Recipe<PackageIndex> = Recipe {
    name: "large-heterogeneous",
    question: "Which rows of the partition of a section are not builds?",
    schema: Section::SCHEMA,
    run: |store, index| Box::pin(heterogeneous(store, index)),
};

async fn heterogeneous(store: &Store, index: &PackageIndex) -> Result<Report> {
    let section = middling_section(index);
    let builds = store.table::<Build>();
    let query = builds.query(Build::partition(section)).project::<TableEntity>();
    // Every build has a `Version`. A row without one has another type, and `not` matches it (FIL-12).
    let query = query.filter(!Build::VERSION.ge(""));
    let plan = query.plan()?;
    let found = query.collect().await?;

    let expected = index.sections().find(|(name, _)| *name == section).map(|(_, builds)| builds);
    assert_eq!(found.len(), 1);
    let Some(Value::Int64(said)) = found[0].get("Builds") else {
        panic!("a section says how many builds it has")
    };
    assert_eq!(u64::try_from(*said).ok(), expected);
    let typed = store.table::<Section>().get(Section::key(section)).await?;
    assert_eq!(typed.map(|section| section.builds), Some(*said));

    let mut answer = Grid::new(["PartitionKey", "RowKey", "#Builds"]);
    let key = found[0].key();
    answer.row([key.partition_key.as_str(), key.row_key.as_str(), &thousands(said.unsigned_abs())]);
    Ok(Report::new(plan, answer))
}
