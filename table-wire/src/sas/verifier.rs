//! Verification of tokens with account keys, stored policies and a clock.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, Utc};
use table_core::{Clock, Error, Result, TableName};

use super::account::{ResourceTypes, Services};
use super::caller::{self, Caller};
use super::fault::SasFault;
use super::grant::{AccountGrant, Grant, TableGrant};
use super::instant;
use super::parameters::Parameters;
use super::permissions::AccountPermissions;
use super::policy::{AccessPolicy, StoredAccessPolicy};
use super::range::SignedRange;
use super::token::SasToken;
use crate::auth::AccountKey;

/// A verifier of SAS tokens that follows the service's rules. Clones share the stored policies.
///
/// The token's signed restrictions on addresses and protocol are enforced only if a [caller](Self::caller) is set.
///
/// ```
/// use chrono::DateTime;
/// use table_wire::auth::AccountKey;
/// use table_wire::sas::{SasVerifier, Grant, Lifetime, TablePermissions, TableSas};
/// use table_core::{Clock, ErrorCode, TableName};
///
/// let key = AccountKey::new("contoso", "a2V5")?;
/// let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
/// let token = TableSas::table(TableName::new("Employee")?)
///     .allow(TablePermissions::READ)
///     .lifetime(Lifetime::until(at(100)))
///     .sign(&key)?;
///
/// let authority = SasVerifier::new(key);
/// let Grant::Table(grant) = authority.clone().clock(Clock::of_instants(move || at(99))).verify(&token)? else { unreachable!() };
/// assert_eq!(grant.permissions, TablePermissions::READ);
/// let late = authority.clock(Clock::of_instants(move || at(100))).verify(&token).unwrap_err();
/// assert_eq!(late.code(), ErrorCode::AuthenticationFailed); // expired (SAS-11)
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SasVerifier {
    keys: Vec<AccountKey>,
    /// The stored policies, by lower-case table name.
    policies: Arc<RwLock<BTreeMap<String, Vec<StoredAccessPolicy>>>>,
    clock: Clock,
    caller: Option<Caller>,
}

impl SasVerifier {
    /// Creates a verifier for tokens signed with `key`.
    #[must_use]
    pub fn new(key: AccountKey) -> Self {
        Self { keys: vec![key], policies: Arc::default(), clock: Clock::default(), caller: None }
    }

    /// Also accepts tokens signed with `key`. An account has two keys to allow key rotation (AUTH-11).
    #[must_use]
    pub fn or_key(mut self, key: AccountKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Sets the clock for checking lifetimes. The default is the system clock.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the caller, whose address and protocol are checked against each token's restrictions (SAS-1, ASAS-5).
    #[must_use]
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = Some(caller);
        self
    }

    /// Replaces a table's policies, with immediate effect for all clones. Tokens that refer to a removed policy are rejected (ACL-1, ACL-4).
    ///
    /// # Errors
    /// `InvalidInput` if the list contains more than five policies or a duplicate identifier (ACL-2).
    pub fn set_policies(&self, table: &TableName, policies: Vec<StoredAccessPolicy>) -> Result<()> {
        StoredAccessPolicy::check(&policies)?;
        let mut all = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        if policies.is_empty() {
            all.remove(table.folded());
        } else {
            all.insert(table.folded().to_owned(), policies);
        }
        Ok(())
    }

    /// Verifies a token and returns the grant that it currently provides.
    ///
    /// # Errors
    /// - `AuthenticationFailed` if the signature is wrong, the current time is outside the lifetime, or the token's stored policy does not exist (SAS-11,
    ///   ACL-4).
    /// - `AuthorizationSourceIPMismatch` or `AuthorizationProtocolMismatch` if the token does not allow the [caller](Self::caller).
    /// - `InvalidInput` if the token is malformed.
    pub fn verify(&self, token: &SasToken) -> Result<Grant> {
        let parameters = &token.0;
        let is_table = token.table().is_some();
        self.signed(parameters, |account| {
            if is_table {
                parameters.string_to_sign_of_table(account)
            } else {
                parameters.string_to_sign_of_account(account)
            }
        })?;
        if is_table {
            self.table(parameters).map(Grant::Table)
        } else {
            self.account(parameters).map(Grant::Account)
        }
    }

    /// Verifies the signature against each key, and checks the caller against the signed restrictions.
    pub(super) fn signed(
        &self,
        parameters: &Parameters,
        text: impl Fn(&str) -> Result<String>,
    ) -> Result<()> {
        let signature = parameters.get("sig");
        let signed = |key: &AccountKey| Ok(key.verifies(&text(key.account())?, signature));
        let verified: Vec<bool> = self.keys.iter().map(signed).collect::<Result<_>>()?;
        if !verified.contains(&true) {
            return Err(Error::of(SasFault::Altered));
        }
        caller::admit(self.caller, parameters)
    }

    fn table(&self, parameters: &Parameters) -> Result<TableGrant> {
        let table = TableName::new(parameters.get("tn"))?;
        let stored = match parameters.find("si") {
            None => AccessPolicy::default(),
            Some(id) => self.policy(&table, id)?,
        };
        let permissions = self.permissions(parameters, stored)?;
        Ok(TableGrant { table, range: SignedRange::read(parameters)?, permissions })
    }

    /// Checks that the token is valid now, and returns its permissions. Lifetime and permissions may come from the stored policy.
    pub(super) fn permissions<P: FromStr<Err = Error>>(
        &self,
        parameters: &Parameters,
        stored: AccessPolicy<P>,
    ) -> Result<P> {
        let start = parameters.find("st").map(instant::read).transpose()?;
        let expiry = parameters.find("se").map(instant::read).transpose()?;
        let permissions = parameters.find("sp").map(P::from_str).transpose()?;
        let start = one("st", start, stored.start)?;
        let expiry = one("se", expiry, stored.expiry)?;
        let permissions = one("sp", permissions, stored.permissions)?;
        let (Some(expiry), Some(permissions)) = (expiry, permissions) else {
            return Err(Error::of(SasFault::Unsupplied));
        };
        self.in_time(start, expiry)?;
        Ok(permissions)
    }

    fn account(&self, parameters: &Parameters) -> Result<AccountGrant> {
        let start = parameters.find("st").map(instant::read).transpose()?;
        self.in_time(start, instant::read(parameters.get("se"))?)?;
        Ok(AccountGrant {
            services: Services::read(parameters.get("ss"))?,
            types: ResourceTypes::read(parameters.get("srt"))?,
            permissions: AccountPermissions::read(parameters.get("sp"))?,
        })
    }

    fn policy(&self, table: &TableName, id: &str) -> Result<AccessPolicy> {
        let all = self.policies.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(table.folded()).and_then(|own| own.iter().find(|policy| policy.id() == id));
        found.map(|policy| *policy.policy()).ok_or_else(|| Error::of(SasFault::NoPolicy))
    }

    fn in_time(&self, start: Option<DateTime<Utc>>, expiry: DateTime<Utc>) -> Result<()> {
        let now = self.clock.instant();
        if start.is_some_and(|start| now < start) {
            return Err(Error::of(SasFault::Early));
        }
        if now >= expiry {
            return Err(Error::of(SasFault::Expired));
        }
        Ok(())
    }
}

/// Returns a value from the token or its policy, or an error if both define it (SAS-10).
fn one<T>(name: &'static str, own: Option<T>, stored: Option<T>) -> Result<Option<T>> {
    if own.is_some() && stored.is_some() {
        return Err(Error::of(SasFault::SaidTwice(name)));
    }
    Ok(own.or(stored))
}
