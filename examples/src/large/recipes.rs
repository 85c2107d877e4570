//! The recipes for the larger input. They answer the same kinds of questions as the recipes for the first input.

mod heterogeneous;
mod keyed;
mod paged;
mod scans;
mod writes;

use crate::large::{PackageBuild, PackageIndex};
use crate::recipe::Recipe;

/// All recipes, in the order of the corresponding recipes for the first input.
pub const ALL: &[Recipe<PackageIndex>] = &[
    keyed::POINT,
    keyed::RANGE,
    scans::PARTITION_SCAN,
    scans::TABLE_SCAN,
    scans::FILTER,
    scans::PROJECTION,
    paged::PAGING,
    keyed::COMPOUND_KEY,
    paged::LOG_TAIL,
    writes::OPTIMISTIC_CONCURRENCY,
    writes::TRANSACTION,
    heterogeneous::HETEROGENEOUS,
];

/// Returns a build from the middle of the index, for recipes about a single build.
fn middle(index: &PackageIndex) -> PackageBuild<'_> {
    index.build(index.len() / 2)
}

/// Returns a section with a medium number of builds.
fn middling_section(index: &PackageIndex) -> &str {
    let mut sections: Vec<_> = index.sections().collect();
    sections.sort_by_key(|(_, builds)| *builds);
    sections.get(sections.len() / 2).map_or("", |(section, _)| section)
}
