//! Validated queue names.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::queue::fault::QueueFault;

/// The name of a queue: 3 to 63 characters of `a` to `z`, digits and `-`. It starts and ends with a letter or digit and does not contain
/// `--` (QUE-2).
///
/// ```
/// use table_core::queue::QueueName;
///
/// let name = QueueName::new("archive-work")?;
/// assert_eq!(name.poison()?.as_str(), "archive-work-poison"); // the queue for messages that fail repeatedly (QUE-20)
/// assert!(QueueName::new("Archive").is_err());
/// assert!(QueueName::new("a--b").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(Arc<str>);

impl QueueName {
    /// Validates a name.
    ///
    /// # Errors
    /// - `InvalidResourceName` if the name has illegal characters or a misplaced `-`.
    /// - `OutOfRangeInput` if the length is not between 3 and 63.
    pub fn new(name: &str) -> Result<Self> {
        let legal = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        if !name.bytes().all(legal) || name.starts_with('-') || name.ends_with('-') || name.contains("--") {
            return Err(Error::of(QueueFault::NameCharacters(name.to_owned())));
        }
        if !(3..=63).contains(&name.len()) {
            return Err(Error::of(QueueFault::NameLength(name.to_owned())));
        }
        Ok(Self(name.into()))
    }

    /// Returns the name as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the poison queue, which receives messages that repeatedly fail (QUE-20).
    ///
    /// # Errors
    /// `OutOfRangeInput` if this queue's name has more than 56 characters, which leaves no room for `-poison`.
    pub fn poison(&self) -> Result<Self> {
        Self::new(&format!("{}-poison", self.0))
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn que_2_names() {
        for name in ["abc", "a-b", "0a9", &"a".repeat(63)] {
            assert_eq!(QueueName::new(name).unwrap().to_string(), name);
        }
        for name in ["", "ab", "-abc", "abc-", "a--b", "aBc", "a_b", "äbc", "a.b", &"a".repeat(64)] {
            assert_eq!(QueueName::new(name).unwrap_err().rule(), Some("QUE-2"), "{name}");
        }
        assert_eq!(
            QueueName::new(&"a".repeat(57)).unwrap().poison().unwrap_err().code(),
            ErrorCode::OutOfRangeInput
        );
    }
}
