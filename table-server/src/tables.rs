//! Tables: from the path of a request to its operation (REQ-1).

mod acl;
mod batch;
mod entity;
mod names;
mod options;
mod path;
mod position;
mod query;

use table_core::{TableName, TableStore};

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
        ("POST", Target::Table(name)) => {
            let call = entity::Call::of(exchange, TableName::new(name)?, None)?;
            entity::write(store, account, call, exchange).await
        }
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
