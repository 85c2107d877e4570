//! Conditions in SQL queries. They are kept flat, because the service limits the nesting of parentheses.

use std::borrow::Cow;
use std::collections::VecDeque;

/// An SQL condition, or one of the constants true and false.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A condition that is always true. It is omitted from the SQL.
    True,
    /// A condition that is always false.
    False,
    One(String),
    All(Pieces),
    Any(Pieces),
}

/// The parts of a condition's text in order, without the outer parentheses.
type Pieces = VecDeque<Cow<'static, str>>;

impl Condition {
    pub(super) fn of(text: Option<String>) -> Self {
        text.map_or(Self::True, Self::One)
    }

    /// Returns the SQL of the condition, or `None` if the condition is always true.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::True => None,
            other => Some(other.enclosed().into_iter().collect()),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, one) | (one, Self::True) => one,
            (left, right) => Self::All(join(left.conjuncts(), " AND ", right.conjuncts())),
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (Self::False, one) | (one, Self::False) => one,
            (left, right) => Self::Any(join(left.disjuncts(), " OR ", right.disjuncts())),
        }
    }

    fn conjuncts(self) -> Pieces {
        match self {
            Self::All(pieces) => pieces,
            other => other.enclosed(),
        }
    }

    fn disjuncts(self) -> Pieces {
        match self {
            Self::Any(pieces) => pieces,
            other => other.enclosed(),
        }
    }

    /// Returns the parts of the condition's text. If the condition has an operator, they are enclosed in parentheses.
    fn enclosed(self) -> Pieces {
        match self {
            Self::True => Pieces::from(["true".into()]),
            Self::False => Pieces::from(["false".into()]),
            Self::One(text) => Pieces::from([text.into()]),
            Self::All(mut pieces) | Self::Any(mut pieces) => {
                pieces.push_front("(".into());
                pieces.push_back(")".into());
                pieces
            }
        }
    }
}

/// Joins two conditions with an operator.
///
/// The shorter condition is moved into the longer one. A filter of any shape is therefore converted in almost linear time.
fn join(mut left: Pieces, operator: &'static str, mut right: Pieces) -> Pieces {
    if left.len() < right.len() {
        right.push_front(operator.into());
        left.into_iter().rev().for_each(|piece| right.push_front(piece));
        right
    } else {
        left.push_back(operator.into());
        left.append(&mut right);
        left
    }
}
