//! The strings to sign for SAS tokens. They contain parameters in a fixed order, one per line (SAS-1 to SAS-4, ASAS-1, ASAS-2).

use table_core::{Error, Result};

use super::fault::SasFault;
use super::parameters::Parameters;
use super::version::SignedVersion;

impl Parameters {
    /// Returns the string to sign for a table token (SAS-2 to SAS-4).
    ///
    /// # Errors
    /// - `InvalidInput` if the version is invalid, or if a value contains a line break.
    /// - `InvalidInput` if the token has addresses or a protocol, but signatures of its version do not cover them.
    pub(super) fn string_to_sign_of_table(&self, account: &str) -> Result<String> {
        let version = self.version()?;
        let table = self.get("tn").to_ascii_lowercase();
        let service = if version.names_service() { "/table" } else { "" };
        let resource = format!("{service}/{account}/{table}");
        self.string_to_sign(&version, &resource, &["sv", "spk", "srk", "epk", "erk"])
    }

    /// Returns the string to sign for a queue token. It differs from the string for a table token in two ways: it contains no key range, and the service name
    /// in the resource is `/queue`.
    ///
    /// # Errors
    /// `InvalidInput`, as in [`string_to_sign_of_table`](Self::string_to_sign_of_table).
    pub(super) fn string_to_sign_of_queue(&self, account: &str, queue: &str) -> Result<String> {
        let version = self.version()?;
        let service = if version.names_service() { "/queue" } else { "" };
        self.string_to_sign(&version, &format!("{service}/{account}/{queue}"), &["sv"])
    }

    fn string_to_sign(&self, version: &SignedVersion, resource: &str, last: &[&str]) -> Result<String> {
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
    /// `InvalidInput` if the version is invalid or does not support account SAS tokens, or if a value contains a line break.
    pub(super) fn string_to_sign_of_account(&self, account: &str) -> Result<String> {
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

    /// Returns the values of the given parameters. Each value is one line of the string to sign. A value with a line break is rejected, because it would occupy
    /// two lines.
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
