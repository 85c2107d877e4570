//! The sender of a request: the owner of the account's key, or the holder of a shared access signature.

use std::slice;

use chrono::Utc;
use http::header::AUTHORIZATION;
use table_core::{Error, ErrorCode, QueueName};
use table_wire::auth::{Authorization, Scheme, SignedParts};
use table_wire::sas::{Authority, QueuePermissions, QueueToken, SasToken};

use crate::account::Account;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::service::Service;

/// What a request is allowed by.
#[derive(Debug)]
pub(crate) enum Access {
    /// The account's key: everything.
    Key,
    /// A token, held against its caller.
    Token(Box<(Authority, SasToken)>),
    /// A token of the queue that the request is for.
    Queue(QueuePermissions),
}

impl Access {
    /// # Errors
    /// 403 where only the key is enough.
    pub(crate) fn owner(&self) -> Result<(), Refusal> {
        match self {
            Self::Key => Ok(()),
            Self::Token(_) | Self::Queue(_) => {
                Err(Error::new(ErrorCode::AuthorizationFailure, "this needs the account's key").into())
            }
        }
    }
}

/// The access that the signature of a request gives.
///
/// # Errors
/// `AuthenticationFailed` for a wrong signature, an old date (AUTH-9), or none.
pub(crate) fn access(exchange: &Exchange, account: &Account) -> Result<Access, Refusal> {
    if let Some(header) = exchange.header(AUTHORIZATION) {
        let parts = SignedParts {
            method: exchange.method.as_str(),
            path: &exchange.raw_path,
            query: &exchange.raw_query,
            headers: &exchange.headers,
            length: exchange.body.len(),
        };
        let scheme = if exchange.service == Service::Tables { Scheme::Table } else { Scheme::Storage };
        Authorization::read(header)?.verify(scheme, slice::from_ref(&account.key), parts, Utc::now())?;
        return Ok(Access::Key);
    }
    if exchange.query("sig").is_some() {
        let authority = account.authority.clone().caller(exchange.caller);
        if exchange.service == Service::Queues && exchange.query("ss").is_none() {
            let name = exchange.path.split('/').next().unwrap_or_default();
            let (queue, token) = (QueueName::new(name)?, exchange.raw_query.parse::<QueueToken>()?);
            let policies = account.queue_policies(&queue);
            return Ok(Access::Queue(token.verify(&authority, &queue, &policies)?));
        }
        let token: SasToken = exchange.raw_query.parse()?;
        // Verified here, too: a wrong signature is refused before anything else is looked at.
        authority.verify(&token)?;
        return Ok(Access::Token(Box::new((authority, token))));
    }
    Err(Error::new(ErrorCode::AuthenticationFailed, "the request is not signed").into())
}
