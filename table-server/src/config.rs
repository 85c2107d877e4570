//! The configuration of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use table_core::{Error, Result};

use crate::account::Account;
use crate::bearer::Bearer;
use crate::fault::ServerFault;
use crate::limits::ServerLimits;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::transport::Transport;

/// The configuration of a server: addresses, accounts and limits.
#[derive(Debug)]
pub struct Config {
    /// The address of the table service.
    pub tables: SocketAddr,
    /// The address of the queue service.
    pub queues: SocketAddr,
    /// The address at which all blob requests are rejected with status 501.
    pub blobs: SocketAddr,
    /// The address of `/health`, `/ready`, `/metrics` and `POST /reset`, if they are served.
    pub observe: Option<SocketAddr>,
    /// The delay added to each response, to simulate a distant region.
    pub latency: Duration,
    /// The accounts to serve.
    pub accounts: Vec<Account>,
    /// Limits on connections and requests.
    pub limits: ServerLimits,
    /// `true` to serve accounts with the emulator's well-known key to other machines. Unsigned bearer tokens remain limited to loopback.
    pub public_key_anywhere: bool,
    /// The accepted bearer tokens, if any. They require HTTPS.
    pub bearer: Option<Bearer>,
    /// The certificate for HTTPS, or `None` for plain HTTP. [`observe`](Self::observe) always uses HTTP.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
}

impl Config {
    /// Configures one account on the default ports of the storage emulator, reachable only from this machine (AUTH-30).
    #[must_use]
    pub fn on_loopback(account: Account) -> Self {
        Self::listening_on(IpAddr::V4(Ipv4Addr::LOCALHOST), vec![account])
    }

    /// Configures accounts on the default ports of the storage emulator, at the given address.
    #[must_use]
    pub fn listening_on(address: IpAddr, accounts: Vec<Account>) -> Self {
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
            bearer: None,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Lets the operating system choose the ports.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        for address in
            [&mut self.tables, &mut self.queues, &mut self.blobs].into_iter().chain(&mut self.observe)
        {
            address.set_port(0);
        }
        self
    }

    /// Returns the transport for requests: HTTPS if a certificate is set, otherwise HTTP.
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

    /// Rejects a configuration that would let other machines authenticate with credentials that anyone can create.
    ///
    /// # Errors
    /// `InvalidInput` if other machines could use the public key or unsigned tokens.
    pub(crate) fn check(&self) -> Result<()> {
        let is_local =
            [self.tables, self.queues, self.blobs].iter().all(|address| address.ip().is_loopback());
        if is_local {
            return Ok(());
        }
        if self.bearer.as_ref().is_some_and(Bearer::is_unsigned) {
            return Err(Error::of(ServerFault::Unsigned));
        }
        let public = self.accounts.iter().find(|account| account.key.is_public());
        match public.filter(|_| !self.public_key_anywhere) {
            Some(account) => Err(Error::of(ServerFault::Exposed(account.name().to_owned()))),
            None => Ok(()),
        }
    }
}
