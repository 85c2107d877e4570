//! Excuses: the reasons why an engine's result may differ from the expected one.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The extent of the damage to bytes on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Damage {
    #[default]
    None,
    /// Bytes of one block of a run.
    Block,
    Any,
}

/// The reasons why a result may differ from the correct one.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    /// `true` if a thread of the engine was made to fail.
    pub(super) thread_failed: Arc<AtomicBool>,
    pub(super) damage: Damage,
    /// `true` if the clock has reached the maximum time.
    pub(super) time_over: bool,
    /// `true` if the engine is being closed.
    pub(super) closing: bool,
}

impl Excuses {
    /// Returns the excuses that also apply after the engine ends, because they are about the disk.
    pub(super) fn of_disk(&self) -> Self {
        Self { damage: self.damage, ..Self::default() }
    }

    /// Records damage to bytes on the disk.
    pub(super) fn add(&mut self, damage: Damage) {
        self.damage = if self.is_damaged() { Damage::Any } else { damage };
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.damage != Damage::None
    }
}
