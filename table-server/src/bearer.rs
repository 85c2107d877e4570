//! Entra ID bearer tokens, verified against an issuer and its keys (AUTH-12).

mod claims;
#[cfg(feature = "tls")]
mod keys;

use chrono::Utc;

use crate::exchange::Exchange;
use crate::refusal::Refusal;
use claims::{Claims, Parts};
#[cfg(feature = "tls")]
use keys::KeySet;

/// The URL prefixes of issuers accepted by Azurite.
const KNOWN_ISSUERS: [&str; 4] = [
    "https://sts.windows.net/",
    "https://sts.microsoftonline.de/",
    "https://sts.chinacloudapi.cn/",
    "https://sts.windows-ppe.net/",
];

/// The bearer tokens accepted by a server, over HTTPS only. A token permits every operation except those on stored access policies.
#[derive(Clone, Debug)]
pub struct Bearer(Trust);

#[derive(Clone, Debug)]
enum Trust {
    /// Lifetime, issuer and audience are checked, but the signature is not.
    Basic,
    /// Signatures are verified with the keys of one issuer.
    #[cfg(feature = "tls")]
    Issuer { issuer: String, audience: Option<String>, keys: KeySet },
}

impl Bearer {
    /// Accepts tokens with a valid lifetime, issuer and audience **without checking their signature**, like Azurite with `--oauth basic`. Anyone can create
    /// such a token, so a server accepting them must listen only on loopback.
    #[must_use]
    pub const fn insecure_without_signature_check() -> Self {
        Self(Trust::Basic)
    }

    /// Accepts tokens that an issuer has signed (RS256) with one of its keys. `keys` is the JSON Web Key Set published by the issuer. The audience must be the
    /// storage service, the account's endpoint, or `audience`. If the set has several keys with an ID, a token must name its key (`kid`).
    ///
    /// # Errors
    /// `InvalidInput` if `keys` is not a key set, or contains no RSA key.
    ///
    /// ```
    /// use table_server::Bearer;
    ///
    /// let keys = r#"{"keys":[{"kty":"RSA","kid":"one","n":"sXchbWFnaW5l","e":"AQAB"}]}"#;
    /// let tenant = "https://login.microsoftonline.com/ab1f708d-50f6-404c-a006-d71b2ac7a606/v2.0";
    /// let accepted = Bearer::issued_by(tenant, None, keys)?;
    /// # let _ = accepted;
    /// assert!(Bearer::issued_by(tenant, None, "{}").is_err());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[cfg(feature = "tls")]
    pub fn issued_by(issuer: &str, audience: Option<&str>, keys: &str) -> table_core::Result<Self> {
        let keys = KeySet::read(keys)?;
        Ok(Self(Trust::Issuer { issuer: issuer.to_owned(), audience: audience.map(str::to_owned), keys }))
    }

    /// Returns `true` if tokens are accepted without checking their signature.
    pub(crate) const fn is_unsigned(&self) -> bool {
        matches!(self.0, Trust::Basic)
    }

    /// Verifies a request's bearer token.
    ///
    /// # Errors
    /// `AuthenticationFailed` if the token is not accepted. The message names the failed check, but does not repeat the token.
    pub(crate) fn verify(&self, token: &str, account: &str, exchange: &Exchange) -> Result<(), Refusal> {
        let refuse = |help: &str| Refusal::new(403, "AuthenticationFailed", help);
        if !exchange.caller.secure {
            return Err(refuse("Authentication scheme Bearer is not allowed with HTTP."));
        }
        let parts = Parts::of(token).ok_or_else(|| refuse("the bearer token is not a JSON Web Token"))?;
        let claims: Claims =
            parts.claims().ok_or_else(|| refuse("the bearer token lacks claims: aud, exp, iat, iss, nbf"))?;
        if !self.trusts(&claims.iss) {
            return Err(refuse("Invalid token issuer."));
        }
        #[cfg(feature = "tls")]
        if let Trust::Issuer { keys, .. } = &self.0
            && !keys.verifies(&parts)
        {
            return Err(refuse("the bearer token is not signed by a key of its issuer"));
        }
        claims.check_lifetime(Utc::now().timestamp()).map_err(refuse)?;
        if !self.is_for(&claims, account, exchange) {
            return Err(refuse("Invalid token audience."));
        }
        Ok(())
    }

    fn trusts(&self, issuer: &str) -> bool {
        match &self.0 {
            Trust::Basic => KNOWN_ISSUERS.iter().any(|known| issuer.starts_with(known)),
            #[cfg(feature = "tls")]
            Trust::Issuer { issuer: known, .. } => issuer == known,
        }
    }

    fn is_for(&self, claims: &Claims, account: &str, exchange: &Exchange) -> bool {
        match &self.0 {
            #[cfg(feature = "tls")]
            Trust::Issuer { audience: Some(own), .. }
                if claims.audiences().any(|audience| audience == own) =>
            {
                true
            }
            _ => claims.is_for(account, exchange.service),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "tls")]
mod tests;
