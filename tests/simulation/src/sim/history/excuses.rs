//! Excuses: the reasons why a result of an engine may differ from the expected one without a defect.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The extent to which stored bytes have been corrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Damage {
    #[default]
    None,
    /// Bytes in a single block of a run (a sorted file of rows).
    Block,
    Any,
}

/// The reasons why a result of an engine may differ from the expected one without a defect.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    /// `true` if one of the engine's threads was made to fail.
    pub(super) thread_failed: Arc<AtomicBool>,
    pub(super) damage: Damage,
    /// `true` if the clock has reached the largest possible time.
    pub(super) time_over: bool,
    /// `true` if the engine is being closed.
    pub(super) closing: bool,
}

impl Excuses {
    /// Returns the excuses that concern the disk. They remain valid after the engine has ended.
    pub(super) fn of_disk(&self) -> Self {
        Self { damage: self.damage, ..Self::default() }
    }

    /// Records that on-disk bytes were corrupted.
    pub(super) fn add(&mut self, damage: Damage) {
        self.damage = if self.is_damaged() { Damage::Any } else { damage };
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.damage != Damage::None
    }
}
