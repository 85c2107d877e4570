//! What a shared access signature of the account, or of one queue, allows on queues (ASAS and SAS rules).

use table_core::{Error, ErrorCode};
use table_wire::sas::{AccountPermissions as May, Grant, QueuePermissions, ResourceTypes, Services};

use crate::authorize::Access;
use crate::refusal::Refusal;

/// On the list of queues.
pub(super) fn list(access: &Access) -> Result<(), Refusal> {
    check(access, ResourceTypes::SERVICE, &[May::LIST], None)
}

/// On a queue as a whole, or on its settings.
pub(super) fn queue(access: &Access, verb: &str, settings: bool) -> Result<(), Refusal> {
    let (any, own): (&[May], _) = match verb {
        "PUT" if settings => (&[May::WRITE], None),
        "PUT" => (&[May::CREATE, May::WRITE], None),
        "DELETE" => (&[May::DELETE], None),
        _ => (&[May::READ], Some(QueuePermissions::READ)),
    };
    check(access, ResourceTypes::CONTAINER, any, own)
}

/// On its messages.
pub(super) fn messages(access: &Access, verb: &str, one: bool, peek: bool) -> Result<(), Refusal> {
    let (any, own) = match (verb, one) {
        ("POST", _) => (May::ADD, Some(QueuePermissions::ADD)),
        ("PUT", _) => (May::UPDATE, Some(QueuePermissions::UPDATE)),
        ("DELETE", true) => (May::PROCESS, Some(QueuePermissions::PROCESS)),
        ("DELETE", false) => (May::DELETE, None),
        _ if peek => (May::READ, Some(QueuePermissions::READ)),
        _ => (May::PROCESS, Some(QueuePermissions::PROCESS)),
    };
    check(access, ResourceTypes::OBJECT, &[any], own)
}

/// `any` of an account's token is enough; `own` is what a token of the queue needs, where one is enough at all.
fn check(
    access: &Access,
    types: ResourceTypes,
    any: &[May],
    own: Option<QueuePermissions>,
) -> Result<(), Refusal> {
    let refuse = |code, message: &str| Err(Error::new(code, message).into());
    let token = match access {
        Access::Key => return Ok(()),
        Access::Queue(granted) if own.is_some_and(|own| granted.contains(own)) => return Ok(()),
        Access::Queue(_) => {
            return refuse(ErrorCode::AuthorizationPermissionMismatch, "the signature does not permit this");
        }
        Access::Token(token) => token,
    };
    let Grant::Account(grant) = token.0.verify(&token.1)? else {
        return refuse(ErrorCode::AuthorizationFailure, "the signature is one of a table");
    };
    if !grant.services.contains(Services::QUEUE) {
        return refuse(ErrorCode::AuthorizationServiceMismatch, "the signature is not for queues");
    }
    if !grant.types.contains(types) {
        return refuse(
            ErrorCode::AuthorizationResourceTypeMismatch,
            "the signature is not for this kind of resource",
        );
    }
    if !any.iter().any(|one| grant.permissions.contains(*one)) {
        return refuse(ErrorCode::AuthorizationPermissionMismatch, "the signature does not permit this");
    }
    Ok(())
}
