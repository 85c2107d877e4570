//! Finds the differences between two sources by reading both in parallel, in key order.

use std::cmp::Ordering;

use table_core::{EntityKey, TableEntity, Value};

use crate::failure::Result;
use crate::transfer::ordered::{OrderedEntities, key_order};

/// The result of the comparison for one key.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// Both the source and the target contain the entity, with equal properties.
    Same(TableEntity),
    /// Only the source contains the entity.
    Missing(TableEntity),
    /// Both the source and the target contain the key, with different properties.
    Changed {
        /// The entity in the source.
        source: TableEntity,
        /// The entity in the target.
        target: TableEntity,
    },
    /// Only the target contains the entity.
    Extra(TableEntity),
}

impl Compared {
    /// Compares two entities with the same key. Returns `None` if both are missing.
    #[must_use]
    pub fn of(source: Option<TableEntity>, target: Option<TableEntity>) -> Option<Self> {
        match (source, target) {
            (None, None) => None,
            (Some(source), None) => Some(Self::Missing(source)),
            (None, Some(target)) => Some(Self::Extra(target)),
            (Some(source), Some(target)) => Some(Self::both(source, target)),
        }
    }

    /// Compares two entities with the same key.
    #[must_use]
    pub fn both(source: TableEntity, target: TableEntity) -> Self {
        if is_same(&source, &target) { Self::Same(source) } else { Self::Changed { source, target } }
    }

    /// Returns the compared key.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        match self {
            Self::Same(entity) | Self::Missing(entity) | Self::Extra(entity) => entity.key(),
            Self::Changed { source, .. } => source.key(),
        }
    }

    /// Returns `true` if the source and the target are equal for this key.
    #[must_use]
    pub const fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// A comparison of two sources in key order. It keeps one page or block of each source in memory.
#[derive(Debug)]
pub struct Comparison<L, R> {
    source: L,
    target: R,
    left: Option<TableEntity>,
    right: Option<TableEntity>,
}

impl<L: OrderedEntities, R: OrderedEntities> Comparison<L, R> {
    /// Creates a comparison.
    pub const fn new(source: L, target: R) -> Self {
        Self { source, target, left: None, right: None }
    }

    /// Returns the source. It may have been read past the last result of [`next`](Self::next).
    pub const fn source(&self) -> &L {
        &self.source
    }

    /// Returns the target. It may have been read past the last result of [`next`](Self::next).
    pub const fn target(&self) -> &R {
        &self.target
    }

    /// Returns the source if [`next`](Self::next) has returned every entity read from it, or `None` if an entity is still waiting to be compared.
    pub const fn settled_source(&self) -> Option<&L> {
        if self.left.is_none() { Some(&self.source) } else { None }
    }

    /// Returns the result for the next key, or `None` at the end of both sources.
    ///
    /// # Errors
    /// Any error from either source.
    pub async fn next(&mut self) -> Result<Option<Compared>> {
        if self.left.is_none() {
            self.left = self.source.next().await?;
        }
        if self.right.is_none() {
            self.right = self.target.next().await?;
        }
        let order = match (&self.left, &self.right) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => key_order(left.key(), right.key()),
        };
        Ok(match order {
            Ordering::Less => self.left.take().map(Compared::Missing),
            Ordering::Greater => self.right.take().map(Compared::Extra),
            Ordering::Equal => Compared::of(self.left.take(), self.right.take()),
        })
    }
}

/// Returns `true` if two entities have the same properties. Timestamps and `ETag`s are not compared, because each store assigns them. All NaN values are equal,
/// regardless of their bits, because a store returns only one NaN value. Other doubles are compared bit by bit, so `-0.0` differs from `0.0`.
#[must_use]
pub fn is_same(left: &TableEntity, right: &TableEntity) -> bool {
    let is_equal = |(name, value)| right.get(name).is_some_and(|other| is_equal(value, other));
    left.len() == right.len() && left.iter().all(is_equal)
}

fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Double(left), Value::Double(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_compared_bit_by_bit_except_nan() {
        let entity = |value: f64| TableEntity::new("p", "r").unwrap().with("D", value);
        assert!(is_same(&entity(f64::NAN), &entity(f64::NAN)));
        assert!(is_same(&entity(f64::from_bits(0xFFF8_0000_0000_0001)), &entity(f64::NAN)));
        assert!(!is_same(&entity(f64::NAN), &entity(0.0)));
        assert!(!is_same(&entity(0.0), &entity(-0.0)));
        assert!(is_same(&entity(0.5), &entity(0.5)));
    }
}
