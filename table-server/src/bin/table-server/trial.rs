//! What a program can be tried against: throttling, distance, misbehaviour.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use table_core::Clock;
use table_core::embedded::Faults;
use table_server::{Account, Throttle};

/// Options of the program.
#[derive(Debug, Args)]
pub(crate) struct Trial {
    /// Answer 503 `ServerBusy` beyond targets: `published` are those of the service, 2,000 entities a second in a partition and 20,000
    /// requests a second in the account.
    #[arg(long)]
    throttle: Option<Targets>,
    /// Send each answer so many milliseconds later.
    #[arg(long, default_value_t = 0)]
    latency: u64,
    /// Misbehave: a list of busy=N (every n-th call is refused), lose=N (every n-th write is done and answered with a 500), empty=N
    /// (every n-th page is empty), page=N (entities of a page at most), partition-pages (a page ends with its partition).
    #[arg(long, value_name = "FAULT,…", default_value = "")]
    faults: FaultList,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Targets {
    Published,
}

impl Trial {
    pub(crate) const fn latency(&self) -> Duration {
        Duration::from_millis(self.latency)
    }

    pub(crate) const fn faults(&self) -> Faults {
        self.faults.0
    }

    /// The account, held to the targets if that was asked for.
    pub(crate) fn throttled(&self, account: Account) -> Account {
        match self.throttle {
            Some(Targets::Published) => account.throttled(Throttle::published(Clock::default())),
            None => account,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct FaultList(Faults);

impl FromStr for FaultList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut faults = Faults::default();
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
        assert_eq!(faults(""), Ok(Faults::default()));
        let some = Faults {
            busy_every: NonZeroU32::new(10),
            page_entities: NonZeroUsize::new(7),
            partition_pages: true,
            ..Faults::default()
        };
        assert_eq!(faults("busy=10,page=7,partition-pages"), Ok(some));
        for wrong in ["busy", "busy=0", "busy=x", "slow=1", "partition-pages=1"] {
            assert!(faults(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }
}
