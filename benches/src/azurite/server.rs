//! Starts Azurite and measures the load of the thread that handles its requests.

use std::time::{Duration, Instant};

use tests::azurite::AzuriteServer;

use crate::Outcome;

/// A running Azurite server.
#[derive(Debug)]
pub struct Server(AzuriteServer);

/// The running and waiting times of a server's request thread since it started.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    at: Instant,
    /// The time the thread was running.
    ran: Duration,
    /// The time the thread waited for a core.
    waited: Duration,
}

/// The load of a server's request thread during an interval.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The fraction of the interval during which the thread was running.
    pub ran: f64,
    /// The fraction of the interval for which the thread was running or waiting for a core. If it is 1, the thread is the bottleneck.
    pub wanted: f64,
}

impl Server {
    /// Starts an Azurite server.
    pub fn start() -> Outcome<Self> {
        Ok(Self(AzuriteServer::start()?))
    }

    /// Returns the connection string of the server.
    #[must_use]
    pub fn connection_string(&self) -> String {
        self.0.connection_string()
    }

    /// Returns the host and port of the table service.
    pub fn address(&self) -> Outcome<String> {
        let text = self.connection_string();
        let (_, rest) = text.split_once("TableEndpoint=http://").ok_or("no table service")?;
        Ok(rest.split('/').next().unwrap_or_default().to_owned())
    }

    /// Returns the load of the request thread, which is the first thread of the server's process.
    pub fn load(&self) -> Outcome<Load> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.0.process_id()))?;
        let mut fields = text.split_whitespace().map(|field| field.parse().map(Duration::from_nanos));
        let mut next = || fields.next().ok_or("a short schedstat");
        Ok(Load { at: Instant::now(), ran: next()??, waited: next()?? })
    }
}

impl Load {
    /// Returns the load during the interval that started at an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Share {
        let all = (self.at - earlier.at).as_secs_f64().max(1e-9);
        let ran = self.ran.saturating_sub(earlier.ran).as_secs_f64();
        let waited = self.waited.saturating_sub(earlier.waited).as_secs_f64();
        Share { ran: ran / all, wanted: (ran + waited) / all }
    }
}
