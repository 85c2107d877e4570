//! Connections that have not sent an authenticated request. Only a few are allowed, each for a short time.
//!
//! Any client that can reach the port can open a connection. Until its first authenticated request, a connection is called a guest. A guest must not displace a
//! connection with authenticated requests, and many guests from one address must not displace connections from other addresses.

mod pace;

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use pace::Pace;

/// The open guests, and the limits on how many may be open.
#[derive(Debug)]
pub(crate) struct Guests {
    /// The maximum number of guests. If it would be exceeded, the oldest guest in the network with the most guests is closed.
    most: usize,
    /// The maximum number of authenticated connections.
    most_verified: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    /// The number of authenticated connections.
    verified: usize,
    next: u64,
    /// The guests from each client network.
    networks: HashMap<IpAddr, Network>,
}

#[derive(Debug, Default)]
struct Network {
    /// The guests, oldest first, each with the signal that closes it.
    guests: BTreeMap<u64, Arc<Notify>>,
    pace: Pace,
}

impl Guests {
    pub(crate) fn new(most: usize, most_verified: usize) -> Arc<Self> {
        Arc::new(Self { most, most_verified, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection as a guest. If the limit is reached, closes older guests first.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Guest {
        let network = network(address);
        let evicted = Arc::new(Notify::new());
        let mut open = self.open();
        while open.count >= self.most.max(1) {
            open.evict();
        }
        let number = open.next;
        open.next += 1;
        open.count += 1;
        open.networks.entry(network).or_default().guests.insert(number, Arc::clone(&evicted));
        Guest {
            guests: Arc::clone(self),
            network,
            number,
            is_verified: AtomicBool::new(false),
            work: AtomicU32::new(0),
            may_read: AtomicBool::new(true),
            evicted,
        }
    }

    /// Closes a guest connection to free its file descriptor. Returns `false` if no guest is open.
    pub(crate) fn evict(&self) -> bool {
        self.open().evict()
    }
}

impl Open {
    /// Closes the oldest guest in the network with the most guests. Returns `false` if no guest is open.
    fn evict(&mut self) -> bool {
        let most = self.networks.iter().max_by_key(|(_, own)| own.guests.len());
        let oldest = most.and_then(|(network, own)| Some((*network, *own.guests.keys().next()?)));
        let Some((network, number)) = oldest else {
            self.count = 0;
            return false;
        };
        if let Some(evicted) = self.remove(network, number) {
            evicted.notify_one();
        }
        true
    }

    fn remove(&mut self, network: IpAddr, number: u64) -> Option<Arc<Notify>> {
        let own = self.networks.get_mut(&network)?;
        let removed = own.guests.remove(&number);
        if own.guests.is_empty() {
            self.networks.remove(&network);
        }
        self.count -= usize::from(removed.is_some());
        removed
    }
}

/// Returns the network of an address. For IPv6, this is the /64 network, because one client may control all addresses in it. For IPv4, it is the address
/// itself.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// A connection that is a guest until its first authenticated request. It counts toward the limits until this value is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    guests: Arc<Guests>,
    network: IpAddr,
    number: u64,
    /// `true` if the connection is no longer a guest: a request on it has been authenticated, and it counts toward the limit on authenticated connections.
    is_verified: AtomicBool,
    /// The units of work that have not yet been charged to the network.
    work: AtomicU32,
    /// `true` if the connection may still read in the current turn.
    may_read: AtomicBool,
    evicted: Arc<Notify>,
}

impl Guest {
    /// Records that a request on the connection was authenticated, so the connection is no longer a guest. Returns `false` if it remains a guest, because the
    /// limit on authenticated connections has been reached or because it was evicted; the request must then be rejected.
    pub(crate) fn verified(&self) -> bool {
        if self.is_verified() {
            return true;
        }
        let mut open = self.guests.open();
        if open.verified < self.guests.most_verified && open.remove(self.network, self.number).is_some() {
            open.verified += 1;
            self.is_verified.store(true, Ordering::Relaxed);
        }
        self.is_verified()
    }

    /// Completes when the connection must be closed, because it was evicted or is still a guest after `first_request`.
    pub(crate) async fn expired(&self, first_request: Duration) {
        tokio::select! {
            () = self.evicted.notified() => return,
            () = tokio::time::sleep(first_request) => {}
        }
        if self.is_verified() {
            self.evicted.notified().await;
        }
    }

    /// Returns `true` once a request has been authenticated and the connection counts toward the limit on authenticated connections.
    pub(crate) fn is_verified(&self) -> bool {
        self.is_verified.load(Ordering::Relaxed)
    }

    /// Adds units of work done by the connection.
    pub(crate) fn work(&self, units: u32) {
        let sum = |work: u32| Some(work.saturating_add(units));
        // The closure always returns a value, so this never fails.
        let _ = self.work.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }

    /// Returns the units of work added since the last call.
    pub(crate) fn take_work(&self) -> u32 {
        self.work.swap(0, Ordering::Relaxed)
    }

    /// Starts a turn, in which the connection may read once.
    pub(crate) fn begin_turn(&self) {
        self.may_read.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the connection has not yet read in the current turn.
    pub(crate) fn may_read(&self) -> bool {
        self.may_read.load(Ordering::Relaxed)
    }

    /// Prevents further reads in this turn.
    pub(crate) fn end_reads(&self) {
        self.may_read.store(false, Ordering::Relaxed);
    }

    /// Charges units of work to the connection's network. Returns the end of the pause that must follow, if any.
    pub(crate) fn charge(&self, units: u32) -> Option<Instant> {
        let mut open = self.guests.open();
        let networks = open.networks.len();
        open.networks.get_mut(&self.network)?.pace.charge(units, networks, Instant::now())
    }

    /// Returns the signal that closes the connection.
    pub(crate) fn eviction(&self) -> &Arc<Notify> {
        &self.evicted
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = self.guests.open();
        if self.is_verified() {
            open.verified -= 1;
        } else {
            open.remove(self.network, self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(60 * 60);

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    async fn is_evicted(guest: &Guest) -> bool {
        tokio::select! {
            biased;
            () = guest.expired(LONG) => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn the_oldest_guest_of_the_address_with_most_guests_is_closed() {
        let guests = Guests::new(4, 8);
        let other = guests.enter(address(1));
        let many: Vec<_> = (0..3).map(|_| guests.enter(address(2))).collect();
        let late = guests.enter(address(3));
        assert!(is_evicted(&many[0]).await && !is_evicted(&many[1]).await);
        let later = guests.enter(address(3));
        assert!(is_evicted(&many[1]).await);
        for guest in [&other, &many[2], &late, &later] {
            assert!(!is_evicted(guest).await);
        }
    }

    #[tokio::test]
    async fn a_verified_connection_is_never_closed_for_another() {
        let guests = Guests::new(2, 8);
        let known = guests.enter(address(1));
        assert!(known.verified() && known.verified());
        let strangers: Vec<_> = (0..10).map(|_| guests.enter(address(1))).collect();
        assert!(!is_evicted(&known).await);
        drop((known, strangers));
        let open = guests.open();
        assert_eq!((open.verified, open.count), (0, 0));
        assert!(open.networks.is_empty());
    }

    #[tokio::test]
    async fn beyond_the_connection_limit_a_connection_stays_a_guest() {
        let guests = Guests::new(1, 1);
        let first = guests.enter(address(1));
        assert!(first.verified());
        let second = guests.enter(address(1));
        assert!(!second.verified() && !second.is_verified());
        let third = guests.enter(address(1));
        assert!(!is_evicted(&first).await && is_evicted(&second).await && !is_evicted(&third).await);
        assert!(!third.verified());
        drop(first);
        // An evicted connection is never promoted, even if the limit allows another authenticated connection.
        assert!(!second.verified() && third.verified());
    }

    #[tokio::test(start_paused = true)]
    async fn a_guest_without_a_verified_request_expires() {
        let guests = Guests::new(2, 2);
        let silent = guests.enter(address(1));
        silent.expired(Duration::from_secs(10)).await;
        let known = guests.enter(address(1));
        assert!(known.verified());
        let ended = tokio::time::timeout(LONG, known.expired(Duration::from_secs(10))).await;
        assert!(ended.is_err());
    }

    #[test]
    fn addresses_of_one_network_count_as_one_sender() {
        let [a, b, c] = ["2001:db8::1", "2001:db8::2:0:0:1", "2001:db8:0:1::1"]
            .map(|text| network(text.parse().unwrap()));
        assert!(a == b && a != c);
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), address(1));
    }
}
