//! Handles requests to the Table service: determines the operation from the path (REQ-1).

mod acl;
mod batch;
mod entity;
mod names;
mod options;
pub(crate) mod path;
mod permitted;
mod position;
mod preference;
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
pub(crate) use permitted::permit;

/// Handles a request to the Table service, if its credential permits the operation.
///
/// # Errors
/// The reason the request is rejected.
pub(crate) async fn answer(
    account: &Account,
    access: &Access,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let target = path::read(&exchange.path)?;
    options::check(&exchange.raw_query)?;
    refuse_atom(exchange.header(CONTENT_TYPE), &exchange.body)?;
    if exchange.query_is("comp", "acl") {
        access.owner(exchange.service)?;
        let Target::Table(name) = target else { return Err(Refusal::nowhere()) };
        return acl::answer(account, &TableName::new(name)?, exchange).await;
    }
    let verb = exchange.verb()?;
    let dropped = match (&target, verb) {
        (Target::Name(name), "DELETE") => TableName::new(name).ok(),
        _ => None,
    };
    // Without this lock, a concurrent request could find the table before its deletion and store policies for it afterwards.
    let turn = if dropped.is_some() { Some(exchange.turn(account).await?) } else { None };
    let answer = match access {
        Access::Key | Access::Bearer => within(&account.engine, account, (verb, target), exchange).await,
        Access::Queue(_) => return Err(Refusal::nowhere()),
        Access::Token(token) => {
            let store = token.0.scoped(account.engine.clone(), &token.1);
            within(&store, account, (verb, target), exchange).await
        }
    }?;
    // A later table with the same name must not inherit the old policies.
    if let Some((table, turn)) = dropped.zip(turn) {
        account.set_policies(&turn, &table, Vec::new()).await?;
    }
    Ok(answer)
}

/// Returns `true` if a path addresses a table or the list of tables, rather than entities.
pub(crate) fn is_of_tables(path: &str) -> bool {
    matches!(path::read(path), Ok(Target::Names | Target::Name(_)))
}

/// Rejects an Atom body, which the service accepts only in API versions before 2015-12-11 (JSON-1).
fn refuse_atom(media_type: Option<&str>, body: &[u8]) -> Result<(), Refusal> {
    const ATOM: &str = "application/atom+xml";
    let media_type = media_type.unwrap_or_default().trim_start();
    let parameters = media_type.get(ATOM.len()..).filter(|_| begins(media_type, ATOM)).map(str::trim_start);
    let is_atom = parameters.is_some_and(|rest| rest.is_empty() || rest.starts_with(';'));
    if body.is_empty() || !is_atom {
        return Ok(());
    }
    Err(Refusal::new(415, "AtomFormatNotSupported", "send the body as application/json"))
}

/// Returns `true` if `text` begins with `start`, ignoring ASCII case.
fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

/// Returns the write for an insert request, with the entity in the request's body.
async fn insert<S: TableStore>(
    store: &S,
    table: &TableName,
    exchange: &Exchange,
) -> Result<entity::Call, Refusal> {
    let media_type = exchange.header(CONTENT_TYPE).unwrap_or_default();
    if begins(media_type.trim_start(), "multipart/") {
        let help = "send an entity as application/json, and a batch to `$batch` directly below the account";
        return Err(Refusal::new(415, "MediaTypeNotSupported", help));
    }
    match entity::Call::of(exchange, "POST", (table.clone(), None)) {
        Err(refusal) => Err(missing_or(store, table, refusal).await),
        call => call,
    }
}

/// Returns a `TableNotFound` rejection if the table is missing, because the service reports a missing table first. Otherwise, returns the given rejection.
async fn missing_or<S: TableStore>(store: &S, table: &TableName, refusal: Refusal) -> Refusal {
    let Ok(key) = EntityKey::new("", "") else { return refusal };
    match store.get(table, &key, &Select::All).await {
        Err(missing) if missing.code() == ErrorCode::TableNotFound => missing.into(),
        _ => refusal,
    }
}

async fn within<S: TableStore>(
    store: &S,
    account: &Account,
    (verb, target): (&str, Target<'_>),
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    match (verb, target) {
        ("GET", Target::Names) => names::list(store, account, exchange).await,
        ("POST", Target::Names) => names::create(store, account, exchange).await,
        ("GET", Target::Name(name)) => names::get(store, account, &name, exchange).await,
        ("DELETE", Target::Name(name)) => names::delete(store, &name).await,
        ("POST", Target::Batch) => batch::answer(store, account, exchange).await,
        ("GET", Target::Table(name)) => query::answer(store, account, &TableName::new(name)?, exchange).await,
        ("POST", Target::Table(name)) => {
            let call = insert(store, &TableName::new(name)?, exchange).await?;
            entity::write(store, account, call, exchange).await
        }
        // The service treats this request as an insert, so the body is checked before the request is rejected because of its path. Nothing is written.
        ("POST", Target::Below(name)) => {
            let table = TableName::new(name)?;
            insert(store, &table, exchange).await?;
            Err(missing_or(store, &table, path::syntax()).await)
        }
        (_, Target::Below(_)) => Err(path::syntax()),
        (_, Target::SingleKey(name)) => {
            let table = TableName::new(name.split('/').next().unwrap_or_default())?;
            Err(missing_or(store, &table, path::single_key(name)).await)
        }
        ("GET", Target::Entity(name, key)) => {
            query::get(store, account, &TableName::new(name)?, path::key(key)?, exchange).await
        }
        ("PUT" | "MERGE" | "PATCH" | "DELETE", Target::Entity(name, key)) => {
            let place = (TableName::new(name)?, Some(path::key(key)?));
            let call = entity::Call::of(exchange, verb, place)?;
            entity::write(store, account, call, exchange).await
        }
        _ => Err(Refusal::method(exchange.service)),
    }
}

#[cfg(test)]
mod tests;
