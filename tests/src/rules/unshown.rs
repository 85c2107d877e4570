//! The rules that no test can show, each with the reason.

use super::Rule;

/// Rules of one family that no test can show.
#[derive(Clone, Copy, Debug)]
pub struct Unshown {
    /// The family.
    pub family: &'static str,
    /// Their numbers.
    pub numbers: &'static [u32],
    /// Why.
    pub reason: &'static str,
}

/// Why no test shows a rule, if it is one of these.
#[must_use]
pub fn reason(rule: Rule) -> Option<&'static str> {
    UNSHOWN
        .iter()
        .find(|entry| entry.family == rule.family && entry.numbers.contains(&rule.number))
        .map(|entry| entry.reason)
}

/// All of them.
pub const UNSHOWN: &[Unshown] = &[];
