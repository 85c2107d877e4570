//! Operations on a table's stored access policies (ACL rules).

use table_core::query::Select;
use table_core::{EntityKey, TableName, TableStore};
use table_wire::sas::StoredAccessPolicy;

use crate::account::Account;
use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

pub(super) async fn answer(
    account: &Account,
    table: &TableName,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    exists(account, table).await?;
    match exchange.verb()? {
        "GET" | "HEAD" => Ok(Answer::xml(200, table_wire::acl::write_response(&account.policies(table)))),
        "PUT" => {
            let text = exchange.text()?;
            let policies =
                if text.trim().is_empty() { Some(Vec::new()) } else { table_wire::acl::read(text) };
            let policies =
                policies.ok_or_else(|| Refusal::xml("the body is not a list of stored access policies"))?;
            StoredAccessPolicy::check(&policies).map_err(|error| Refusal::xml(error.message()))?;
            let turn = exchange.turn(account).await?;
            // The table may have been deleted in the meantime.
            exists(account, table).await?;
            account.set_policies(&turn, table, policies).await?;
            Ok(Answer::new(204))
        }
        _ => Err(Refusal::method(exchange.service)),
    }
}

/// Checks that a table exists, by reading an entity. A missing entity is not an error, but a missing table is.
///
/// # Errors
/// `TableNotFound` if the table does not exist.
async fn exists(account: &Account, table: &TableName) -> Result<(), Refusal> {
    account.engine.get(table, &EntityKey::new("", "")?, &Select::All).await?;
    Ok(())
}
