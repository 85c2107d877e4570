//! The second, larger input of the cookbook: any number of builds of Debian packages.
//!
//! The builds are generated from the package index of the machine. If it has none, a seeded generator creates an index. The same index and the same number of
//! builds always produce the same builds. A recipe can therefore generate them again to compute its expected result.

pub mod debian;
pub mod import;
pub mod recipes;
pub mod seeded;

use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Duration, Utc};

use crate::model::packages::{Build, FirstBuild};

/// The maximum number of builds.
pub const MOST: u64 = 10_000_000;
const LANES: u64 = 16;

/// One package in a package index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Package {
    /// The section of the package, such as `libs` or `non-free/libs`. It may contain a slash.
    pub section: String,
    /// The name of the package, which consists of lower-case letters, digits, `+`, `-` and `.`.
    pub name: String,
    /// The version, such as `1:2.0-3`.
    pub version: String,
    /// The architecture, such as `amd64` or `all`.
    pub architecture: String,
    /// The installed size in KiB.
    pub installed_size: i64,
    /// The maintainer.
    pub maintainer: String,
}

/// One build of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageBuild<'a> {
    /// The package that was built.
    pub package: &'a Package,
    /// The build number within its package, counted from 1.
    pub number: u32,
    /// The time of the build.
    pub built: DateTime<Utc>,
    /// The installed size in KiB. It grows with each build of the package.
    pub installed_size: i64,
}

impl From<PackageBuild<'_>> for Build {
    fn from(build: PackageBuild<'_>) -> Self {
        let package = build.package.clone();
        Self {
            section: package.section,
            package: package.name,
            number: build.number,
            version: package.version,
            architecture: package.architecture,
            installed_size: build.installed_size,
            maintainer: package.maintainer,
            built: build.built,
        }
    }
}

impl From<PackageBuild<'_>> for FirstBuild {
    fn from(build: PackageBuild<'_>) -> Self {
        let package = build.package.clone();
        Self { section: package.section, built: build.built, package: package.name, version: package.version }
    }
}

/// A package index, and the number of builds to generate from it.
#[derive(Clone, Debug)]
pub struct PackageIndex {
    source: String,
    packages: Vec<Package>,
    builds: u64,
}

impl PackageIndex {
    /// Returns the package index of this machine, or a generated index if the machine has none.
    #[must_use]
    pub fn of_machine(builds: u64) -> Self {
        match debian::load() {
            Some((source, packages)) => Self::new(source, packages, builds),
            None => Self::seeded(builds),
        }
    }

    /// Returns a generated index, which is the same on every machine.
    #[must_use]
    pub fn seeded(builds: u64) -> Self {
        Self::new("seeded generator".to_owned(), seeded::packages(60_000, 2014), builds)
    }

    fn new(source: String, mut packages: Vec<Package>, builds: u64) -> Self {
        // Packages are sorted by their row keys, in which `_` follows the name. `zlib_` sorts after `zlib+x_`, because `+` is less than `_`.
        packages.sort_by_cached_key(|package| (package.section.clone(), format!("{}_", package.name)));
        packages.dedup_by(|left, right| (&left.section, &left.name) == (&right.section, &right.name));
        // Each package has about ten builds. If only a few builds are requested, some packages have none.
        let wanted = usize::try_from(builds / 10).unwrap_or(usize::MAX).max(1);
        let step = (packages.len() / wanted).max(1);
        let packages: Vec<Package> = packages.into_iter().step_by(step).collect();
        let builds = if packages.is_empty() { 0 } else { builds.min(MOST) };
        Self { source, packages, builds }
    }

    /// Returns a description of the source of the packages.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns a hash of the packages. Indexes with the same hash and the same number of builds produce the same builds.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.packages.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the total number of builds.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.builds
    }

    /// Returns `true` if the number of builds is zero.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.builds == 0
    }

    /// Returns all builds, ordered by section, package and number.
    pub fn builds(&self) -> impl Iterator<Item = PackageBuild<'_>> {
        (0..self.builds).map(|rank| self.build(rank))
    }

    /// Returns all builds in an interleaved order: one build from each of sixteen parts in turn. Consecutive builds are then in different partitions, and can
    /// be written concurrently.
    pub fn builds_interleaved(&self) -> impl Iterator<Item = PackageBuild<'_>> {
        let lane = self.builds.div_ceil(LANES);
        let ranks = (0..lane).flat_map(move |step| (0..LANES).map(move |nth| nth * lane + step));
        // The last parts may be shorter than the others, or empty.
        ranks.filter(|rank| *rank < self.builds).map(|rank| self.build(rank))
    }

    /// Returns the builds of one section, ordered by package and number.
    pub fn section<'a>(&'a self, section: &str) -> impl Iterator<Item = PackageBuild<'a>> + use<'a> {
        let first = self.packages.partition_point(|package| package.section.as_str() < section);
        let end = self.packages.partition_point(|package| package.section.as_str() <= section);
        (self.builds_before(first as u64)..self.builds_before(end as u64)).map(|rank| self.build(rank))
    }

    /// Returns each section that has builds, with the number of its builds. The sections are in order.
    pub fn sections(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut end = 0;
        let sections = self.packages.chunk_by(|left, right| left.section == right.section);
        let counted = sections.filter_map(move |packages| {
            let first = end;
            end += packages.len() as u64;
            Some((packages.first()?.section.as_str(), self.builds_before(end) - self.builds_before(first)))
        });
        counted.filter(|(_, builds)| *builds > 0)
    }

    /// Returns the number of builds before the first build of a package. The builds of a package are adjacent. The numbers of builds of two packages differ by
    /// at most one.
    fn builds_before(&self, package: u64) -> u64 {
        package * self.builds / (self.packages.len().max(1) as u64)
    }

    fn build(&self, rank: u64) -> PackageBuild<'_> {
        let at = ((rank + 1) * self.packages.len() as u64).div_ceil(self.builds) - 1;
        let number = rank - self.builds_before(at) + 1;
        build(&self.packages[usize::try_from(at).unwrap_or(usize::MAX)], at, number)
    }
}

fn build(package: &Package, at: u64, number: u64) -> PackageBuild<'_> {
    // The first builds of the packages are spread over the days of a year. Every later build of a package follows one day after the previous one.
    let minutes = seeded::scatter(at) % (365 * 24 * 60) + number * 24 * 60;
    let since = Duration::minutes(i64::try_from(minutes).unwrap_or(i64::MAX));
    PackageBuild {
        package,
        number: u32::try_from(number).unwrap_or(u32::MAX),
        built: DateTime::UNIX_EPOCH + Duration::days(50 * 365) + since,
        installed_size: package.installed_size + i64::try_from(number).unwrap_or(0),
    }
}
