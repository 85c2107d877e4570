//! The Azurite of a run, and how busy it is.

use std::time::{Duration, Instant};

use tests::azurite::AzuriteServer;

use crate::Outcome;

/// A running Azurite.
#[derive(Debug)]
pub struct Server(AzuriteServer);

/// What the server's one thread for requests did so far.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    at: Instant,
    /// It was running.
    ran: Duration,
    /// It could have been running, and had no core.
    waited: Duration,
}

/// What it did in a while, as parts of that while.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// It was running.
    pub ran: f64,
    /// It was running or waiting for a core: at 1 it is the limit.
    pub wanted: f64,
}

impl Server {
    /// Starts one.
    pub fn start() -> Outcome<Self> {
        Ok(Self(AzuriteServer::start()?))
    }

    /// Its connection string.
    #[must_use]
    pub fn connection_string(&self) -> String {
        self.0.connection_string()
    }

    /// The host and port of its table service.
    pub fn address(&self) -> Outcome<String> {
        let text = self.connection_string();
        let (_, rest) = text.split_once("TableEndpoint=http://").ok_or("no table service")?;
        Ok(rest.split('/').next().unwrap_or_default().to_owned())
    }

    /// What it did so far; requests are all served by its first thread.
    pub fn load(&self) -> Outcome<Load> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.0.process_id()))?;
        let mut fields = text.split_whitespace().map(|field| field.parse().map(Duration::from_nanos));
        let mut next = || fields.next().ok_or("a short schedstat");
        Ok(Load { at: Instant::now(), ran: next()??, waited: next()?? })
    }
}

impl Load {
    /// What was done since an earlier look.
    #[must_use]
    pub fn since(self, earlier: Self) -> Share {
        let all = (self.at - earlier.at).as_secs_f64().max(1e-9);
        let ran = self.ran.saturating_sub(earlier.ran).as_secs_f64();
        let waited = self.waited.saturating_sub(earlier.waited).as_secs_f64();
        Share { ran: ran / all, wanted: (ran + waited) / all }
    }
}
