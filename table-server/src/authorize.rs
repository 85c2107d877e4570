//! Authenticates requests by account key, shared access signature or bearer token.

use std::slice;

use chrono::Utc;
use http::header::{AUTHORIZATION, CONTENT_LENGTH};
use table_core::{Error, ErrorCode, QueueName, TableName};
use table_wire::auth::{Authorization, Scheme, SignedParts};
use table_wire::sas::{
    AccountPermissions, Grant, QueuePermissions, QueueToken, ResourceTypes, SasToken, SasVerifier, Services,
};

use crate::account::Account;
use crate::bearer::Bearer;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::service::Service;

/// A request's credential, which determines the permitted operations.
#[derive(Debug)]
pub(crate) enum Access {
    /// The account's key, which permits every operation.
    Key,
    /// A Microsoft Entra ID token, which permits every operation except those on stored access policies.
    Bearer,
    /// A SAS for a table or the account, and the verifier that checks it for this caller.
    Token(Box<(SasVerifier, SasToken)>),
    /// A SAS for the queue addressed by the request, and the verifier that checks it for this caller.
    Queue(Box<QueueAccess>),
}

/// A SAS for a queue. It is verified again when an operation begins, so expiry and revocation take effect even while a request's body is arriving.
#[derive(Debug)]
pub(crate) struct QueueAccess {
    authority: SasVerifier,
    queue: QueueName,
    token: QueueToken,
}

impl QueueAccess {
    /// Returns the operations that the SAS currently permits.
    ///
    /// # Errors
    /// `AuthenticationFailed` if the signature is wrong, the SAS is expired or not yet valid, or its stored policy is missing (SAS-11, ACL-4).
    pub(crate) fn verify(&self, account: &Account) -> Result<QueuePermissions, Refusal> {
        Ok(self.token.verify(&self.authority, &self.queue, &account.queue_policies(&self.queue))?)
    }
}

impl Access {
    /// Checks that the credential is the account's key.
    ///
    /// # Errors
    /// `AuthorizationFailure` if the credential is not the account's key. For queues, a bearer token is rejected with `AuthenticationFailed` instead.
    pub(crate) fn owner(&self, service: Service) -> Result<(), Refusal> {
        match self {
            Self::Key => Ok(()),
            Self::Bearer => {
                let help = "a bearer token does not permit operations on stored policies";
                let is_queue = service == Service::Queues;
                let code =
                    if is_queue { ErrorCode::AuthenticationFailed } else { ErrorCode::AuthorizationFailure };
                Err(denied(code, help))
            }
            Self::Token(_) | Self::Queue(_) => {
                Err(denied(ErrorCode::AuthorizationFailure, "this operation needs the account's key"))
            }
        }
    }

    /// Checks that the credential permits an operation on the service properties.
    ///
    /// # Errors
    /// 403 unless the credential permits reading or writing the service properties (ASAS-4).
    pub(crate) fn to_service(&self, service: Service, needed: AccountPermissions) -> Result<(), Refusal> {
        self.to_account(service, ResourceTypes::SERVICE, &[needed])
    }

    /// Checks that the credential permits an account-level operation. An account SAS must include one of the permissions in `any`.
    ///
    /// # Errors
    /// 403 if the credential is a table SAS or a queue SAS, neither of which can permit the operation (SAS-5), or an account SAS that does not include the
    /// service, the resource type, or any of the permissions (ASAS-5).
    pub(crate) fn to_account(
        &self,
        service: Service,
        types: ResourceTypes,
        any: &[AccountPermissions],
    ) -> Result<(), Refusal> {
        let token = match self {
            Self::Key | Self::Bearer => return Ok(()),
            Self::Token(token) => token,
            Self::Queue(_) => {
                let help = "a signature of a queue does not permit this operation";
                return Err(denied(ErrorCode::AuthorizationFailure, help));
            }
        };
        let Grant::Account(grant) = token.0.verify(&token.1)? else {
            let help = "a signature of a table does not permit this operation";
            return Err(denied(ErrorCode::AuthorizationFailure, help));
        };
        let needed = if service == Service::Tables { Services::TABLE } else { Services::QUEUE };
        let (code, help) = if !grant.services.contains(needed) {
            (ErrorCode::AuthorizationServiceMismatch, "the signature is for another service; see its `ss`")
        } else if !grant.types.contains(types) {
            (
                ErrorCode::AuthorizationResourceTypeMismatch,
                "the signature is for another type of resource; see its `srt`",
            )
        } else if !any.iter().any(|one| grant.permissions.contains(*one)) {
            (ErrorCode::AuthorizationPermissionMismatch, "the signature lacks the permission; see its `sp`")
        } else {
            return Ok(());
        };
        Err(denied(code, help))
    }
}

pub(crate) fn denied(code: ErrorCode, help: &'static str) -> Refusal {
    Error::new(code, help).into()
}

