//! Other programs and engines that use the disk of a history.
//!
//! They use a separate random number generator for their choices, so they do not affect the other choices in the history.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::earlier::Entities;
use super::linked::Linked;
use super::restores::Restoring;

/// The other programs and engines that use the disk of a history.
pub(super) struct Neighbours {
    /// `true` if other programs and engines use the disk.
    pub(super) are_there: bool,
    pub(super) random: StdRng,
    pub(super) linked: Linked,
    pub(super) restoring: Option<Restoring>,
    /// The rows written to the folder by an earlier release.
    pub(super) earlier: Option<Entities>,
    /// `true` if the manifest is in an earlier format and the folder has not been opened since.
    pub(super) is_earlier_format: bool,
    /// `true` if the history opens the folder many times.
    pub(super) open_often: bool,
    /// Other programs' files in the folder.
    pub(super) foreign: BTreeSet<PathBuf>,
}

impl Neighbours {
    pub(super) fn draw(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(!seed);
        let are_there = random.random();
        Self {
            are_there,
            earlier: None,
            is_earlier_format: false,
            open_often: are_there && seed.is_multiple_of(8),
            random,
            linked: Linked::default(),
            restoring: None,
            foreign: BTreeSet::new(),
        }
    }
}
