//! An account as written in a flag or a file: a name, and optionally a key.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use table_core::{Error, Result};
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::fault::ProgramFault;

/// A name, and optionally a key. Neither is checked while flags are parsed, because the parser's message about an invalid flag would contain the key. `Debug`
/// prints only the name.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Spelled {
    pub(crate) name: String,
    pub(crate) key: Option<String>,
}

impl Spelled {
    /// Returns the account's own key, otherwise `fallback`, otherwise the well-known key if the account is the emulator's.
    ///
    /// # Errors
    /// `InvalidInput` if the name is invalid or the key is missing. `AuthenticationFailed` if the key is not base64.
    pub(crate) fn key(&self, fallback: Option<&str>) -> Result<AccountKey> {
        let name = &self.name;
        let letters = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !letters || !(3..=24).contains(&name.len()) {
            return Err(Error::of(ProgramFault::Name(name.clone())));
        }
        let public = (name == EMULATOR_ACCOUNT).then_some(EMULATOR_KEY);
        let key = self.key.as_deref().or(fallback).or(public);
        AccountKey::new(name, key.ok_or_else(|| Error::of(ProgramFault::NoKey(name.clone())))?)
    }
}

impl FromStr for Spelled {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.split_once('=') {
            Some((name, key)) => Self { name: name.to_owned(), key: Some(key.to_owned()) },
            None => Self { name: text.to_owned(), key: None },
        })
    }
}

impl fmt::Debug for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spelled {{ name: {:?}, key: *** }}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Spelled {
        text.parse().unwrap()
    }

    #[test]
    fn a_key_is_taken_from_the_account_the_variable_or_the_public_key() {
        assert_eq!(spelled("contoso=a2V5").key(Some("b3RoZXI=")).unwrap().to_base64(), "a2V5");
        assert_eq!(spelled("contoso").key(Some("b3RoZXI=")).unwrap().to_base64(), "b3RoZXI=");
        assert!(spelled("devstoreaccount1").key(None).unwrap().is_public());
        assert!(!spelled("devstoreaccount1=a2V5").key(None).unwrap().is_public());
        // A key may end with `=`, which also separates the key from the name.
        assert_eq!(spelled("contoso=b3RoZXI=").key(None).unwrap().to_base64(), "b3RoZXI=");
    }

    /// Tests that the error for an invalid name does not repeat the key. A name is used as a folder name and in every URL.
    #[test]
    fn a_refusal_does_not_repeat_the_key() {
        for text in [
            "=c2VjcmV0",
            "ab=c2VjcmV0",
            "../up=c2VjcmV0",
            "Contoso=c2VjcmV0",
            "con-toso=c2VjcmV0",
            "contoso=c2VjcmV0!",
        ] {
            let error = spelled(text).key(None).unwrap_err();
            assert!(!format!("{error:?}").contains("c2VjcmV0"), "{error:?}");
            assert!(!format!("{:?}", spelled(text)).contains("c2VjcmV0"), "{text}");
        }
        assert!(spelled("contoso").key(None).unwrap_err().to_string().contains("--account contoso=KEY"));
    }
}
