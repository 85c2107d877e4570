//! Other programs and other engines that use the disk of a history. Their choices come from a separate source, so they do not change the other
//! choices of a history.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::linked::Linked;
use super::restores::Restoring;

/// The other users of a disk.
pub(super) struct Neighbours {
    /// `true` if other programs and other engines use the disk.
    pub(super) are_there: bool,
    pub(super) random: StdRng,
    pub(super) linked: Linked,
    pub(super) restoring: Option<Restoring>,
    /// The files of other programs in the folder.
    pub(super) foreign: BTreeSet<PathBuf>,
}

impl Neighbours {
    pub(super) fn draw(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(!seed);
        Self {
            are_there: random.random(),
            random,
            linked: Linked::default(),
            restoring: None,
            foreign: BTreeSet::new(),
        }
    }
}
