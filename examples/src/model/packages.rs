//! Builds of Debian packages: the larger input.

use chrono::{DateTime, Utc};
use table_core::{Entity, Projection};

/// A build of a package, in the partition of its section. Sections such as `non-free/libs` are escaped. Example key: (`libs`, `build_zlib1g_000007`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "PackageBuilds")]
#[partition_key(escaped(section))]
#[row_key("build_", package, "_", number)]
pub struct Build {
    /// The section.
    pub section: String,
    /// The package. By Debian's rules, its name cannot contain a `_`.
    #[without('_')]
    pub package: String,
    /// The number of the build, counted from 1.
    #[digits(7)]
    pub number: u32,
    /// The version.
    pub version: String,
    /// The architecture.
    pub architecture: String,
    /// The installed size in KiB.
    pub installed_size: i64,
    /// The maintainer.
    pub maintainer: String,
    /// The time of the build.
    pub built: DateTime<Utc>,
}

/// The properties in a list of builds.
#[derive(Projection, Clone, Debug, PartialEq, Eq)]
#[projection(of = Build)]
pub struct BuildSize {
    /// The installed size in KiB.
    pub installed_size: i64,
}

/// A section, in the same partition as its builds. Example key: (`libs`, `section`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "PackageBuilds")]
#[partition_key(escaped(section))]
#[row_key("section")]
pub struct Section {
    /// The section.
    pub section: String,
    /// The number of builds.
    pub builds: i64,
}

/// The first build of a package, in the log of its section (PAT-LOG).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "PackageLog")]
#[partition_key(escaped(section))]
#[row_key(desc(built), "_", package)]
pub struct FirstBuild {
    /// The section.
    pub section: String,
    /// The time of the build.
    pub built: DateTime<Utc>,
    /// The package.
    pub package: String,
    /// The version.
    pub version: String,
}

/// A marker of the last complete import into a table.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Imports")]
#[partition_key(table)]
#[row_key("import")]
pub struct Import {
    /// The table.
    pub table: String,
    /// The source of the rows.
    pub source: String,
    /// The number of builds.
    pub builds: i64,
}
