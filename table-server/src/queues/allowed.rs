//! What a shared access signature of the account allows on queues (ASAS rules).

use table_core::{Error, ErrorCode};
use table_wire::sas::{AccountPermissions as May, Grant, ResourceTypes, Services};

use crate::authorize::Access;
use crate::refusal::Refusal;

/// On a queue as a whole.
pub(super) fn queue(access: &Access, verb: &str) -> Result<(), Refusal> {
    let any: &[May] = match verb {
        "PUT" => &[May::CREATE, May::WRITE],
        "DELETE" => &[May::DELETE],
        _ => &[May::READ],
    };
    check(access, ResourceTypes::CONTAINER, any)
}

/// On its messages.
pub(super) fn messages(access: &Access, verb: &str, one: bool, peek: bool) -> Result<(), Refusal> {
    let any: &[May] = match (verb, one) {
        ("POST", _) => &[May::ADD],
        ("PUT", _) => &[May::UPDATE],
        ("DELETE", true) => &[May::PROCESS],
        ("DELETE", false) => &[May::DELETE],
        _ if peek => &[May::READ],
        _ => &[May::PROCESS],
    };
    check(access, ResourceTypes::OBJECT, any)
}

fn check(access: &Access, types: ResourceTypes, any: &[May]) -> Result<(), Refusal> {
    let Access::Token(token) = access else { return Ok(()) };
    let refuse = |code, message: &str| Err(Error::new(code, message).into());
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
