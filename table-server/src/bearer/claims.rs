//! Splits a JSON Web Token into its parts, and checks its claims.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::service::Service;

/// The maximum clock skew between the issuer and this server, in seconds.
const SKEW: i64 = 300;
/// The audience valid for all storage accounts, as a URL and as an application ID.
const STORAGE: [&str; 2] = ["https://storage.azure.com", "e406a681-f3d4-42a8-90b6-c2b029497af1"];
/// The domain suffixes of account endpoints in the public and national Azure clouds.
const CLOUDS: [&str; 4] =
    ["core.windows.net", "core.chinacloudapi.cn", "core.usgovcloudapi.net", "core.cloudapi.de"];

/// The parts of a token. `signed` is the signed text, `header.claims`.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "signatures are verified with the feature `tls`")
    )]
    pub(super) signed: &'a str,
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "signatures are verified with the feature `tls`")
    )]
    pub(super) header: Vec<u8>,
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "signatures are verified with the feature `tls`")
    )]
    pub(super) signature: Vec<u8>,
    claims: Vec<u8>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok();
        Some(Self { signed, header: decode(header)?, signature: decode(signature)?, claims: decode(claims)? })
    }

    pub(super) fn claims(&self) -> Option<Claims> {
        serde_json::from_slice(&self.claims).ok()
    }
}

/// The claims checked by the server.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    pub(super) iss: String,
    aud: Audience,
    exp: i64,
    nbf: i64,
    #[expect(dead_code, reason = "a token without it is refused")]
    iat: i64,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Claims {
    /// Checks that the token is valid at `now`, with a tolerance for clock skew.
    ///
    /// # Errors
    /// The reason if the token is expired or not yet valid.
    pub(super) fn check_lifetime(&self, now: i64) -> Result<(), &'static str> {
        if now < self.nbf.saturating_sub(SKEW) {
            return Err("Lifetime validation failed. The token is not yet valid.");
        }
        if now > self.exp.saturating_add(SKEW) {
            return Err("Lifetime validation failed. The token is expired.");
        }
        Ok(())
    }

    pub(super) fn audiences(&self) -> impl Iterator<Item = &str> {
        match &self.aud {
            Audience::One(one) => std::slice::from_ref(one),
            Audience::Several(several) => several,
        }
        .iter()
        .map(String::as_str)
    }

    /// Returns `true` if the token's audience is the storage service or the account's endpoint for `service`.
    pub(super) fn is_for(&self, account: &str, service: Service) -> bool {
        let service = if service == Service::Tables { "table" } else { "queue" };
        let endpoint = |cloud: &str| format!("https://{account}.{service}.{cloud}");
        self.audiences().any(|audience| {
            let audience = audience.strip_suffix('/').unwrap_or(audience);
            STORAGE.contains(&audience) || CLOUDS.iter().any(|cloud| endpoint(cloud) == audience)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(aud: &str) -> Claims {
        serde_json::from_str(&format!(r#"{{"iss":"x","aud":{aud},"exp":2000,"nbf":1000,"iat":1000}}"#))
            .unwrap()
    }

    #[test]
    fn a_token_is_for_storage_or_for_one_account() {
        for (audience, expected) in [
            (r#""https://storage.azure.com""#, true),
            (r#""https://storage.azure.com/""#, true),
            (r#""e406a681-f3d4-42a8-90b6-c2b029497af1""#, true),
            (r#"["other","https://contoso.table.core.windows.net"]"#, true),
            (r#""https://contoso.queue.core.windows.net""#, false),
            (r#""https://fabrikam.table.core.windows.net""#, false),
            (r#""https://storage.azure.com.evil.com""#, false),
            (r#""""#, false),
        ] {
            assert_eq!(claims(audience).is_for("contoso", Service::Tables), expected, "{audience}");
        }
    }

    #[test]
    fn a_token_has_a_lifetime() {
        for (now, expected) in [(600, false), (700, true), (1_500, true), (2_300, true), (2_301, false)] {
            assert_eq!(claims(r#""x""#).check_lifetime(now).is_ok(), expected, "{now}");
        }
    }

    #[test]
    fn other_texts_are_not_tokens() {
        for text in ["", "a", "a.b", "a.b.c.d", "!.!.!", "e30.e30", "é.é.é"] {
            assert!(Parts::of(text).and_then(|parts| parts.claims()).is_none(), "{text}");
        }
        // The claims are an empty object.
        assert!(Parts::of("e30.e30.").unwrap().claims().is_none());
    }
}
