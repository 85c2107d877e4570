//! Flags for bearer tokens.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use table_core::{Error, Result};
use table_server::Bearer;

use crate::fault::ProgramFault;
use crate::file::File;

/// The checks on bearer tokens when no signing keys are configured.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Checks lifetime, issuer and audience, but not the signature.
    Basic,
}

/// The program's flags for bearer tokens, which require HTTPS.
#[derive(Debug, Default, Args)]
pub(crate) struct OAuthFlags {
    /// Accept Entra ID bearer tokens without checking their signature, as Azurite does; only on loopback.
    #[arg(long, env = "TABLE_SERVER_OAUTH", value_enum)]
    oauth: Option<Level>,
    /// Accept bearer tokens from this issuer, such as `https://sts.windows.net/TENANT/`.
    #[arg(long, env = "TABLE_SERVER_OAUTH_ISSUER", value_name = "URL", requires = "oauth_keys")]
    oauth_issuer: Option<String>,
    /// The issuer's keys: the JSON Web Key Set that it publishes at its `jwks_uri`.
    #[arg(long, env = "TABLE_SERVER_OAUTH_KEYS", value_name = "FILE", requires = "oauth_issuer")]
    oauth_keys: Option<PathBuf>,
    /// An audience to accept in addition to `https://storage.azure.com` and the account's endpoint.
    #[arg(long, env = "TABLE_SERVER_OAUTH_AUDIENCE", value_name = "URL", requires = "oauth_issuer")]
    oauth_audience: Option<String>,
}

impl OAuthFlags {
    /// Keeps only the flags for which `counts` returns `true`.
    pub(crate) fn retain(&mut self, counts: impl Fn(&'static str) -> bool) {
        self.oauth = self.oauth.take().filter(|_| counts("oauth"));
        self.oauth_issuer = self.oauth_issuer.take().filter(|_| counts("oauth_issuer"));
        self.oauth_keys = self.oauth_keys.take().filter(|_| counts("oauth_keys"));
        self.oauth_audience = self.oauth_audience.take().filter(|_| counts("oauth_audience"));
    }

    /// Returns the bearer tokens to accept, or `None` if none are configured. The file is used only if the flags specify neither a level nor an issuer.
    ///
    /// # Errors
    /// `InvalidInput` if the settings are incomplete or mutually exclusive, if the key file is not a key set, or if an issuer is given and the program was
    /// built without TLS. `Io` if the key file cannot be read.
    pub(crate) fn bearer(&self, file: &File) -> Result<Option<Bearer>> {
        let own = (&self.oauth, &self.oauth_issuer, &self.oauth_keys, &self.oauth_audience);
        let of_file = (&file.oauth, &file.oauth_issuer, &file.oauth_keys, &file.oauth_audience);
        match if own.0.is_none() && own.1.is_none() { of_file } else { own } {
            (None, None, None, None) => Ok(None),
            (Some(Level::Basic), None, None, None) => Ok(Some(Bearer::insecure_without_signature_check())),
            (None, Some(issuer), Some(keys), audience) => issued(issuer, keys, audience.as_deref()).map(Some),
            _ => Err(Error::of(ProgramFault::HalfOAuth)),
        }
    }
}

#[cfg(feature = "tls")]
fn issued(issuer: &str, keys: &std::path::Path, audience: Option<&str>) -> Result<Bearer> {
    let text = std::fs::read_to_string(keys)
        .map_err(|source| Error::of(ProgramFault::File { path: keys.to_owned(), source }))?;
    Bearer::issued_by(issuer, audience, &text)
}

#[cfg(not(feature = "tls"))]
fn issued(_: &str, _: &std::path::Path, _: Option<&str>) -> Result<Bearer> {
    Err(Error::of(ProgramFault::NoTls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_settings_come_from_the_flags_or_else_from_the_file() {
        let file = |toml: &str| toml::from_str::<File>(toml).unwrap();
        let none = OAuthFlags::default();
        assert!(none.bearer(&file("")).unwrap().is_none());
        assert!(none.bearer(&file("oauth = 'basic'")).unwrap().is_some());
        for half in [
            "oauth-issuer = 'x'",
            "oauth-keys = 'x'",
            "oauth = 'basic'\noauth-issuer = 'x'\noauth-keys = 'y'",
        ] {
            assert!(none.bearer(&file(half)).is_err(), "{half}");
        }
        let flags = OAuthFlags { oauth: Some(Level::Basic), ..OAuthFlags::default() };
        assert!(flags.bearer(&file("oauth-issuer = 'x'")).unwrap().is_some());
    }
}
