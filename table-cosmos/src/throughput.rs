//! Container throughput: fixed, autoscaled or shared.

use std::fmt;

use azure_data_cosmos::models::ThroughputProperties;

/// The throughput of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Throughput {
    /// A fixed number of request units per second.
    Manual(u64),
    /// Autoscaled throughput, up to the given number of request units per second.
    Autoscale(u64),
    /// Throughput shared by the database or provided by a serverless account.
    Shared,
}

impl Throughput {
    pub(crate) fn of(found: Option<&ThroughputProperties>) -> Self {
        let manual = found.and_then(ThroughputProperties::throughput).map(Self::Manual);
        let autoscale = || found.and_then(ThroughputProperties::autoscale_maximum).map(Self::Autoscale);
        // The description of an autoscaled throughput also contains the current number of request units.
        autoscale().or(manual).unwrap_or(Self::Shared)
    }
}

impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual(units) => write!(f, "{units} request units a second"),
            Self::Autoscale(most) => write!(f, "up to {most} request units a second, scaled automatically"),
            Self::Shared => f.write_str("the throughput of its database"),
        }
    }
}
