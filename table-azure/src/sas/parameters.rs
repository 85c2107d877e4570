//! The parameters of a token and the texts that are signed for them (SAS-1 to SAS-4, ASAS-1, ASAS-2).

use table_core::{Error, ErrorCode, Result};

use super::percent::decode;
use super::version::SignedVersion;
use crate::http::encode;

/// Decoded names and values, in the order of the query string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The value; empty if there is none, as in strings-to-sign.
    pub(super) fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Adds one, unless its value is empty: keys may be, so they are [put](Self::put).
    pub(super) fn say(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.put(name, value);
        }
    }

    pub(super) fn put(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// As a query string, without `?`.
    pub(super) fn write(&self) -> String {
        let pairs = self.0.iter().map(|(name, value)| format!("{name}={}", encode(value)));
        pairs.collect::<Vec<_>>().join("&")
    }

    /// Reads a query string, with or without `?`. Messages show names only.
    ///
    /// # Errors
    /// `InvalidInput` if it is none, or has a name twice.
    pub(super) fn read(text: &str) -> Result<Self> {
        let refuse = |why: String| Err(Error::new(ErrorCode::InvalidInput, why).with_rule("SAS-1"));
        let mut read = Self::default();
        for (index, pair) in text.trim_start_matches('?').split('&').enumerate() {
            let decoded = pair.split_once('=').and_then(|(name, value)| Some((name, decode(value)?)));
            let Some((name, value)) = decoded else {
                return refuse(format!("part {} of the signature is no `name=value` of a query", index + 1));
            };
            if read.find(name).is_some() {
                return refuse(format!("the signature has `{}` twice", name.escape_debug()));
            }
            read.put(name, value);
        }
        Ok(read)
    }

    /// # Errors
    /// `InvalidInput` for a version that is none.
    pub(super) fn version(&self) -> Result<SignedVersion> {
        SignedVersion::new(self.get("sv"))
    }

    /// SAS-2 to SAS-4.
    ///
    /// # Errors
    /// `InvalidInput` for a version that is none.
    pub(super) fn string_of_table(&self, account: &str) -> Result<String> {
        let version = self.version()?;
        let table = self.get("tn");
        let resource = if version.names_service() {
            format!("/table/{account}/{}", table.to_ascii_lowercase())
        } else {
            format!("/{account}/{}", table.to_ascii_lowercase())
        };
        let mut lines = vec![self.get("sp"), self.get("st"), self.get("se"), &resource, self.get("si")];
        if version.signs_address() {
            lines.extend([self.get("sip"), self.get("spr")]);
        }
        lines.extend(["sv", "spk", "srk", "epk", "erk"].map(|name| self.get(name)));
        Ok(lines.join("\n"))
    }

    /// ASAS-2.
    ///
    /// # Errors
    /// `InvalidInput` for a version that is none.
    pub(super) fn string_of_account(&self, account: &str) -> Result<String> {
        let version = self.version()?;
        let mut text = format!("{account}\n");
        let encryption = version.signs_encryption().then_some("ses");
        for name in ["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"].into_iter().chain(encryption) {
            text.push_str(self.get(name));
            text.push('\n');
        }
        Ok(text)
    }
}
