//! `PartitionKey`, `RowKey` and `EntityKey`: strings validated for characters and length (KEY-2 to KEY-8).

use std::cmp::Ordering;
use std::fmt;

use crate::error::{Error, Result};
use crate::key::fault::KeyFault;
use crate::key::order;
use crate::key::text::{RESERVED, first_illegal};
use crate::limits;

fn check(kind: &'static str, text: &str) -> Result<()> {
    if let Some(illegal) = first_illegal(text) {
        return Err(Error::of(KeyFault::Illegal { kind, text: text.to_owned(), illegal }));
    }
    if text.len() > limits::KEY_UNITS_WIDE {
        let units = text.encode_utf16().count();
        if units > limits::KEY_UNITS_WIDE {
            return Err(Error::of(KeyFault::TooLong { kind, units }));
        }
    }
    Ok(())
}

macro_rules! key_text {
    ($name:ident, $word:literal, $check:ident) => {
        #[doc = concat!("Performs the checks of [`", $word, "::new`] on a text without storing it.")]
        pub(crate) fn $check(text: &str) -> Result<()> {
            check($word, text)
        }

        #[doc = concat!("A ", $word, ": any text, including the empty one (KEY-2), without `/ \\ # ?` and control characters (KEY-3).")]
        ///
        /// - At most 1,024 UTF-16 code units (KEY-7). The portable profile of the embedded engine accepts only 512 (ENG-1).
        /// - Stored unchanged: case, spaces and Unicode form are significant (KEY-6).
        /// - Ordered by UTF-16 code units (ORD-1, ORD-6).
        ///
        /// ```
        #[doc = concat!("use table_core::", $word, ";")]
        ///
        #[doc = concat!("let key = ", $word, "::new(\"Sales\")?;")]
        /// assert_eq!(key.as_str(), "Sales");
        #[doc = concat!("assert_eq!(", $word, "::new(\"a/b\").unwrap_err().rule(), Some(\"KEY-3\"));")]
        /// # Ok::<(), table_core::Error>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Validates a string and wraps it as a key.
            ///
            /// # Errors
            /// - `OutOfRangeInput` if the key has an illegal character (KEY-4).
            /// - `PropertyValueTooLarge` if it has more than 1,024 code units (KEY-8).
            pub fn new(text: impl Into<String>) -> Result<Self> {
                let text = text.into();
                $check(&text)?;
                Ok(Self(text))
            }

            /// Returns the key as a string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Converts the key into a string.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                order::compare(&self.0, &other.0)
            }
        }
    };
}

key_text!(PartitionKey, "PartitionKey", check_partition_key);
key_text!(RowKey, "RowKey", check_row_key);

impl RowKey {
    /// Returns `true` if the key starts with [`RESERVED`]. Patterns, such as an outbox, use these keys for their own rows.
    ///
    /// ```
    /// use table_core::RowKey;
    ///
    /// assert!(RowKey::new("\u{FFFC}outbox_1")?.is_reserved());
    /// assert!(!RowKey::new("000223")?.is_reserved());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with(RESERVED)
    }
}

/// The primary key of an entity: its `PartitionKey` and `RowKey` (ENT-1). Ordered as in the service (ORD-1).
///
/// ```
/// use table_core::EntityKey;
///
/// let key = EntityKey::new("Sales", "000223")?;
/// assert_eq!(key.to_string(), "(PartitionKey='Sales',RowKey='000223')");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityKey {
    /// The entity's `PartitionKey`.
    pub partition_key: PartitionKey,
    /// The entity's `RowKey`, unique within the partition.
    pub row_key: RowKey,
}

impl EntityKey {
    /// Validates two strings and combines them into an entity key.
    ///
    /// # Errors
    /// `OutOfRangeInput` or `PropertyValueTooLarge` if [`PartitionKey::new`] or [`RowKey::new`] rejects a string.
    pub fn new(partition_key: impl Into<String>, row_key: impl Into<String>) -> Result<Self> {
        Ok(Self { partition_key: PartitionKey::new(partition_key)?, row_key: RowKey::new(row_key)? })
    }
}

impl EntityKey {
    /// Returns the key if its row is not reserved.
    ///
    /// # Errors
    /// `OutOfRangeInput` if the row is reserved for patterns, such as an outbox ([`RESERVED`]).
    #[doc(hidden)]
    pub fn of_entity(self) -> Result<Self> {
        if self.row_key.is_reserved() {
            let (partition_key, row_key) = (self.partition_key.as_str(), self.row_key.as_str());
            return Err(Error::of(KeyFault::Reserved).with_key(partition_key, row_key));
        }
        Ok(self)
    }
}

impl fmt::Display for EntityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| text.replace('\'', "''");
        write!(
            f,
            "(PartitionKey='{}',RowKey='{}')",
            quoted(self.partition_key.as_str()),
            quoted(self.row_key.as_str())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn key_2_and_6_empty_and_odd_but_legal_texts() {
        for text in ["", " ", "%2F+&'\":=,()", "é\u{1F600}", " trailing "] {
            assert_eq!(RowKey::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn key_3_every_forbidden_character_is_refused() {
        let forbidden =
            ['/', '\\', '#', '?'].into_iter().chain('\u{0}'..='\u{1F}').chain('\u{7F}'..='\u{9F}');
        for character in forbidden {
            let error = PartitionKey::new(format!("a{character}b")).unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("KEY-3")));
        }
    }

    #[test]
    fn key_7_and_8_length_counts_utf16_code_units() {
        assert!(RowKey::new("é".repeat(1_024)).is_ok());
        assert_eq!(
            RowKey::new("\u{1F600}".repeat(513)).unwrap_err().code(),
            ErrorCode::PropertyValueTooLarge
        );
    }
}
