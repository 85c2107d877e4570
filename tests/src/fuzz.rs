//! Fuzz targets: each reads any bytes as one format, and panics where a promise is broken. `cargo fuzz` calls them (`fuzz`), and so does a
//! driver on stable (`src/bin/fuzz.rs`) that mutates real samples.
//!
//! No bytes make a reader panic or loop; what it accepts it writes and reads again as the same; and where two readers exist, they agree.

mod formats;
mod mutate;
pub mod requests;
mod samples;
mod texts;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Samples that are kept beside the first ones, because a target accepted them.
const KEPT: usize = 256;

/// One format.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Reads bytes, and says whether they were accepted.
    pub read: fn(&[u8]) -> bool,
    /// Bytes that are accepted.
    pub samples: fn() -> Vec<Vec<u8>>,
}

/// Every format.
pub const TARGETS: &[Target] = &[
    Target { name: "journal", read: formats::journal, samples: samples::journals },
    Target { name: "block", read: formats::block, samples: samples::blocks },
    Target { name: "index", read: formats::index, samples: samples::indexes },
    Target { name: "row", read: formats::row, samples: samples::rows },
    Target { name: "manifest", read: formats::manifest, samples: samples::manifests },
    Target { name: "base", read: formats::base, samples: samples::bases },
    Target { name: "token", read: texts::token, samples: samples::tokens },
    Target { name: "filter", read: texts::filter, samples: samples::filters },
    Target { name: "json", read: texts::json, samples: samples::bodies },
    Target { name: "request", read: requests::request, samples: requests::samples },
    Target { name: "batch", read: wire::batch, samples: wire::batches },
    Target { name: "sas", read: wire::sas, samples: wire::tokens },
    Target { name: "xml", read: wire::xml, samples: wire::documents },
];

/// Calls the target of a name; the body of a `cargo fuzz` target.
///
/// # Panics
/// If a promise is broken, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let accepted = target.map(|target| (target.read)(bytes));
    assert!(accepted.is_some(), "no target {name}");
}

/// Bytes that break a promise of a target, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The panic.
    pub panic: String,
}

/// Inputs of one target, made one after the other from a seed.
#[derive(Debug)]
pub struct Session {
    target: Target,
    random: StdRng,
    samples: Vec<Vec<u8>>,
    /// How many of the samples are not made by mutation.
    first: usize,
    /// Inputs that were read.
    pub inputs: u64,
    /// Those that were accepted.
    pub accepted: u64,
}

impl Session {
    /// The session of a seed.
    #[must_use]
    pub fn new(target: Target, seed: u64) -> Self {
        let samples = (target.samples)();
        let (random, first) = (StdRng::seed_from_u64(seed), samples.len());
        Self { target, random, samples, first, inputs: 0, accepted: 0 }
    }

    /// Reads the samples as they are.
    ///
    /// # Errors
    /// The first that breaks a promise, or is not accepted.
    pub fn read_samples(&self) -> Result<(), Found> {
        for bytes in &self.samples {
            if !self.read(bytes)? {
                let panic = "a sample is not accepted".to_owned();
                return Err(Found { bytes: bytes.clone(), panic });
            }
        }
        Ok(())
    }

    /// Reads one more input.
    ///
    /// # Errors
    /// The input, if it breaks a promise.
    pub fn step(&mut self) -> Result<(), Found> {
        let bytes = mutate::mutate(&mut self.random, &self.samples);
        self.inputs += 1;
        if self.read(&bytes)? {
            self.accepted += 1;
            // What is accepted leads further than what is not.
            if self.samples.len() < self.first + KEPT {
                self.samples.push(bytes);
            } else {
                let place = self.random.random_range(self.first..self.samples.len());
                self.samples[place] = bytes;
            }
        }
        Ok(())
    }

    fn read(&self, bytes: &[u8]) -> Result<bool, Found> {
        catch_unwind(AssertUnwindSafe(|| (self.target.read)(bytes))).map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Found { bytes: bytes.to_vec(), panic: text.unwrap_or_default() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_accepted_and_a_few_mutations_break_nothing() {
        for target in TARGETS {
            let mut session = Session::new(*target, 7);
            session.read_samples().unwrap_or_else(|found| panic!("{}: {found:?}", target.name));
            for _ in 0..200 {
                session.step().unwrap_or_else(|found| panic!("{}: {found:?}", target.name));
            }
        }
    }

    #[test]
    fn one_seed_is_one_session() {
        let inputs = |seed| {
            let mut session = Session::new(TARGETS[3], seed);
            (0..300).for_each(|_| session.step().unwrap());
            (session.accepted, session.samples)
        };
        assert_eq!(inputs(5), inputs(5));
        assert_ne!(inputs(5), inputs(6));
    }
}
