//! A fake account: a map of entities with exact semantics for writes, conditions and change sets. It keeps all past states, which stale reads need.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use table_azure::testing::{WireAnswer, WireRequest};
use table_core::{ETag, ticks};
use table_wire::NewError;
use table_wire::batch::{Batch, NewResponse, read_requests, write_responses};
use tokio::time::Instant;

/// The start time of the service's clock: 2026-11-20T08:00:00Z.
const START: u64 = 639_307_584_000_000_000;
/// The media type of response bodies, both in single responses and in a batch.
const JSON: &str = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";

type Rows = BTreeMap<String, Entity>;

#[derive(Clone, Debug)]
struct Entity {
    properties: Map<String, Value>,
    /// The Timestamp of the entity. It determines the `ETag`.
    ticks: u64,
}

/// An account in which every table exists. Clones share the same content.
#[derive(Clone, Debug)]
pub struct Account(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    rows: Rows,
    /// The past states of the account, each with its start time.
    past: Vec<(Instant, Rows)>,
    last: u64,
    began: Instant,
    /// The total time by which the service's clock was advanced, in ticks.
    ahead: u64,
}

/// One operation, sent as a single request or in a change set.
struct Request<'a> {
    method: &'a str,
    /// The path in the URL, without the query.
    path: &'a str,
    if_match: Option<&'a str>,
    body: &'a [u8],
}

/// The HTTP status and the code of a refused request.
type Refusal = (u16, &'static str);

impl Default for Account {
    fn default() -> Self {
        let began = Instant::now();
        let rows = Rows::new();
        let past = vec![(began, rows.clone())];
        Self(Arc::new(Mutex::new(State { rows, past, last: START, began, ahead: 0 })))
    }
}

impl Account {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the service's clock by `time`.
    pub fn jump(&self, time: Duration) {
        self.state().ahead += u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX);
    }

    /// Applies a request. Returns the response.
    #[must_use]
    pub fn answer(&self, request: &WireRequest) -> WireAnswer {
        let mut state = self.state();
        let path = path_of(&request.url);
        if path == "/$batch" {
            return state.batch(request);
        }
        let only = Request {
            method: &request.method,
            path: &path,
            if_match: request.header("if-match"),
            body: &request.body,
        };
        if only.method == "GET" {
            return read(&state.rows, only.path);
        }
        match state.write(&only) {
            Ok(etag) => {
                state.remember();
                written(etag)
            }
            Err(refusal) => refused(refusal, None),
        }
    }

    /// Returns the response of a secondary whose data lags behind by the given time.
    #[must_use]
    pub fn answer_of_secondary(&self, request: &WireRequest, behind: Duration) -> WireAnswer {
        let state = self.state();
        let then = Instant::now().checked_sub(behind).unwrap_or(state.began);
        let rows = state.past.iter().rev().find(|(since, _)| *since <= then).map(|(_, rows)| rows);
        read(rows.unwrap_or(&Rows::new()), &path_of(&request.url))
    }
}

