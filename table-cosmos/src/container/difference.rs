//! Differences between a container and the options of its store for which it is not refused.

use std::fmt;

use azure_data_cosmos::models::ThroughputProperties;

/// What of a container is not as the [options](crate::Options) say. Other paths, kinds, versions and a time to live are refused when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// It has another throughput: [`Options::throughput`](crate::Options::throughput) creates containers and changes none.
    Throughput {
        /// Request units a second that the options say.
        asked: u64,
        /// What it has.
        found: Throughput,
    },
}

/// The throughput of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Throughput {
    /// So many request units a second.
    Manual(u64),
    /// At most so many, by need.
    Autoscale(u64),
    /// Its database's, or that of an account without servers of its own.
    Shared,
}

impl Throughput {
    pub(super) fn of(found: Option<&ThroughputProperties>) -> Self {
        let manual = found.and_then(ThroughputProperties::throughput).map(Self::Manual);
        let autoscale = || found.and_then(ThroughputProperties::autoscale_maximum).map(Self::Autoscale);
        // What scales by need also says a number, that of the moment.
        autoscale().or(manual).unwrap_or(Self::Shared)
    }
}

impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual(units) => write!(f, "{units} request units a second"),
            Self::Autoscale(most) => write!(f, "up to {most} request units a second, by need"),
            Self::Shared => f.write_str("the throughput of its database"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Throughput { asked, found } = self;
        write!(
            f,
            "the container has {found}, and the store was opened for {asked}: change the container's throughput, or the option"
        )
    }
}
