//! An issuer's keys: a JSON Web Key Set (RFC 7517) of RSA keys.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde::Deserialize;
use table_core::{Error, Result};

use super::claims::Parts;
use crate::fault::ServerFault;

/// An issuer's public keys, used to verify RS256 signatures.
#[derive(Clone)]
pub(super) struct KeySet(Arc<[Key]>);

struct Key {
    id: Option<String>,
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

impl KeySet {
    /// Parses a JSON Web Key Set.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a key set, or contains no RSA key.
    pub(super) fn read(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<One>,
        }
        #[derive(Deserialize)]
        struct One {
            kty: String,
            kid: Option<String>,
            n: Option<String>,
            e: Option<String>,
        }
        let set: Set = serde_json::from_str(text).map_err(|_| Error::of(ServerFault::KeySet))?;
        let decode = |text: Option<String>| URL_SAFE_NO_PAD.decode(text?.trim_end_matches('=')).ok();
        let rsa = set.keys.into_iter().filter(|key| key.kty == "RSA");
        let keys: Option<Arc<[Key]>> = rsa
            .map(|key| Some(Key { id: key.kid, modulus: decode(key.n)?, exponent: decode(key.e)? }))
            .collect();
        match keys {
            Some(keys) if !keys.is_empty() => Ok(Self(keys)),
            _ => Err(Error::of(ServerFault::KeySet)),
        }
    }

    /// Returns `true` if the token is signed with one of the keys. If both the token and the key have an ID, the IDs must match. A token without an ID is
    /// checked only against keys without an ID, or against the only key in a set. Trying every key would be expensive, and anyone can send tokens.
    pub(super) fn verifies(&self, token: &Parts<'_>) -> bool {
        #[derive(Deserialize)]
        struct Header {
            alg: String,
            kid: Option<String>,
        }
        let Ok(header) = serde_json::from_slice::<Header>(&token.header) else { return false };
        // The algorithm is fixed, because a token must not choose how it is verified.
        if header.alg != "RS256" {
            return false;
        }
        let is_only = self.0.len() == 1;
        let named =
            |key: &&Key| key.id.is_none() || key.id == header.kid || (is_only && header.kid.is_none());
        self.0.iter().filter(named).any(|key| {
            let components = RsaPublicKeyComponents { n: &key.modulus, e: &key.exponent };
            let verified =
                components.verify(&RSA_PKCS1_2048_8192_SHA256, token.signed.as_bytes(), &token.signature);
            verified.is_ok()
        })
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.id)).finish()
    }
}
