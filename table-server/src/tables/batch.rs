//! Entity group transactions (EGT rules).

use std::borrow::Cow;

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};
use table_core::etag::IfMatch;
use table_core::odata::MetadataLevel;
use table_core::operation::{Operation, OperationKind};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, TableName, Transaction};
use table_wire::batch::{Batch, NewResponse, RequestPart, read_requests, write_responses};

use crate::account::Account;
use crate::answer::Answer;
use crate::cost::Cost;
use crate::exchange::{self, Exchange};
use crate::negotiate;
use crate::refusal::Refusal;
use crate::tables::entity::{Call, Sent, Written, limits};
use crate::tables::path::{self, Target};
use crate::tables::preference::Preference;
use crate::tables::{options, query, refuse_atom};

/// Handles a batch. The response has status 202 even if an operation is rejected (EGT-30).
pub(super) async fn answer<S: TableStore>(
    store: &S,
    account: &Account,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let done = match read_requests(exchange.header("content-type").unwrap_or_default(), &exchange.body)? {
        Batch::Query(part) => point_query(store, account, &part, exchange).await,
        Batch::ChangeSet(parts) => match change_set(store, account, &parts, exchange).await {
            // A 503 does not depend on the operations. It is returned for the entire request, so the client retries.
            Err(refusal) if refusal.status == 503 => return Err(refusal),
            done => done,
        },
    };
    let mut answer = Answer::new(202);
    let responses = match done {
        Ok((responses, cost)) => {
            answer.cost = cost;
            responses
        }
        Err(refusal) => {
            let response = refused(&refusal, exchange);
            answer.rejected_part = Some(refusal.status);
            answer.internal = refusal.internal;
            vec![response]
        }
    };
    let body = write_responses(&exchange.id, &responses);
    Ok(answer.body(format!("multipart/mixed; boundary=batchresponse_{}", exchange.id), body))
}

