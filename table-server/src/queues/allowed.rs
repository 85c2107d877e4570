//! Checks whether shared access signatures permit queue operations (ASAS and SAS rules).

use table_core::ErrorCode;
use table_wire::sas::{AccountPermissions as May, QueuePermissions, ResourceTypes};

use crate::account::Account;
use crate::authorize::{Access, denied};
use crate::refusal::Refusal;
use crate::service::Service;

/// Checks that the credential permits listing the queues.
pub(super) fn list(account: &Account, access: &Access) -> Result<(), Refusal> {
    check(account, access, ResourceTypes::SERVICE, &[May::LIST], None)
}

/// Checks that the credential permits an operation on a queue, or on its settings if `settings` is `true`.
pub(super) fn queue(account: &Account, access: &Access, verb: &str, settings: bool) -> Result<(), Refusal> {
    let (any, own): (&[May], _) = match verb {
        "PUT" if settings => (&[May::WRITE], None),
        "PUT" => (&[May::CREATE, May::WRITE], None),
        "DELETE" => (&[May::DELETE], None),
        _ => (&[May::READ], Some(QueuePermissions::READ)),
    };
    check(account, access, ResourceTypes::CONTAINER, any, own)
}

/// Checks that the credential permits an operation on a queue's messages, or on a single message if `one` is `true`.
pub(super) fn messages(
    account: &Account,
    access: &Access,
    verb: &str,
    one: bool,
    peek: bool,
) -> Result<(), Refusal> {
    let (any, own) = match (verb, one) {
        ("POST", _) => (May::ADD, Some(QueuePermissions::ADD)),
        ("PUT", _) => (May::UPDATE, Some(QueuePermissions::UPDATE)),
        ("DELETE", true) => (May::PROCESS, Some(QueuePermissions::PROCESS)),
        ("DELETE", false) => (May::DELETE, None),
        _ if peek => (May::READ, Some(QueuePermissions::READ)),
        _ => (May::PROCESS, Some(QueuePermissions::PROCESS)),
    };
    check(account, access, ResourceTypes::OBJECT, &[any], own)
}

/// Checks that the credential permits the operation. An account SAS must grant one of the permissions in `any`. A queue SAS must grant `own`; if `own` is
/// `None`, no queue SAS permits the operation.
fn check(
    account: &Account,
    access: &Access,
    types: ResourceTypes,
    any: &[May],
    own: Option<QueuePermissions>,
) -> Result<(), Refusal> {
    match (access, own) {
        (Access::Queue(queue), Some(own)) if queue.verify(account)?.contains(own) => Ok(()),
        (Access::Queue(_), Some(_)) => {
            let help = "the signature lacks the permission; see its `sp`";
            Err(denied(ErrorCode::AuthorizationPermissionMismatch, help))
        }
        _ => access.to_account(Service::Queues, types, any),
    }
}
