//! What a server is started with.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::account::Account;
use crate::limits::ServerLimits;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::transport::Transport;

/// What a server is started with: addresses, accounts, limits.
#[derive(Debug)]
pub struct Config {
    /// Where tables are served.
    pub tables: SocketAddr,
    /// Where queues are served.
    pub queues: SocketAddr,
    /// Where requests for blobs are refused with a 501 that says so.
    pub blobs: SocketAddr,
    /// The address of health, readiness and metrics, if they are served: `/health`, `/ready`, `/metrics`.
    pub observe: Option<SocketAddr>,
    /// How much later each answer is sent, so that a program can be tried at the distance of another region.
    pub latency: Duration,
    /// The accounts.
    pub accounts: Vec<Account>,
    /// Bounds on requests.
    pub limits: ServerLimits,
    /// Whether accounts with the emulator's public key may be served to other machines.
    pub public_key_anywhere: bool,
    /// A certificate, if requests come over HTTPS; health, readiness and metrics do not.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
}

impl Config {
    /// One account on this machine alone, at the emulator's ports (AUTH-30).
    #[must_use]
    pub fn on_loopback(account: Account) -> Self {
        Self::at(IpAddr::V4(Ipv4Addr::LOCALHOST), vec![account])
    }

    /// Accounts at an address, at the emulator's ports.
    #[must_use]
    pub fn at(address: IpAddr, accounts: Vec<Account>) -> Self {
        let at = |port| SocketAddr::new(address, port);
        Self {
            tables: at(10_002),
            queues: at(10_001),
            blobs: at(10_000),
            observe: None,
            latency: Duration::ZERO,
            accounts,
            limits: ServerLimits::default(),
            public_key_anywhere: false,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// The same at ports that the system chooses.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        for address in
            [&mut self.tables, &mut self.queues, &mut self.blobs].into_iter().chain(&mut self.observe)
        {
            address.set_port(0);
        }
        self
    }

    /// What carries requests.
    #[cfg_attr(
        not(feature = "tls"),
        expect(clippy::unused_self, reason = "without the feature there is one transport")
    )]
    pub(crate) fn transport(&self) -> Transport {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return Transport::Secure(tls.clone());
        }
        Transport::Plain
    }

    /// An account whose public key would be served beyond this machine.
    pub(crate) fn exposed(&self) -> Option<&Account> {
        let local = [self.tables, self.queues, self.blobs].iter().all(|address| address.ip().is_loopback());
        let exposed = !local && !self.public_key_anywhere;
        self.accounts.iter().find(|account| exposed && account.key.is_public())
    }
}
