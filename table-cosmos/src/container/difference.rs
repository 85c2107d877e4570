//! Tolerated differences between a container and the options.

use std::fmt;

use crate::expiry::TimeToLive;
use crate::throughput::Throughput;
use crate::unique::write_paths;

/// A difference between a container and the [options](crate::Options) that does not prevent the use of the container.
///
/// Two differences do prevent its use, and cause an error instead: a different partition key, and items that can expire although the options do not allow this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The throughput differs. [`Options::throughput`](crate::Options::throughput) applies only to new containers.
    Throughput {
        /// The throughput in the options.
        asked: Throughput,
        /// The container's throughput.
        found: Throughput,
    },
    /// The indexing policy of the container treats a path differently from the policy of new containers.
    Indexing {
        /// The path.
        path: String,
        /// `true` if only the container indexes the path, which makes writes more expensive. `false` if only new containers index it. Queries that compare the
        /// value then also read items that do not match.
        indexed: bool,
    },
    /// The time to live differs. If the container does not have one, its items never expire.
    TimeToLive {
        /// The time to live in the options.
        asked: TimeToLive,
        /// The container's time to live.
        found: TimeToLive,
    },
    /// The container has a unique key. A write fails with [`UniqueViolation`](table_core::ErrorCode::UniqueViolation) if another item with the same partition
    /// key has the same values.
    ///
    /// A missing member counts as a value. Only one item per partition key may therefore lack all of these members.
    UniqueKey {
        /// The unique key's paths.
        paths: Vec<String>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throughput { asked, found } => write!(
                f,
                "the container has {found}, but the options request {asked}; change the throughput of the container, or the option"
            ),
            Self::TimeToLive { asked, found } => write!(
                f,
                "in the container {found}, but the options request that {asked}; change the time to live of the container, or the option"
            ),
            Self::UniqueKey { paths } => {
                f.write_str("the container refuses items that repeat the values of another item of their partition key at ")?;
                write_paths(f, paths)?;
                f.write_str(
                    ", also if both lack them; map these paths to properties of each entity, and keep no rows of patterns in the table",
                )
            }
            Self::Indexing { path, indexed: true } => write!(
                f,
                "the container indexes {path}, which no query uses and every write pays for; exclude it from the indexing policy"
            ),
            Self::Indexing { path, indexed: false } => write!(
                f,
                "the container does not index {path}, so queries that compare it also read items that do not match; include it in the indexing policy"
            ),
        }
    }
}
