//! The patterns available to a run.

/// A pattern that can be combined with others in one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Index,
    Unique,
    List,
    IndexElsewhere,
    UniqueElsewhere,
    ListElsewhere,
    View,
    Participant,
    Parts,
    Blob,
    Unit,
    Versions,
    Copies,
    Series,
}

pub const ALL: [Pattern; 14] = [
    Pattern::Index,
    Pattern::Unique,
    Pattern::List,
    Pattern::IndexElsewhere,
    Pattern::UniqueElsewhere,
    Pattern::ListElsewhere,
    Pattern::View,
    Pattern::Participant,
    Pattern::Parts,
    Pattern::Blob,
    Pattern::Unit,
    Pattern::Versions,
    Pattern::Copies,
    Pattern::Series,
];

/// The patterns combined in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Vec<Pattern>);

impl Parts {
    pub fn contains(&self, pattern: Pattern) -> bool {
        self.0.contains(&pattern)
    }

    pub fn pairs() -> Vec<Self> {
        let pairs = ALL
            .iter()
            .enumerate()
            .flat_map(|(at, one)| ALL.iter().skip(at + 1).map(move |other| (one, other)));
        pairs.map(|(one, other)| Self(vec![*one, *other])).collect()
    }

    /// Returns the set of all patterns, and the sets that each omit one pattern.
    pub fn most() -> Vec<Self> {
        let without = |left: &Pattern| Self(ALL.iter().filter(|one| *one != left).copied().collect());
        std::iter::once(Self(ALL.to_vec())).chain(ALL.iter().map(without)).collect()
    }

    /// Returns sets of three patterns: a pattern, the next one in the list, and one of the three patterns that follow.
    pub fn triples() -> Vec<Self> {
        let at = |place: usize| ALL[place % ALL.len()];
        (0..ALL.len())
            .flat_map(|place| (2..5).map(move |far| Self(vec![at(place), at(place + 1), at(place + far)])))
            .collect()
    }
}
