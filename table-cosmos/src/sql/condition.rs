//! Conditions of an SQL query. They are kept flat, because the service limits the nesting of parentheses.

/// An SQL condition, or a constant.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A condition that is always true, and is therefore not sent.
    True,
    /// A condition that is always false.
    False,
    One(String),
    All(Vec<String>),
    Any(Vec<String>),
}

impl Condition {
    pub(super) fn of(text: Option<String>) -> Self {
        text.map_or(Self::True, Self::One)
    }

    /// Returns the SQL of the condition, or `None` if the condition is always true.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::True => None,
            Self::False => Some("false".to_owned()),
            Self::One(text) => Some(text),
            Self::All(texts) => Some(format!("({})", texts.join(" AND "))),
            Self::Any(texts) => Some(format!("({})", texts.join(" OR "))),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, one) | (one, Self::True) => one,
            (left, right) => Self::All([left.conjuncts(), right.conjuncts()].concat()),
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (Self::False, one) | (one, Self::False) => one,
            (left, right) => Self::Any([left.disjuncts(), right.disjuncts()].concat()),
        }
    }

    fn conjuncts(self) -> Vec<String> {
        match self {
            Self::All(texts) => texts,
            other => other.text().into_iter().collect(),
        }
    }

    fn disjuncts(self) -> Vec<String> {
        match self {
            Self::Any(texts) => texts,
            other => other.text().into_iter().collect(),
        }
    }
}
