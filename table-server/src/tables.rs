//! Tables: from the path of a request to its operation (REQ-1).

mod acl;
mod batch;
mod entity;
mod names;
mod options;
mod path;
mod position;
mod query;

use http::header::CONTENT_TYPE;
use table_core::query::Select;
use table_core::{EntityKey, ErrorCode, TableName, TableStore};

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use path::Target;

/// Handles a request for tables, within the permissions of its signature.
///
/// # Errors
/// The reason why it is refused.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let target = path::read(&exchange.path)?;
    options::check(&exchange.raw_query)?;
    if exchange.query_is("comp", "acl") {
        access.owner(exchange.service)?;
        let Target::Table(name) = target else { return Err(Refusal::nowhere()) };
        return acl::answer(account, &TableName::new(name)?, exchange).await;
    }
    let dropped = match (&target, exchange.verb()?) {
        (Target::Name(name), "DELETE") => TableName::new(name).ok(),
        _ => None,
    };
    let answer = match access {
        Access::Key | Access::Bearer => within(&account.engine, account, target, exchange).await,
        Access::Queue(_) => return Err(Refusal::nowhere()),
        Access::Token(token) => {
            let store = token.0.scoped(account.engine.clone(), &token.1);
            within(&store, account, target, exchange).await
        }
    }?;
    // A later table with the same name starts without policies.
    if let Some(table) = dropped {
        account.set_policies(&table, Vec::new()).await?;
    }
    Ok(answer)
}

/// Inserts an entity. A missing table takes precedence over an invalid body, as in the service.
async fn insert<S: TableStore>(
    store: &S,
    account: &Account,
    table: TableName,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let media_type = exchange.header(CONTENT_TYPE).unwrap_or_default();
    if media_type.trim_start().to_ascii_lowercase().starts_with("multipart/") {
        let help = "send an entity as application/json, and a batch to `$batch` below the account";
        return Err(Refusal::new(415, "MediaTypeNotSupported", help));
    }
    match entity::Call::of(exchange, table.clone(), None) {
        Ok(call) => entity::write(store, account, call, exchange).await,
        Err(refusal) => match store.get(&table, &EntityKey::new("", "")?, &Select::All).await {
            Err(missing) if missing.code() == ErrorCode::TableNotFound => Err(missing.into()),
            _ => Err(refusal),
        },
    }
}

async fn within<S: TableStore>(
    store: &S,
    account: &Account,
    target: Target<'_>,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let verb = exchange.verb()?;
    match (verb, target) {
        ("GET", Target::Names) => names::list(store, account, exchange).await,
        ("POST", Target::Names) => names::create(store, account, exchange).await,
        ("GET", Target::Name(name)) => names::get(store, account, &name, exchange).await,
        ("DELETE", Target::Name(name)) => names::delete(store, &name).await,
        ("POST", Target::Batch) => batch::answer(store, account, exchange).await,
        ("GET", Target::Table(name)) => query::answer(store, account, &TableName::new(name)?, exchange).await,
        ("POST", Target::Table(name) | Target::Below(name)) => {
            insert(store, account, TableName::new(name)?, exchange).await
        }
        (_, Target::Below(_)) => Err(path::syntax()),
        ("GET", Target::Entity(name, key)) => {
            query::get(store, account, &TableName::new(name)?, path::key(key)?, exchange).await
        }
        ("PUT" | "MERGE" | "PATCH" | "DELETE", Target::Entity(name, key)) => {
            let call = entity::Call::of(exchange, TableName::new(name)?, Some(path::key(key)?))?;
            entity::write(store, account, call, exchange).await
        }
        _ => Err(Refusal::method()),
    }
}
