//! The parameters of a token, and the strings to sign that contain them (SAS-1 to SAS-4, ASAS-1, ASAS-2).

use std::collections::BTreeSet;

use table_core::{Error, Result};

use super::fault::SasFault;
use super::version::SignedVersion;
use crate::percent::{decode, encode};

/// Decoded names and values in the order of the query string. No value is empty. In a string to sign, an empty value and a missing value produce the
/// same line, so empty values are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Returns the value of a parameter. A missing parameter has an empty value, as in strings to sign.
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

    /// Parses a query string, with or without `?`. Error messages contain only the names of parameters. Empty pairs are skipped, because some clients
    /// start the query with `&` or repeat the `&`.
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

    /// Returns the string to sign for a table token (SAS-2 to SAS-4).
    ///
    /// # Errors
    /// `InvalidInput` if the version is invalid, a value contains a line break, or the token has addresses or a protocol that its version does not sign.
    pub(super) fn string_of_table(&self, account: &str) -> Result<String> {
        let version = self.version()?;
        let table = self.get("tn").to_ascii_lowercase();
        let service = if version.names_service() { "/table" } else { "" };
        let resource = format!("{service}/{account}/{table}");
        self.string_of(&version, &resource, &["sv", "spk", "srk", "epk", "erk"])
    }

    /// Returns the string to sign for a queue token. The resource starts with `/queue`, and the string contains no keys.
    ///
    /// # Errors
    /// `InvalidInput`, as in [`string_of_table`](Self::string_of_table).
    pub(super) fn string_of_queue(&self, account: &str, queue: &str) -> Result<String> {
        let version = self.version()?;
        let service = if version.names_service() { "/queue" } else { "" };
        self.string_of(&version, &format!("{service}/{account}/{queue}"), &["sv"])
    }

    fn string_of(&self, version: &SignedVersion, resource: &str, last: &[&str]) -> Result<String> {
        let mut lines = self.lines(&["sp", "st", "se"])?;
        lines.push(resource);
        lines.extend(self.lines(&["si"])?);
        if version.signs_address() {
            lines.extend(self.lines(&["sip", "spr"])?);
        } else if self.find("sip").or(self.find("spr")).is_some() {
            return Err(Error::of(SasFault::OldVersion));
        }
        lines.extend(self.lines(last)?);
        Ok(lines.join("\n"))
    }

    /// Returns the string to sign for an account token (ASAS-2).
    ///
    /// # Errors
    /// `InvalidInput` if the version is invalid or has no account SAS tokens, or if a value contains a line break.
    pub(super) fn string_of_account(&self, account: &str) -> Result<String> {
        let version = self.version()?;
        if !version.signs_address() {
            return Err(Error::of(SasFault::OldVersionOfAccount));
        }
        let mut lines = vec![account];
        lines.extend(self.lines(&["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"])?);
        if version.signs_encryption() {
            lines.extend(self.lines(&["ses"])?);
        }
        lines.push("");
        Ok(lines.join("\n"))
    }

    /// Returns the values of the given parameters, each of which is one line of the string to sign. A value with a line break is an error, because it
    /// would occupy two lines.
    fn lines(&self, names: &[&str]) -> Result<Vec<&str>> {
        let line = |name: &&str| {
            let value = self.get(name);
            if value.chars().any(char::is_control) {
                return Err(Error::of(SasFault::ControlCharacter((*name).to_owned())));
            }
            Ok(value)
        };
        names.iter().map(line).collect()
    }
}
