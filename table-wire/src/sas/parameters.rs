//! Token parameters.

use std::collections::BTreeSet;

use table_core::{Error, Result};

use super::fault::SasFault;
use super::version::SignedVersion;
use crate::percent::{decode, encode};

/// The decoded names and values of a token's parameters, in query-string order. Empty values are dropped, because an empty value and a missing one have the
/// same string to sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Returns the value of a parameter, or an empty string if the parameter is missing. Strings to sign do not distinguish these cases.
    pub(super) fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Adds a parameter unless the value is empty.
    pub(super) fn put(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.0.push((name.to_owned(), value));
        }
    }

    /// Returns the parameters as a query string without `?`.
    pub(super) fn write(&self) -> String {
        let pairs = self.0.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        pairs.collect::<Vec<_>>().join("&")
    }

    /// Parses a query string, with or without `?`. Empty pairs are skipped, because some clients start the query with `&` or write `&` twice. Error messages
    /// contain no parameter values.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a query string. `AuthenticationFailed` if a name occurs twice.
    pub(super) fn read(text: &str) -> Result<Self> {
        let (mut read, mut names) = (Self::default(), BTreeSet::new());
        let pairs = text.trim_start_matches('?').split('&').enumerate();
        for (index, pair) in pairs.filter(|(_, pair)| !pair.is_empty()) {
            let decoded =
                pair.split_once('=').and_then(|(name, value)| Some((decode(name)?, decode(value)?)));
            let Some((name, value)) = decoded else {
                return Err(Error::of(SasFault::Part(index + 1)));
            };
            read.put(&name, value.into_owned());
            if let Some(name) = names.replace(name.into_owned()) {
                return Err(Error::of(SasFault::Twice(name)));
            }
        }
        Ok(read)
    }

    /// Returns the signed version.
    ///
    /// # Errors
    /// `InvalidInput` if the version is invalid.
    pub(super) fn version(&self) -> Result<SignedVersion> {
        SignedVersion::new(self.get("sv"))
    }
}
