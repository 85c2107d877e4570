//! Shared access signatures for a single queue (SAS rules for the queue service).

use std::fmt;
use std::str::FromStr;

use table_core::{Error, QueueName, Result};

use super::fault::SasFault;
use super::instant;
use super::parameters::Parameters;
use super::permissions::QueuePermissions;
use super::policy::{self, AccessPolicy, StoredAccessPolicy};
use super::verifier::SasVerifier;
use super::version::SignedVersion;
use crate::auth::AccountKey;

/// A shared access signature for one queue. The token does not contain the queue's name, but the signature covers it. A server takes the name from the request
/// path.
///
/// ```
/// use chrono::{TimeDelta, Utc};
/// use table_core::{ErrorCode, QueueName};
/// use table_wire::auth::AccountKey;
/// use table_wire::sas::{AccessPolicy, SasVerifier, QueuePermissions, QueueToken, StoredAccessPolicy};
///
/// let (key, work) = (AccountKey::new("contoso", "a2V5")?, QueueName::new("work")?);
/// let expiry = Some(Utc::now() + TimeDelta::hours(1));
/// let workers = AccessPolicy { expiry, permissions: Some(QueuePermissions::PROCESS), start: None };
/// let authority = SasVerifier::new(key.clone());
///
/// let token = QueueToken::sign(&key, &work, workers, None)?;
/// assert_eq!(token.verify(&authority, &work, &[])?, QueuePermissions::PROCESS);
/// let other = token.verify(&authority, &QueueName::new("other")?, &[]).unwrap_err();
/// assert_eq!(other.code(), ErrorCode::AuthenticationFailed);
///
/// let stored = [StoredAccessPolicy::new("workers", workers)?];
/// let token = QueueToken::sign(&key, &work, AccessPolicy::default(), Some("workers"))?;
/// assert_eq!(token.verify(&authority, &work, &stored)?, QueuePermissions::PROCESS);
/// assert_eq!(token.verify(&authority, &work, &[]).unwrap_err().rule(), Some("ACL-4"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct QueueToken(Parameters);

impl QueueToken {
    /// Signs a token with the values of `policy`. If `id` is set, the stored policy with that identifier supplies the missing values (SAS-10).
    ///
    /// # Errors
    /// `InvalidInput` if `id` is `None` and the permissions or expiry are missing, or if `id` is invalid (ACL-2).
    pub fn sign(
        key: &AccountKey,
        queue: &QueueName,
        policy: AccessPolicy<QueuePermissions>,
        id: Option<&str>,
    ) -> Result<Self> {
        if id.is_none() && (policy.permissions.is_none() || policy.expiry.is_none()) {
            return Err(Error::of(SasFault::Incomplete));
        }
        id.map(policy::check_id).transpose()?;
        let mut parameters = Parameters::default();
        parameters.put("sv", SignedVersion::default().as_str());
        parameters.put("sp", policy.permissions.as_ref().map(ToString::to_string).unwrap_or_default());
        parameters.put("st", policy.start.map(instant::write).unwrap_or_default());
        parameters.put("se", policy.expiry.map(instant::write).unwrap_or_default());
        parameters.put("si", id.unwrap_or_default());
        let signature = key.sign(&parameters.string_to_sign_of_queue(key.account(), queue.as_str())?);
        parameters.put("sig", signature);
        Ok(Self(parameters))
    }

    /// Verifies the token for a queue, and returns the permissions that it currently grants. `policies` are the queue's stored policies.
    ///
    /// # Errors
    /// Any error from [`SasVerifier::verify`], such as `AuthenticationFailed` if the signature is wrong.
    pub fn verify(
        &self,
        authority: &SasVerifier,
        queue: &QueueName,
        policies: &[StoredAccessPolicy<QueuePermissions>],
    ) -> Result<QueuePermissions> {
        let parameters = &self.0;
        authority
            .signed(parameters, |account| parameters.string_to_sign_of_queue(account, queue.as_str()))?;
        let stored = match parameters.find("si") {
            None => AccessPolicy::default(),
            Some(id) => {
                let found = policies.iter().find(|policy| policy.id() == id);
                *found.ok_or_else(|| Error::of(SasFault::NoPolicy))?.policy()
            }
        };
        authority.permissions(parameters, stored)
    }

    /// Returns the query string to append to request URLs (SAS-12). It is a secret.
    #[must_use]
    pub fn query_string(&self) -> String {
        self.0.write()
    }
}

impl FromStr for QueueToken {
    type Err = Error;

    /// Parses a token's query string.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a query string with a version and a signature, or if the token is for a table or an account (SAS-1).
    fn from_str(text: &str) -> Result<Self> {
        let parameters = Parameters::read(text)?;
        parameters.version()?;
        if parameters.get("sig").is_empty() {
            return Err(Error::of(SasFault::Unsigned));
        }
        if parameters.find("tn").or(parameters.find("ss")).is_some() {
            return Err(Error::of(SasFault::NotOfQueue));
        }
        Ok(Self(parameters))
    }
}

impl fmt::Debug for QueueToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueToken {{ expiry: {:?}, sig: *** }}", self.0.get("se"))
    }
}
