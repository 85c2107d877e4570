//! Checks whether a signature can permit an operation before the request's body arrives.

use http::header::IF_MATCH;
use table_core::TableName;
use table_wire::sas::TablePermissions as May;

use crate::authorize::Access;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::tables::path::{self, Target};

/// Checks the permissions, the table and the keys in the request's head. Keys and operations in the body are checked when the operation runs. Returns `true` if
/// the operation uses the body.
///
/// # Errors
/// 403 if the credential does not permit the operation (SAS-5, SAS-8, SAS-11, ASAS-5). The reason the request is rejected, if its method, path or `If-Match` is
/// invalid.
pub(crate) fn permit(access: &Access, exchange: &Exchange) -> Result<bool, Refusal> {
    let (verb, target) = (exchange.verb()?, path::read(&exchange.path)?);
    if exchange.query_is("comp", "acl") {
        access.owner(exchange.service)?;
        return Ok(verb == "PUT");
    }
    let uses_body = match &target {
        Target::Names | Target::Batch | Target::Table(_) | Target::Below(_) => verb == "POST",
        Target::Entity(..) => matches!(verb, "PUT" | "MERGE" | "PATCH"),
        _ => false,
    };
    let Access::Token(token) = access else { return Ok(uses_body) };
    let grant = token.0.verify(&token.1)?;
    match (verb, target) {
        ("POST", Target::Names) => grant.create_tables()?,
        ("POST", Target::Batch) => grant.batch()?,
        ("POST", Target::Table(name) | Target::Below(name)) => {
            grant.entities(&TableName::new(name)?, May::ADD, "insert")?;
        }
        (verb @ ("PUT" | "MERGE" | "PATCH"), Target::Entity(name, key)) => {
            let (needed, operation) = match (verb, exchange.single(&IF_MATCH)?) {
                ("PUT", Some(_)) => (May::UPDATE, "replace"),
                ("PUT", None) => (May::ADD.and(May::UPDATE), "insert-or-replace"),
                (_, Some(_)) => (May::UPDATE, "merge"),
                (_, None) => (May::ADD.and(May::UPDATE), "insert-or-merge"),
            };
            grant.entities(&TableName::new(name)?, needed, operation)?;
            grant.key(&path::key(key)?)?;
        }
        // The permission is checked when the operation runs.
        _ => {}
    }
    Ok(uses_body)
}
