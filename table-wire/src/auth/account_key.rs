//! Account keys and their signatures (AUTH-1, AUTH-11).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use table_core::{Error, Result};

use super::fault::AuthFault;

/// The emulator's account name (AUTH-30).
pub const EMULATOR_ACCOUNT: &str = "devstoreaccount1";
/// The emulator's well-known key, published in Microsoft's documentation (AUTH-30).
pub const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The buffer size, in bytes, that the base64 decoder requires for a 32-byte signature.
const DECODED: usize = 33;

/// An account name and one of the account's two keys (AUTH-11). `Debug` prints only the name.
#[derive(Clone)]
pub struct AccountKey {
    account: String,
    key: Vec<u8>,
    /// An HMAC that is initialized with the key. It is cloned for each signature.
    mac: Hmac<Sha256>,
}

impl AccountKey {
    /// Creates an account key from base64 text.
    ///
    /// # Errors
    /// `AuthenticationFailed` if the key is empty or not base64. The message does not contain the key.
    ///
    /// ```
    /// use table_wire::auth::AccountKey;
    ///
    /// assert_eq!(AccountKey::new("contoso", "a2V5")?.account(), "contoso");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn new(account: impl Into<String>, key: &str) -> Result<Self> {
        let account = account.into();
        // HMAC accepts keys of any length. An empty key is rejected, because anyone could create signatures with it.
        let key = STANDARD.decode(key).ok().filter(|key| !key.is_empty());
        let ready = key.and_then(|key| Some((Hmac::new_from_slice(&key).ok()?, key)));
        let (mac, key) = ready.ok_or_else(|| Error::of(AuthFault::Key(account.clone())))?;
        Ok(Self { account, key, mac })
    }

    /// Returns the name of the account.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Returns the key in base64, for clients that sign their own requests. The key is a secret.
    ///
    /// ```
    /// use table_wire::auth::AccountKey;
    ///
    /// assert_eq!(AccountKey::new("contoso", "a2V5")?.to_base64(), "a2V5");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.key)
    }

    /// Returns `true` for the emulator's well-known key, under any account name. A signature with this key does not authenticate the sender (AUTH-30).
    ///
    /// ```
    /// use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};
    ///
    /// assert!(AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY)?.is_public());
    /// assert!(!AccountKey::new(EMULATOR_ACCOUNT, "a2V5")?.is_public());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.to_base64() == EMULATOR_KEY
    }

    /// Signs a string with HMAC-SHA256, and returns the signature in base64 (AUTH-1).
    ///
    /// ```
    /// use table_wire::auth::AccountKey;
    ///
    /// let signature = AccountKey::new("contoso", "a2V5")?.sign("text");
    /// assert_eq!(signature.len(), 44);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let mut mac = self.mac.clone();
        mac.update(text.as_bytes());
        STANDARD.encode(mac.finalize().into_bytes())
    }

    /// Returns `true` if `signature` is the signature of `text`. The comparison is constant-time.
    ///
    /// ```
    /// use table_wire::auth::AccountKey;
    ///
    /// let key = AccountKey::new("contoso", "a2V5")?;
    /// let signature = key.sign("text");
    /// assert!(key.verifies("text", &signature) && !key.verifies("texts", &signature));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn verifies(&self, text: &str, signature: &str) -> bool {
        let mut mac = self.mac.clone();
        mac.update(text.as_bytes());
        // If the signature is too long for the buffer, decoding fails, so it never matches.
        let mut decoded = [0; DECODED];
        let length = STANDARD.decode_slice(signature, &mut decoded);
        length.is_ok_and(|length| mac.verify_slice(decoded.get(..length).unwrap_or_default()).is_ok())
    }
}

impl PartialEq for AccountKey {
    fn eq(&self, other: &Self) -> bool {
        (&self.account, &self.key) == (&other.account, &other.key)
    }
}

impl Eq for AccountKey {}

impl fmt::Debug for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccountKey {{ account: {:?}, key: *** }}", self.account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that an empty key is rejected, because anyone can compute a signature with it.
    #[test]
    fn auth_11_an_empty_key_is_not_a_key() {
        for key in ["", "no base64!", "c2VjcmV0="] {
            let refused = AccountKey::new("contoso", key).unwrap_err();
            assert_eq!(refused.rule(), Some("AUTH-11"), "{key}");
            assert!(key.is_empty() || !refused.to_string().contains(key), "{refused}");
        }
    }
}
