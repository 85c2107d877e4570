//! Imports the builds into their tables, unless an earlier run has already imported them.

use std::error::Error;
use std::io::Write;

use table_core::{IfMatch, TableStoreExt};

use crate::grid::thousands;
use crate::import::{import, import_many};
use crate::large::PackageIndex;
use crate::model::packages::{Build, FirstBuild, Import, Section};
use crate::store::Store;

/// Writes the builds, the log and the sections. If the tables contain a different number of builds, or builds of other packages, they are dropped first.
///
/// # Errors
/// Any error from the store or the output.
pub async fn import_index(
    index: &PackageIndex,
    store: &Store,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let marker = Import {
        table: "PackageBuilds".to_owned(),
        source: format!("{}, packages {:016x}", index.source(), index.hash()),
        builds: i64::try_from(index.len())?,
    };
    let imports = store.unmetered().table::<Import>().create_if_missing().await?;
    let done = imports.get(Import::key("PackageBuilds")).await?;
    if done.as_ref().is_some_and(|done| **done == marker) {
        writeln!(out, "  {} builds are there already", thousands(index.len()))?;
        return Ok(());
    }
    // IMPORTANT: the marker is deleted first, because an interrupted import leaves tables that do not match it.
    if done.is_some() {
        imports.delete(Import::key("PackageBuilds"), IfMatch::Any).await?;
    }
    store.unmetered().table::<Build>().delete_table().await?;
    store.unmetered().table::<FirstBuild>().delete_table().await?;
    store.unmetered().table::<Section>().delete_table().await?;
    let first_builds = || index.builds().filter(|build| build.number == 1).map(FirstBuild::from);
    import_many::<Build, _>(store, "builds", index.builds_interleaved().map(Build::from), index.len(), out)
        .await?;
    import_many::<FirstBuild, _>(store, "log of builds", first_builds(), first_builds().count() as u64, out)
        .await?;
    import::<Section, _>(store, "sections", sections(index), out).await?;
    imports.insert_or_replace(&marker).await?;
    Ok(())
}

fn sections(index: &PackageIndex) -> Vec<Section> {
    let section = |(section, builds): (&str, u64)| Section {
        section: section.to_owned(),
        builds: i64::try_from(builds).unwrap_or(i64::MAX),
    };
    index.sections().map(section).collect()
}