async fn change_set<S: TableStore>(
    store: &S,
    account: &Account,
    parts: &[RequestPart<'_>],
    exchange: &Exchange,
) -> Result<(Vec<NewResponse>, Cost), Refusal> {
    let mut calls: Vec<Call> = Vec::with_capacity(parts.len());
    let mut written = Vec::with_capacity(parts.len());
    let mut transaction: Option<Transaction> = None;
    let base = base(exchange);
    // An execution error has no index if the batch has one operation (EGT-35).
    let executed = |error: Error, index: Option<usize>| {
        let refusal = Refusal::from(error);
        let index = refusal.index.or(index).filter(|_| parts.len() > 1);
        Refusal { index, ..refusal }
    };
    for (index, part) in parts.iter().enumerate() {
        let at = |refusal: Refusal| refusal.at(index);
        let mut call = call(part, base, calls.first()).map_err(at)?;
        if let Some(first) = calls.first() {
            if first.table != call.table {
                return Err(at(Refusal::input("all operations of a batch must be on one table")));
            }
            if first.key.partition_key != call.key.partition_key {
                let message = "all operations of a batch must have one PartitionKey";
                return Err(at(
                    Error::new(ErrorCode::CommandsInBatchActOnDifferentPartitions, message).into()
                ));
            }
        }
        let insert = matches!(call.kind, OperationKind::Insert(_));
        let echo = call.echo();
        let level = if insert { level(part).map_err(at)? } else { MetadataLevel::Minimal };
        written.push(Written { base: &exchange.base, account: account.name(), level, insert, echo });
        let kind = std::mem::replace(&mut call.kind, OperationKind::Delete(IfMatch::Any));
        let operation = Operation { row_key: call.key.row_key.clone(), kind };
        let group = if let Some(group) = &mut transaction {
            group
        } else {
            let group = Transaction::new(call.key.partition_key.clone(), limits(store));
            transaction.insert(group.map_err(|error| at(error.into()))?)
        };
        group.push(operation).map_err(|error| executed(error, Some(index)))?;
        calls.push(call);
    }
    let (Some(first), Some(transaction)) = (calls.first(), transaction) else {
        // An empty change set succeeds and changes nothing.
        return Ok((Vec::new(), Cost::default()));
    };
    account.traffic.entities(first.table.folded(), first.key.partition_key.as_str(), calls.len())?;
    let etags = store.submit(&first.table, transaction).await.map_err(|error| {
        let refusal = executed(error, None);
        // A missing table is reported as an error of the first operation (EGT-35).
        if refusal.code == "TableNotFound" { refusal.at(0) } else { refusal }
    })?;
    let mut responses = Vec::with_capacity(calls.len());
    for ((call, written), etag) in calls.iter().zip(&written).zip(etags) {
        responses.push(response(call.done(written, etag)?));
    }
    let cost = Cost::write(responses.len());
    Ok((responses, cost))
}

/// Returns the write described by a part of the batch. `first` is the write in the batch's first part. An identical table name is reused instead of being
/// parsed again.
fn call(part: &RequestPart<'_>, base: Option<&str>, first: Option<&Call>) -> Result<Call, Refusal> {
    let (path, _) = url(part)?;
    refuse_atom(part.values("content-type").next(), part.body)?;
    let mut conditions = part.values("if-match");
    let if_match = conditions.next();
    if conditions.next().is_some() || if_match.is_some_and(|text| !exchange::is_ascii_text(text)) {
        return Err(Refusal::input("`If-Match` must be one header in ASCII"));
    }
    let sent = Sent {
        verb: exchange::verb(part.method, part.values("x-http-method"))?,
        if_match,
        has_none_match: part.values("if-none-match").next().is_some(),
        preference: Preference::read(part.values("prefer")),
        body: part.body,
    };
    let (name, key) = match (sent.verb, target(&path, base)?) {
        ("POST", Target::Table(name)) => (name, None),
        ("PUT" | "MERGE" | "PATCH" | "DELETE", Target::Entity(name, key)) => (name, Some(key)),
        _ => return Err(Refusal::input("an operation of a batch must be a write of one entity")),
    };
    let key = key.map(path::key).transpose()?;
    let same = first.map(|first| &first.table).filter(|table| table.as_str() == name);
    Call::new(&sent, same.cloned().map_or_else(|| TableName::new(name), Ok)?, key)
}

/// Returns the decoded path and the query of a part's URL.
///
/// # Errors
/// The reason a request with this URL would be rejected outside a batch.
fn url<'a>(part: &RequestPart<'a>) -> Result<(Cow<'a, str>, &'a str), Refusal> {
    let (path, query) = part.target().split_once('?').unwrap_or((part.target(), ""));
    exchange::check_query(query)?;
    options::check(query)?;
    let path = table_wire::percent::decode(path)
        .ok_or_else(|| Refusal::input("the URL is not percent-encoded UTF-8"))?;
    Ok((path, query))
}

/// Returns the values of a part's `Accept` headers. As in a request, a non-ASCII value is returned as an empty string.
fn accepted<'a>(part: &RequestPart<'a>) -> impl Iterator<Item = &'a str> {
    part.values("accept").map(|value| if exchange::is_ascii_text(value) { value } else { "" })
}

/// Returns the metadata level requested by a part, as for a request outside a batch.
fn level(part: &RequestPart<'_>) -> Result<MetadataLevel, Refusal> {
    let (_, query) = part.target().split_once('?').unwrap_or_default();
    negotiate::requested(exchange::parameter(query, "$format").as_deref(), accepted(part))
}

/// Returns the account's name if the outer request has a path-style URL. In that case, the name is the first segment of the request's path and of the paths in
/// the batch's parts.
fn base(exchange: &Exchange) -> Option<&str> {
    exchange.base.splitn(4, '/').nth(3)
}

/// Returns the resource named by a part's path.
fn target<'a>(path: &'a str, base: Option<&str>) -> Result<Target<'a>, Refusal> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let below = base.and_then(|base| path.strip_prefix(base)?.strip_prefix('/'));
    path::read(below.unwrap_or(path))
}

