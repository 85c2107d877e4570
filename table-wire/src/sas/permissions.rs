//! Permissions and protocols of SAS tokens. A macro defines the sets of permission letters.

use table_core::{Error, Result};

use super::fault::SasFault;

/// Defines a type whose values are sets of letters. The letters are always printed in declaration order.
macro_rules! letters {
    ($(#[doc = $doc:literal])* $name:ident, $rule:literal, $what:literal, [$($(#[doc = $letter_doc:literal])* $constant:ident = $letter:literal,)*]) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name(u16);

        impl $name {
            /// The empty set.
            pub const NONE: Self = Self(0);
            $($(#[doc = $letter_doc])* pub const $constant: Self = Self::of($letter);)*
            const LETTERS: &'static [u8] = &[$($letter),*];

            const fn of(letter: u8) -> Self {
                let mut at = 0;
                while at < Self::LETTERS.len() {
                    if Self::LETTERS[at] == letter {
                        return Self(1 << at);
                    }
                    at += 1;
                }
                Self::NONE
            }

            /// Returns the union of two sets.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Returns `true` if the set contains every letter of `others`.
            #[must_use]
            pub const fn contains(self, others: Self) -> bool {
                self.0 & others.0 == others.0
            }

            /// Parses letters in any order.
            ///
            /// # Errors
            /// `InvalidInput` if a letter is unknown.
            pub fn read(letters: &str) -> ::table_core::Result<Self> {
                letters.bytes().try_fold(Self::NONE, |set, letter| match Self::of(letter) {
                    Self::NONE => {
                        let (letters, legal) = (letters.to_owned(), Self::LETTERS);
                        let fault = $crate::sas::fault::SasFault::Letters { letters, kind: $what, legal, rule: $rule };
                        Err(::table_core::Error::of(fault))
                    }
                    found => Ok(set.and(found)),
                })
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ::table_core::Error;

            fn from_str(letters: &str) -> ::table_core::Result<Self> {
                Self::read(letters)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let in_it = |letter: &&u8| self.contains(Self::of(**letter));
                Self::LETTERS.iter().filter(in_it).try_for_each(|letter| write!(f, "{}", char::from(*letter)))
            }
        }
    };
}
pub(super) use letters;

letters! {
    /// Permissions for a table's entities (SAS-5). An upsert requires both [`ADD`](Self::ADD) and [`UPDATE`](Self::UPDATE).
    ///
    /// ```
    /// use table_wire::sas::TablePermissions;
    ///
    /// let upsert = TablePermissions::UPDATE.and(TablePermissions::ADD);
    /// assert_eq!(upsert.to_string(), "au");
    /// assert!(!upsert.contains(TablePermissions::READ));
    /// ```
    TablePermissions, "SAS-1", "permissions of a table", [
        /// Read and query entities.
        READ = b'r',
        /// Insert entities.
        ADD = b'a',
        /// Replace and merge entities.
        UPDATE = b'u',
        /// Delete entities.
        DELETE = b'd',
    ]
}

letters! {
    /// Permissions for a queue's messages (SAS-1).
    ///
    /// ```
    /// use table_wire::sas::QueuePermissions;
    ///
    /// assert_eq!(QueuePermissions::PROCESS.and(QueuePermissions::READ).to_string(), "rp");
    /// assert!(QueuePermissions::read("d").is_err());
    /// ```
    QueuePermissions, "SAS-1", "permissions of a queue", [
        /// Peek at messages, and read metadata.
        READ = b'r',
        /// Put messages.
        ADD = b'a',
        /// Update messages.
        UPDATE = b'u',
        /// Receive and delete messages.
        PROCESS = b'p',
    ]
}

letters! {
    /// The permissions of an account SAS (ASAS-4), described for tables and queues. Some of them apply only to blobs.
    ///
    /// ```
    /// use table_wire::sas::AccountPermissions;
    ///
    /// assert_eq!(AccountPermissions::read("rwdlacup")?.to_string(), "rwdlacup");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    AccountPermissions, "ASAS-1", "permissions of an account", [
        /// Read resources of the permitted types.
        READ = b'r',
        /// Create tables and set properties.
        WRITE = b'w',
        /// Delete resources of the permitted types.
        DELETE = b'd',
        /// Delete versions of a blob.
        DELETE_VERSION = b'x',
        /// Delete blobs permanently.
        DELETE_FOR_GOOD = b'y',
        /// List resources of the permitted types.
        LIST = b'l',
        /// Add entities and messages.
        ADD = b'a',
        /// Create resources of the permitted types.
        CREATE = b'c',
        /// Update entities and messages.
        UPDATE = b'u',
        /// Receive messages.
        PROCESS = b'p',
        /// Read and write the tags of blobs.
        TAGS = b't',
        /// Find blobs by their tags.
        FIND = b'f',
        /// Set the immutability policies of blobs.
        IMMUTABILITY = b'i',
    ]
}

/// The protocols allowed by a token (SAS-1).
///
/// ```
/// use table_wire::sas::Protocol;
///
/// assert_eq!([Protocol::Unsaid, Protocol::Https].map(Protocol::as_str), ["", "https"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTPS and HTTP, the service's default. The token then has no `spr` parameter.
    #[default]
    Unsaid,
    /// Only HTTPS, which is recommended for real accounts.
    Https,
    /// HTTPS and HTTP. The token states both explicitly, for example for an emulator.
    HttpsAndHttp,
}

impl Protocol {
    /// Returns the value of the `spr` parameter, which is empty for the default.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsaid => "",
            Self::Https => "https",
            Self::HttpsAndHttp => "https,http",
        }
    }

    /// Parses the value of the `spr` parameter.
    ///
    /// # Errors
    /// `InvalidInput` if the value is not a known protocol.
    pub(super) fn read(text: &str) -> Result<Self> {
        let all = [Self::Unsaid, Self::Https, Self::HttpsAndHttp];
        all.into_iter()
            .find(|protocol| protocol.as_str() == text)
            .ok_or_else(|| Error::of(SasFault::Protocol(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sas_1_letters_are_written_in_the_services_order() {
        assert_eq!(TablePermissions::read("duar").unwrap().to_string(), "raud");
        assert_eq!(TablePermissions::read("").unwrap(), TablePermissions::NONE);
        assert_eq!(TablePermissions::read("rx").unwrap_err().rule(), Some("SAS-1"));
        assert_eq!(AccountPermissions::read("uCa").unwrap_err().rule(), Some("ASAS-1"));
    }
}
