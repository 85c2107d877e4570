//! The declared positions of a wide entity's properties.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The names of the properties in each part.
pub(super) type Names = &'static [&'static [&'static str]];

/// The names of all properties of a wide entity, by position. Positions are counted across all parts, starting with the first property of the first part.
#[derive(Debug)]
pub(super) struct Places {
    names: Vec<&'static str>,
    /// The position just past the last property of each part.
    ends: Vec<usize>,
    /// The position of each name. This map is built when a property is first looked up out of order.
    by_name: OnceLock<HashMap<&'static str, usize>>,
    /// The position of each name that ends in a number. The key is the word and the number. `None` if several names differ only in leading zeros.
    by_number: OnceLock<HashMap<(&'static str, &'static str), Option<usize>>>,
}

impl Places {
    pub(super) fn new(parts: Names) -> Self {
        let ends = parts.iter().scan(0, |end, part| {
            *end += part.len();
            Some(*end)
        });
        Self {
            names: parts.concat(),
            ends: ends.collect(),
            by_name: OnceLock::new(),
            by_number: OnceLock::new(),
        }
    }

    /// Returns the number of properties.
    pub(super) const fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the position of a property. Checks the position `next` first, because properties are usually looked up in order.
    pub(super) fn of(&self, name: &str, next: usize) -> Option<usize> {
        if self.names.get(next) == Some(&name) {
            return Some(next);
        }
        self.by_name
            .get_or_init(|| (0..).zip(&self.names).map(|(at, name)| (*name, at)).collect())
            .get(name)
            .copied()
    }

    /// Returns the declared position of a slot if the number in `name` has fewer or more digits than declared, such as `Day01` for the declared `Day001`.
    pub(super) fn of_other_width(&self, name: &str) -> Option<usize> {
        let number = numbered(name)?;
        let by_number = self.by_number.get_or_init(|| {
            let mut found = HashMap::new();
            for (at, name) in self.names.iter().enumerate() {
                if let Some(number) = numbered(name) {
                    found.entry(number).and_modify(|at| *at = None).or_insert(Some(at));
                }
            }
            found
        });
        by_number.get(&number).copied().flatten()
    }

    /// Returns the part that contains the property at a position. Parts are counted from 0.
    pub(super) fn part(&self, position: usize) -> usize {
        self.ends.partition_point(|end| *end <= position)
    }

    /// Returns the name of the property at a position.
    pub(super) fn name(&self, position: usize) -> Option<&'static str> {
        self.names.get(position).copied()
    }
}

/// Splits a name that ends in a number into its word and the number without leading zeros, such as `Day001` into `Day` and `1`.
fn numbered(name: &str) -> Option<(&str, &str)> {
    let word = name.trim_end_matches(|at: char| at.is_ascii_digit());
    let digits = name.strip_prefix(word).filter(|digits| !digits.is_empty())?;
    Some((word, digits.trim_start_matches('0')))
}

#[cfg(test)]
mod tests;