/// Handles a batch that consists of one query (EGT-7).
async fn point_query<S: TableStore>(
    store: &S,
    account: &Account,
    part: &RequestPart<'_>,
    exchange: &Exchange,
) -> Result<(Vec<NewResponse>, Cost), Refusal> {
    let read = async {
        let (path, query) = url(part)?;
        let Target::Entity(name, key) = target(&path, base(exchange))? else {
            return Err(Refusal::input("the query of a batch must name one entity by its key"));
        };
        let mut headers = HeaderMap::new();
        for value in accepted(part).flat_map(HeaderValue::from_str) {
            headers.append(ACCEPT, value);
        }
        let inner = Exchange { raw_query: query.to_owned(), headers, ..exchange.clone() };
        query::get(store, account, &TableName::new(name)?, path::key(key)?, &inner).await
    };
    // The query is the only operation of its batch, so the error message contains the index 0 (EGT-34).
    let mut answer = read.await.map_err(|refusal: Refusal| refusal.at(0))?;
    let cost = std::mem::take(&mut answer.cost);
    Ok((vec![response(answer)], cost))
}

fn refused(refusal: &Refusal, exchange: &Exchange) -> NewResponse {
    let error = refusal.error(&exchange.id);
    let media_type = MetadataLevel::Minimal.media_type().into();
    NewResponse { status: refusal.status, headers: vec![("Content-Type", media_type)], body: error.to_json() }
}

fn response(answer: Answer) -> NewResponse {
    NewResponse { status: answer.status, headers: answer.headers, body: answer.body }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::num::NonZeroU32;

    use http::Request;
    use table_core::embedded::{EngineOptions, FaultInjection};
    use table_core::query::QueryClass;
    use table_core::{PartitionKey, RowKey};
    use table_wire::sas::Caller;

    use super::*;
    use crate::authorize::Access;
    use crate::service::Service;

    /// Sends a batch to an account with the table `Employee`, which contains one entity, and returns the response.
    async fn sent(faults: FaultInjection, body: String) -> Answer {
        let account = Account::emulator(EngineOptions::new().faults(faults).in_memory()).unwrap();
        let (engine, table) = (account.engine.without_fault_injection(), TableName::new("Employee").unwrap());
        engine.create_table(&table).await.unwrap();
        let mut transaction =
            Transaction::new(PartitionKey::new("Sales").unwrap(), engine.capabilities().limits).unwrap();
        let kind = OperationKind::Insert(table_core::row::RowWriter::new().finish());
        transaction.push(Operation { row_key: RowKey::new("1").unwrap(), kind }).unwrap();
        engine.submit(&table, transaction).await.unwrap();
        let request =
            Request::post("/devstoreaccount1/$batch").header("content-type", "multipart/mixed; boundary=b");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
        let exchange = Exchange::new(Service::Tables, parts, caller);
        let exchange = Exchange { path: "$batch".to_owned(), body: body.into(), ..exchange };
        crate::tables::answer(&account, &Access::Key, &exchange).await.unwrap()
    }

    /// Returns a batch that inserts one entity.
    fn insert(row_key: &str) -> String {
        let entity = format!("{{\"PartitionKey\":\"Sales\",\"RowKey\":\"{row_key}\"}}");
        format!(
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n\
             --c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
             POST http://x/Employee HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{entity}\r\n--c--\r\n--b--\r\n"
        )
    }

    /// Returns a batch that queries one entity.
    fn query(row_key: &str) -> String {
        format!(
            "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
             GET http://x/Employee(PartitionKey='Sales',RowKey='{row_key}') HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n--b--\r\n"
        )
    }

    #[tokio::test]
    async fn the_outcome_of_a_batch_is_that_of_its_rejected_part() {
        let lost = FaultInjection { lose_answer_every: NonZeroU32::new(1), ..FaultInjection::default() };
        for (faults, body, outcome, is_internal) in [
            (FaultInjection::default(), insert("2"), 202, false),
            (FaultInjection::default(), insert("1"), 409, false),
            (lost, insert("2"), 500, true),
            (FaultInjection::default(), query("1"), 202, false),
            (FaultInjection::default(), query("2"), 404, false),
        ] {
            let answer = sent(faults, body.clone()).await;
            let found = (answer.status, answer.outcome(), answer.internal.is_some());
            assert_eq!(found, (202, outcome, is_internal), "{body}");
        }
    }

    #[tokio::test]
    async fn a_batch_has_the_cost_of_its_operations() {
        assert_eq!(sent(FaultInjection::default(), insert("2")).await.cost, Cost::write(1));
        let cost = sent(FaultInjection::default(), query("1")).await.cost;
        assert_eq!((cost.class, cost.rows_read), (Some(QueryClass::Point), 1));
    }
}
