//! Builds of Debian packages, the larger input of the cookbook.

use chrono::{DateTime, Utc};
use table_core::{Entity, Projection};

/// A build of a package, in the partition of its section. A section name such as `non-free/libs` is escaped. Example key: (`libs`, `build_zlib1g_000007`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "PackageBuilds")]
#[partition_key(escaped(section))]
#[row_key("build_", package, "_", number)]
pub struct Build {
    /// The name of the section.
    pub section: String,
    /// The name of the package. Debian's rules do not allow a `_` in it.
    #[without('_')]
    pub package: String,
    /// The build number within its package, counted from 1.
    #[digits(7)]
    pub number: u32,
    /// The version of the package.
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

/// The property shown in a list of builds.
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
    /// The name of the section.
    pub section: String,
    /// The number of builds in the section.
    pub builds: i64,
}

/// The first build of a package, in the log of its section (PAT-LOG).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "PackageLog")]
#[partition_key(escaped(section))]
#[row_key(desc(built), "_", package)]
pub struct FirstBuild {
    /// The name of the section.
    pub section: String,
    /// The time of the build.
    pub built: DateTime<Utc>,
    /// The name of the package.
    pub package: String,
    /// The version of the package.
    pub version: String,
}

/// A record of the last complete import into a table.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Imports")]
#[partition_key(table)]
#[row_key("import")]
pub struct Import {
    /// The name of the table.
    pub table: String,
    /// A description of the source of the imported rows, with a hash of the packages.
    pub source: String,
    /// The number of imported builds.
    pub builds: i64,
}
