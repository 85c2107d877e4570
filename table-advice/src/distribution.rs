//! Distributions of values in a workload.

use std::sync::Arc;

use table_core::{Error, Result};

use crate::fault::WorkloadFault;
use crate::random::{Random, real};

/// The maximum number of values in a [`Distribution::zipf`]. Each value uses eight bytes.
pub(super) const MOST_ZIPF_VALUES: u64 = 1_000_000;

/// A probability distribution over the values 0, 1, 2, … Cloning is cheap.
///
/// ```
/// use table_advice::Distribution;
///
/// let zipf = Distribution::zipf(100, 1.0)?; // the second value is half as frequent as the first
/// assert!((zipf.mass(0) / zipf.mass(1) - 2.0).abs() < 1e-9);
/// assert_eq!(Distribution::uniform(4)?.mass(3), 0.25);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Distribution(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Constant(u64),
    Uniform(u64),
    Sequence,
    /// The cumulative probabilities. The last one is 1.
    Zipf(Arc<[f64]>),
}

impl Distribution {
    /// Creates a distribution with a single value.
    #[must_use]
    pub const fn constant(value: u64) -> Self {
        Self(Kind::Constant(value))
    }

    /// Creates a distribution in which all values from 0 to `values - 1` are equally likely.
    ///
    /// # Errors
    /// `InvalidWorkload` if `values` is 0.
    pub fn uniform(values: u64) -> Result<Self> {
        Self::try_uniform(values).map_err(Error::of)
    }

    pub(super) fn try_uniform(values: u64) -> Result<Self, WorkloadFault> {
        check_values(values, u64::MAX)?;
        Ok(Self(Kind::Uniform(values)))
    }

    /// Creates a sequence. The value for an operation is the index of the operation within its pattern, starting at 0.
    #[must_use]
    pub const fn sequence() -> Self {
        Self(Kind::Sequence)
    }

    /// Creates a Zipf distribution. The frequency of value `k` is proportional to `1 / (k + 1) ^ exponent`.
    ///
    /// A few values are very frequent, as is typical of users, words and cities. If the exponent is 0, the distribution is uniform.
    ///
    /// # Errors
    /// `InvalidWorkload` if `values` is 0 or greater than 1,000,000, or if the exponent is negative or not a number.
    pub fn zipf(values: u64, exponent: f64) -> Result<Self> {
        Self::try_zipf(values, exponent).map_err(Error::of)
    }

    pub(super) fn try_zipf(values: u64, exponent: f64) -> Result<Self, WorkloadFault> {
        check_values(values, MOST_ZIPF_VALUES)?;
        if !(exponent.is_finite() && exponent >= 0.0) {
            return Err(WorkloadFault::Exponent(exponent));
        }
        let mut sums = Vec::new();
        let mut sum = 0.0;
        for rank in 1..=values {
            sum += real(rank).powf(-exponent);
            sums.push(sum);
        }
        for reached in &mut sums {
            *reached /= sum;
        }
        Ok(Self(Kind::Zipf(sums.into())))
    }

    /// Returns the probability of a value. For a sequence, returns 0.
    #[must_use]
    pub fn mass(&self, value: u64) -> f64 {
        match &self.0 {
            Kind::Constant(constant) => f64::from(u8::from(*constant == value)),
            Kind::Uniform(values) if value < *values => 1.0 / real(*values),
            Kind::Uniform(_) | Kind::Sequence => 0.0,
            Kind::Zipf(sums) => {
                let up_to = |index: usize| sums.get(index).copied();
                let Some(reached) = usize::try_from(value).ok().and_then(up_to) else { return 0.0 };
                let before = usize::try_from(value).ok().and_then(|index| index.checked_sub(1));
                reached - before.and_then(up_to).unwrap_or_default()
            }
        }
    }

    pub(super) fn draw(&self, random: &mut Random, number: u64) -> u64 {
        match &self.0 {
            Kind::Constant(value) => *value,
            Kind::Sequence => number,
            Kind::Uniform(values) => random.below(*values),
            Kind::Zipf(sums) => {
                let unit = random.unit();
                let found = sums.partition_point(|reached| *reached <= unit);
                found.min(sums.len().saturating_sub(1)) as u64
            }
        }
    }
}

fn check_values(values: u64, most: u64) -> Result<(), WorkloadFault> {
    if (1..=most).contains(&values) {
        return Ok(());
    }
    Err(WorkloadFault::Values { values, most })
}