impl State {
    fn now(&mut self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_nanos() / 100).unwrap_or(u64::MAX);
        // Every write gets a new Timestamp (CON-10).
        self.last = (START + elapsed + self.ahead).max(self.last + 1);
        self.last
    }

    fn remember(&mut self) {
        self.past.push((Instant::now(), self.rows.clone()));
    }

    fn write(&mut self, request: &Request<'_>) -> Result<Option<String>, Refusal> {
        let sent: Map<String, Value> = if request.body.is_empty() {
            Map::new()
        } else {
            serde_json::from_slice(request.body).map_err(|_| (400, "InvalidInput"))?
        };
        let key = match request.method {
            "POST" => {
                let text = |name: &str| sent.get(name).and_then(Value::as_str).unwrap_or_default();
                format!(
                    "{}(PartitionKey='{}',RowKey='{}')",
                    request.path,
                    text("PartitionKey"),
                    text("RowKey")
                )
            }
            _ => request.path.to_owned(),
        };
        let found = self.rows.get(&key);
        match (request.method, request.if_match, found) {
            ("POST", _, Some(_)) => return Err((409, "EntityAlreadyExists")),
            (_, Some(_), None) => return Err((404, "ResourceNotFound")),
            (_, Some(condition), Some(found)) if condition != "*" && condition != etag(found.ticks) => {
                return Err((412, "UpdateConditionNotSatisfied"));
            }
            ("DELETE", None, _) => return Err((400, "MissingRequiredHeader")),
            _ => {}
        }
        if request.method == "DELETE" {
            self.rows.remove(&key);
            return Ok(None);
        }
        let mut properties = match (request.method, found) {
            ("PATCH", Some(found)) => found.properties.clone(),
            _ => Map::new(),
        };
        properties.extend(sent.into_iter().filter(|(name, _)| name != "PartitionKey" && name != "RowKey"));
        let ticks = self.now();
        self.rows.insert(key, Entity { properties, ticks });
        Ok(Some(etag(ticks)))
    }

    fn batch(&mut self, request: &WireRequest) -> WireAnswer {
        let content_type = request.header("content-type").unwrap_or_default();
        let Ok(Batch::ChangeSet(parts)) = read_requests(content_type, &request.body) else {
            return refused((400, "InvalidInput"), None);
        };
        let before = self.rows.clone();
        let mut responses = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let path = path_of(part.target());
            let if_match = Some(part.header("if-match")).filter(|text| !text.is_empty());
            let operation = Request { method: part.method, path: &path, if_match, body: part.body };
            match self.write(&operation) {
                Ok(etag) => {
                    let headers = etag.map(|etag| ("ETag", etag.into())).into_iter().collect();
                    responses.push(NewResponse { status: 204, headers, body: String::new() });
                }
                Err(refusal) => {
                    self.rows = before;
                    let body = body_of(refusal, Some(index));
                    let headers = vec![("Content-Type", JSON.into())];
                    responses = vec![NewResponse { status: refusal.0, headers, body }];
                    break;
                }
            }
        }
        self.remember();
        WireAnswer {
            status: 202,
            headers: vec![("content-type", "multipart/mixed; boundary=batchresponse_x".to_owned())],
            body: write_responses("x", &responses).into_bytes(),
        }
    }
}

/// Returns the decoded path in a URL or request target, without the query.
fn path_of(url: &str) -> String {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let path = path.split('?').next().unwrap_or_default();
    path.replace("%27", "'").replace("%20", " ")
}

fn etag(ticks: u64) -> String {
    ETag::from_ticks(ticks).to_string()
}

fn read(rows: &Rows, path: &str) -> WireAnswer {
    let Some(found) = rows.get(path) else { return refused((404, "ResourceNotFound"), None) };
    let key = |name: &str| {
        let rest = path.split_once(&format!("{name}='")).map_or("", |(_, rest)| rest);
        rest.split('\'').next().unwrap_or_default().to_owned()
    };
    let mut all = found.properties.clone();
    let stamp = ticks::to_datetime(found.ticks).unwrap_or_default();
    let digits = stamp.timestamp_subsec_nanos() / 100;
    all.insert("odata.etag".to_owned(), json!(etag(found.ticks)));
    all.insert("PartitionKey".to_owned(), json!(key("PartitionKey")));
    all.insert("RowKey".to_owned(), json!(key("RowKey")));
    all.insert("Timestamp".to_owned(), json!(format!("{}.{digits:07}Z", stamp.format("%Y-%m-%dT%H:%M:%S"))));
    WireAnswer {
        status: 200,
        headers: vec![("content-type", JSON.to_owned()), ("etag", etag(found.ticks))],
        body: Value::Object(all).to_string().into_bytes(),
    }
}

fn written(etag: Option<String>) -> WireAnswer {
    WireAnswer {
        status: 204,
        headers: etag.map(|etag| ("etag", etag)).into_iter().collect(),
        body: Vec::new(),
    }
}

/// Returns a rejection in the format of the service.
pub(super) fn refused(refusal: Refusal, index: Option<usize>) -> WireAnswer {
    WireAnswer {
        status: refusal.0,
        headers: vec![("content-type", JSON.to_owned())],
        body: body_of(refusal, index).into_bytes(),
    }
}

fn body_of((_, code): Refusal, index: Option<usize>) -> String {
    let time = ticks::to_datetime(START).unwrap_or_default();
    NewError { code, message: "It was refused.", help: "", index, request_id: "c0ffee", time }.to_json()
}
