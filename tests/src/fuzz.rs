//! Fuzz targets. Each target parses arbitrary bytes in one format, and panics if a guarantee is violated.
//!
//! `cargo fuzz` runs the targets on arbitrary inputs (folder `fuzz`). `src/bin/fuzz.rs` runs them on mutated samples, and needs only stable Rust.
//!
//! A parser must never panic or loop forever. Accepted input must survive a round trip (formatting and parsing). If a format has two parsers, they must agree.

mod formats;
mod mutate;
pub mod requests;
mod samples;
mod texts;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The maximum number of mutated samples to keep. A mutated sample is kept if its target accepts it.
const KEPT: usize = 256;

/// A fuzz target for one format.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target.
    pub name: &'static str,
    /// Parses bytes. Returns `true` if they were accepted.
    pub read: fn(&[u8]) -> bool,
    /// Returns sample inputs. The target accepts each of them.
    pub samples: fn() -> Vec<Vec<u8>>,
}

/// All fuzz targets.
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

/// Passes `bytes` to the target `name`. This is the body of a `cargo fuzz` target.
///
/// # Panics
/// Panics if a guarantee is violated, or if no target has this name.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let accepted = target.map(|target| (target.read)(bytes));
    assert!(accepted.is_some(), "no target {name}");
}

/// An input that made a target violate a guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The input.
    pub bytes: Vec<u8>,
    /// The message of the panic that reported the violation.
    pub panic: String,
}

/// A sequence of inputs for one target, generated from a seed.
#[derive(Debug)]
pub struct Session {
    target: Target,
    random: StdRng,
    samples: Vec<Vec<u8>>,
    /// The number of original samples. They come before the mutated samples that were kept.
    first: usize,
    /// The number of inputs parsed.
    pub inputs: u64,
    /// The number of inputs accepted.
    pub accepted: u64,
}

impl Session {
    /// Creates a session whose inputs are generated from a seed.
    #[must_use]
    pub fn new(target: Target, seed: u64) -> Self {
        let samples = (target.samples)();
        let (random, first) = (StdRng::seed_from_u64(seed), samples.len());
        Self { target, random, samples, first, inputs: 0, accepted: 0 }
    }

    /// Passes each original sample to the target.
    ///
    /// # Errors
    /// The first sample that violates a guarantee or is not accepted.
    pub fn read_samples(&self) -> Result<(), Found> {
        for bytes in &self.samples {
            if !self.read(bytes)? {
                let panic = "a sample is not accepted".to_owned();
                return Err(Found { bytes: bytes.clone(), panic });
            }
        }
        Ok(())
    }

    /// Generates the next input and passes it to the target.
    ///
    /// # Errors
    /// The input if it violates a guarantee.
    pub fn step(&mut self) -> Result<(), Found> {
        let bytes = mutate::mutate(&mut self.random, &self.samples);
        self.inputs += 1;
        if self.read(&bytes)? {
            self.accepted += 1;
            // A mutation of an accepted input reaches more code.
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
    fn a_seed_determines_its_session() {
        let inputs = |seed| {
            let mut session = Session::new(TARGETS[3], seed);
            (0..300).for_each(|_| session.step().unwrap());
            (session.accepted, session.samples)
        };
        assert_eq!(inputs(5), inputs(5));
        assert_ne!(inputs(5), inputs(6));
    }
}
