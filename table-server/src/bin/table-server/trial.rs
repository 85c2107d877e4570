//! Flags for testing client programs: throttling, latency and injected faults.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use table_core::Clock;
use table_core::embedded::FaultInjection;
use table_server::{Account, Throttle};

use crate::file::File;

/// The program's flags for testing clients.
#[derive(Debug, Args)]
pub(crate) struct Trial {
    /// Send 503 `ServerBusy` above the service's targets: 2,000 entities per second in a partition, 2,000 messages per second in a queue, 20,000 requests per
    /// second in the account.
    #[arg(long, env = "TABLE_SERVER_THROTTLE", value_enum)]
    throttle: Option<Targets>,
    /// Delay each response by the given number of milliseconds.
    #[arg(long, env = "TABLE_SERVER_LATENCY", value_name = "MILLISECONDS")]
    latency: Option<u64>,
    /// Inject faults, a list of busy=N (every Nth call is refused), lose=N (every Nth write is applied and answered with 500), empty=N
    /// (every Nth page is empty), page=N (at most N entities a page), partition-pages (a page never continues into the next partition).
    #[arg(long, env = "TABLE_SERVER_FAULTS", value_name = "FAULT,…")]
    faults: Option<FaultList>,
}

/// The targets above which requests are throttled.
#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Targets {
    /// The service's published targets.
    Published,
}

impl Trial {
    pub(crate) fn latency(&self, file: &File) -> Duration {
        Duration::from_millis(self.latency.or(file.latency).unwrap_or_default())
    }

    pub(crate) fn faults(&self, file: &File) -> FaultInjection {
        self.faults.or(file.faults).unwrap_or_default().0
    }

    /// Adds throttling to the account if the flags or the file request it.
    pub(crate) fn throttled(&self, account: Account, file: &File) -> Account {
        match self.throttle.or(file.throttle) {
            Some(Targets::Published) => account.throttled(Throttle::published(Clock::default())),
            None => account,
        }
    }
}

/// The faults to inject, parsed from a flag or the configuration file.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct FaultList(FaultInjection);

impl TryFrom<String> for FaultList {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for FaultList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut faults = FaultInjection::default();
        for fault in text.split(',').filter(|fault| !fault.is_empty()) {
            let (name, number) = fault.split_once('=').unwrap_or((fault, ""));
            let bad = || format!("`{fault}` is not one of busy=N, lose=N, empty=N, page=N, partition-pages");
            let every = || number.parse::<NonZeroU32>().map(Some).map_err(|_| bad());
            match name {
                "busy" => faults.busy_every = every()?,
                "lose" => faults.lose_answer_every = every()?,
                "empty" => faults.empty_page_every = every()?,
                "page" => {
                    faults.page_entities = number.parse::<NonZeroUsize>().map(Some).map_err(|_| bad())?;
                }
                "partition-pages" if number.is_empty() => faults.partition_pages = true,
                _ => return Err(bad()),
            }
        }
        Ok(Self(faults))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_faults() {
        let faults = |text: &str| text.parse::<FaultList>().map(|list| list.0);
        assert_eq!(faults(""), Ok(FaultInjection::default()));
        let some = FaultInjection {
            busy_every: NonZeroU32::new(10),
            page_entities: NonZeroUsize::new(7),
            partition_pages: true,
            ..FaultInjection::default()
        };
        assert_eq!(faults("busy=10,page=7,partition-pages"), Ok(some));
        for wrong in ["busy", "busy=0", "busy=x", "slow=1", "partition-pages=1"] {
            assert!(faults(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }
}
