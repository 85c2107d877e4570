//! Detection of duplicate property names (PROP-6).

/// A fast detector of possible duplicates in a sequence of names. It may report a duplicate where there is none, but not for the names of typical entities.
#[derive(Debug, Default)]
pub(crate) struct Names {
    seen: [u64; 16],
    suspect: bool,
}

impl Names {
    /// Adds the next name of the sequence.
    pub(crate) fn push(&mut self, name: &str) {
        let place = hash(name.as_bytes()) >> 54; // 10 bits: the lower 6 select the bit, the upper 4 the word
        let bit = 1 << (place % 64);
        if let Some(word) = usize::try_from(place / 64).ok().and_then(|index| self.seen.get_mut(index)) {
            self.suspect |= *word & bit != 0;
            *word |= bit;
        }
    }

    /// Returns `true` if a name may have occurred more than once.
    pub(crate) const fn may_repeat(&self) -> bool {
        self.suspect
    }

    /// Returns a name that occurs more than once, if any. `names` returns an iterator over the same names. It is called only if a duplicate is possible.
    pub(crate) fn repeated<'a, I: Iterator<Item = &'a str>>(
        &self,
        names: impl FnOnce() -> I,
    ) -> Option<&'a str> {
        if !self.suspect {
            return None;
        }
        let mut sorted: Vec<&str> = names().collect();
        sorted.sort_unstable();
        let mut neighbours = sorted.iter().zip(sorted.iter().skip(1));
        neighbours.find(|(a, b)| a == b).map(|(name, _)| *name)
    }
}

/// Hashes the length, the start and the end of a name. That is enough to distinguish typical names.
fn hash(name: &[u8]) -> u64 {
    let text = match (name.first_chunk(), name.last_chunk()) {
        (Some(front), Some(back)) => u64::from_le_bytes(*front) ^ u64::from_le_bytes(*back).rotate_left(29),
        _ => name.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)),
    };
    (text ^ name.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
        let mut seen = Names::default();
        for name in names {
            seen.push(name);
        }
        seen.repeated(|| names.iter().copied())
    }

    #[test]
    fn prop_1_and_6_names_are_case_sensitive() {
        assert_eq!(repeated(&["Age", "age", "Age2"]), None);
        assert_eq!(repeated(&["Age", "Name", "Age"]), Some("Age"));
    }

    #[test]
    fn names_of_a_typed_entity_are_never_suspected() {
        let mut seen = Names::default();
        for name in [
            "PartitionId",
            "FirstName",
            "LastName",
            "EmailAddress",
            "Age",
            "Salary",
            "Active",
            "HiredAt",
            "Badge",
            "Photo",
        ] {
            seen.push(name);
        }
        assert!(!seen.suspect);
    }

    proptest! {
        #[test]
        fn prop_6_agrees_with_a_set(names in prop::collection::vec("[a-c]{1,3}|[ab]{8,9}", 0..40)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let distinct: std::collections::HashSet<&str> = names.iter().copied().collect();
            prop_assert_eq!(repeated(&names).is_some(), distinct.len() < names.len());
        }
    }
}
