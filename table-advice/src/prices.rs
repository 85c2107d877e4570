//! User-defined prices of requests and bytes.

use serde::Deserialize;
use table_core::{Error, Result};

use crate::fault::WorkloadFault;

/// The prices of a service. They are set by the user, because they differ by region and change over time.
///
/// ```
/// use table_advice::Prices;
///
/// let prices = Prices::from_json(r#"{ "currency": "USD", "per_10k_reads": 0.00036, "per_10k_writes": 0.00036 }"#)?;
/// assert_eq!(prices.of(0.0, 10_000_000.0, 0.0), 0.36);
/// assert!(Prices::from_json(r#"{ "currency": "USD", "per_10k_reads": -1, "per_10k_writes": 0 }"#).is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The name of the currency.
    pub currency: String,
    /// The price of 10,000 read requests.
    pub per_10k_reads: f64,
    /// The price of 10,000 write requests.
    pub per_10k_writes: f64,
    /// The price of one GiB of returned entities.
    #[serde(default)]
    pub per_gib_read: f64,
}

impl Prices {
    /// Parses prices from JSON.
    ///
    /// # Errors
    /// `InvalidWorkload` if the string is not JSON with these fields, or if a price is negative or not a number.
    pub fn from_json(text: &str) -> Result<Self> {
        let prices: Self =
            serde_json::from_str(text).map_err(|error| Error::of(WorkloadFault::Prices(error)))?;
        prices.check()?;
        Ok(prices)
    }

    pub(super) fn check(&self) -> Result<()> {
        for rate in [self.per_10k_reads, self.per_10k_writes, self.per_gib_read] {
            if !(rate.is_finite() && rate >= 0.0) {
                return Err(Error::of(WorkloadFault::Price(rate)));
            }
        }
        Ok(())
    }

    /// Returns the total price of the given numbers of read requests, write requests, and returned bytes.
    #[must_use]
    pub fn of(&self, reads: f64, writes: f64, bytes_read: f64) -> f64 {
        (reads * self.per_10k_reads + writes * self.per_10k_writes) / 10_000.0
            + bytes_read / (1024.0 * 1024.0 * 1024.0) * self.per_gib_read
    }
}
