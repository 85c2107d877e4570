//! The signed version (`sv`) of a SAS token. This date determines the format of the string to sign (SAS-2 to SAS-4, ASAS-2).

use std::fmt;

use chrono::NaiveDate;
use table_core::{Error, Result};

use super::fault::SasFault;

/// The value of `sv`: a date that determines the format of the string to sign.
///
/// ```
/// use table_wire::sas::SignedVersion;
///
/// assert_eq!(SignedVersion::default(), SignedVersion::new("2019-02-02")?);
/// assert!(SignedVersion::new("2012-02-12").is_err()); // older than all documented versions (SAS-4)
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedVersion(String);

impl SignedVersion {
    /// Creates a version from its date.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a date in `yyyy-mm-dd` format, or is before 2013-08-15.
    pub fn new(version: &str) -> Result<Self> {
        let date = NaiveDate::parse_from_str(version, "%Y-%m-%d");
        let is_date = date.is_ok_and(|date| date.format("%Y-%m-%d").to_string() == version);
        if is_date && version >= "2013-08-15" {
            return Ok(Self(version.to_owned()));
        }
        Err(Error::of(SasFault::Version(version.to_owned())))
    }

    /// Returns the version as written in a token, such as `2019-02-02`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if `sip` and `spr` are part of the string to sign for a table token in this version (SAS-2). Such a version also supports account SAS
    /// tokens.
    pub(super) fn signs_address(&self) -> bool {
        *self.0 >= *"2015-04-05"
    }

    /// Returns `true` if the signed resource starts with the service name in this version (SAS-3).
    pub(super) fn names_service(&self) -> bool {
        *self.0 >= *"2015-02-21"
    }

    /// Returns `true` if the string to sign for an account SAS includes `ses` in this version (ASAS-2).
    pub(super) fn signs_encryption(&self) -> bool {
        *self.0 >= *"2020-12-06"
    }
}

impl Default for SignedVersion {
    /// Returns the default version, 2019-02-02.
    fn default() -> Self {
        Self("2019-02-02".to_owned())
    }
}

impl fmt::Display for SignedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