/// Verifies the credential in a request's head (the request line and headers).
///
/// If a request has both an `Authorization` header and a SAS, one of them must be valid, and it determines the permissions. The header is verified
/// first. An invalid header does not invalidate a valid SAS, because the sender could have omitted the header.
///
/// # Errors
/// `AuthenticationFailed` if the signature or token is wrong, the date is too old (AUTH-9), or the request has no credential. `InvalidAuthenticationInfo` if
/// the request has several `Authorization` headers, because a proxy may have verified a different one.
pub(crate) fn access(
    exchange: &Exchange,
    account: &Account,
    bearer: Option<&Bearer>,
) -> Result<Access, Refusal> {
    let header = exchange.single(&AUTHORIZATION).map_err(|_| {
        Refusal::new(400, "InvalidAuthenticationInfo", "send one `Authorization` header, in ASCII")
    })?;
    match (header, exchange.query("sig").is_some()) {
        (Some(header), has_token) => match by_header(header, exchange, account, bearer) {
            Err(refused) if has_token => by_token(exchange, account).map_err(|_| refused),
            access => access,
        },
        (None, true) => by_token(exchange, account),
        (None, false) => {
            let help = "the request has neither an Authorization header nor a `sig` in its query";
            Err(denied(ErrorCode::AuthenticationFailed, help))
        }
    }
}

fn by_header(
    header: &str,
    exchange: &Exchange,
    account: &Account,
    bearer: Option<&Bearer>,
) -> Result<Access, Refusal> {
    if let Some(token) = bearer_token(header) {
        let help = "this server does not accept bearer tokens; start it with --oauth";
        let bearer = bearer.ok_or_else(|| denied(ErrorCode::AuthenticationFailed, help))?;
        bearer.verify(token, account.name(), exchange)?;
        return Ok(Access::Bearer);
    }
    // The signature covers the declared length. A body of a different length is rejected when it is read.
    let declared = exchange.header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
    let parts = SignedParts {
        method: exchange.method.as_str(),
        path: &exchange.raw_path,
        query: &exchange.raw_query,
        headers: &exchange.headers,
        length: declared.unwrap_or(exchange.body.len()),
    };
    let scheme = if exchange.service == Service::Tables { Scheme::Table } else { Scheme::Storage };
    let (authorization, keys, now) =
        (Authorization::read(header)?, slice::from_ref(&account.key), Utc::now());
    let verify = |path: &str| authorization.verify(scheme, keys, SignedParts { path, ..parts }, now);
    verify(&exchange.raw_path).or_else(|refused| {
        // Some clients append a slash to the path after signing it. The slash has no meaning, so the signature may also be valid without it.
        let signed = exchange.raw_path.strip_suffix('/').ok_or_else(|| refused.clone())?;
        verify(signed).map_err(|_| refused)
    })?;
    Ok(Access::Key)
}

/// Verifies the SAS in a request's query.
///
/// # Errors
/// `AuthenticationFailed` if the SAS is incomplete or invalid; see [`access`].
fn by_token(exchange: &Exchange, account: &Account) -> Result<Access, Refusal> {
    if exchange.query("sv").is_none_or(|version| version.is_empty()) {
        let help = "the signature has no version; add the parameter `sv`, and no second `?` before it";
        return Err(denied(ErrorCode::AuthenticationFailed, help));
    }
    // In a request's query, a leading `?` is part of the first parameter's name. Only a standalone token may start with `?`, so `&` is prepended to the query.
    let query = ["&", &exchange.raw_query].concat();
    let authority = account.authority.clone().caller(exchange.caller);
    let is_of_account = exchange.query("ss").is_some();
    let name = exchange.path.split(['/', '(']).next().unwrap_or_default();
    if exchange.service == Service::Queues && !is_of_account {
        if name.is_empty() {
            let help = "a signature of a queue does not permit operations on the service";
            return Err(denied(ErrorCode::AuthenticationFailed, help));
        }
        let (queue, token) = (QueueName::new(name)?, query.parse::<QueueToken>()?);
        let access = QueueAccess { authority, queue, token };
        access.verify(account)?;
        return Ok(Access::Queue(Box::new(access)));
    }
    let token: SasToken = if is_of_account || exchange.query("tn").is_some() {
        query.parse()?
    } else {
        // A token without a table name applies to the table in the path. Its signature covers the name of this table.
        format!("{query}&tn={name}").parse()?
    };
    if let Some(table) = token.table().filter(|_| exchange.query("si").is_some()) {
        account.settings.authorize(&TableName::new(table)?)?;
    }
    // An invalid signature is rejected before the operation is examined.
    authority.verify(&token)?;
    Ok(Access::Token(Box::new((authority, token))))
}

/// Returns the token in an `Authorization` header with the scheme `Bearer`.
fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use table_wire::auth::AccountKey;

    use super::*;

    #[test]
    fn stored_policies_need_the_account_key() {
        for service in [Service::Tables, Service::Queues] {
            assert!(Access::Key.owner(service).is_ok());
            let key = AccountKey::new("contoso", "a2V5").unwrap();
            let (authority, queue) = (SasVerifier::new(key), QueueName::new("work").unwrap());
            let access =
                QueueAccess { authority, queue, token: "sv=2026-06-06&sig=YQ%3D%3D".parse().unwrap() };
            let refused = Access::Queue(Box::new(access)).owner(service).unwrap_err();
            assert_eq!((refused.status, refused.code), (403, "AuthorizationFailure"));
        }
        let code = |service| Access::Bearer.owner(service).unwrap_err().code;
        assert_eq!(code(Service::Tables), "AuthorizationFailure");
        assert_eq!(code(Service::Queues), "AuthenticationFailed");
    }
}
