//! Tests that a batch part gets the same response as the same request outside a batch.

use std::fmt::Write as _;

use http::HeaderValue;
use serde_json::Value;
use table_wire::batch::read_responses;

use super::*;
use crate::route;

const ENTITY: &str = "Tab(PartitionKey='p',RowKey='1')";
const TYPES: [&str; 9] = [
    "",
    "*/*",
    "application/json",
    "application/json;odata=nometadata",
    "application/json; odata=fullmetadata; q=0.5, application/json;odata=minimalmetadata;q=0.4",
    "text/html,application/json;odata=fullmetadata",
    "application/json;odata=nometadata;q=0, text/html",
    "application/atom+xml",
    "application/json, \u{e9}",
];

/// A request to the table `Tab`.
#[derive(Clone, Debug)]
struct Asked<'a> {
    method: &'a str,
    path_and_query: String,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a str,
}

/// The content of a response that does not depend on the time or on the batch.
#[derive(Debug, PartialEq, Eq)]
enum Answered {
    Done { status: u16, media_type: String, preference: String, members: Vec<String> },
    Refused { status: u16, code: String },
}

/// Returns an account with the table `Tab`, which contains the entity (`p`, `1`).
async fn account() -> Account {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    account.engine.create_table(&TableName::new("Tab").unwrap()).await.unwrap();
    let (path_and_query, body) = (
        "Tab".to_owned(),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"A\":\"5\",\"A@odata.type\":\"Edm.Int64\"}",
    );
    send(&account, &Asked { method: "POST", path_and_query, headers: Vec::new(), body }).await.unwrap();
    account
}

async fn send(account: &Account, asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let uri = format!("/devstoreaccount1/{}", asked.path_and_query);
    let mut request = Request::builder().method(asked.method).uri(&uri);
    for (name, value) in &asked.headers {
        request = request.header(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let path = asked.path_and_query.split('?').next().unwrap_or_default().to_owned();
    let exchange = Exchange::new(Service::Tables, parts, caller);
    route::answer(account, &Access::Key, &Exchange { path, body: asked.body.to_owned().into(), ..exchange })
        .await
}

/// Returns the member names of a JSON entity.
fn members(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    body.as_object().into_iter().flat_map(|members| members.keys().cloned()).collect()
}

async fn alone(asked: &Asked<'_>) -> Answered {
    match send(&account().await, asked).await {
        Ok(answer) => {
            let header = |name: &str| {
                let mut headers = answer.headers.iter().filter(|(found, _)| *found == name);
                headers.next().map(|(_, value)| value.to_string()).unwrap_or_default()
            };
            let (media_type, preference) = (header("Content-Type"), header("Preference-Applied"));
            Answered::Done { status: answer.status, media_type, preference, members: members(&answer.body) }
        }
        Err(refusal) => Answered::Refused { status: refusal.status, code: refusal.code.to_owned() },
    }
}

/// Sends the request as the only part of a batch.
async fn in_a_batch(asked: &Asked<'_>) -> Answered {
    let Asked { method, path_and_query, headers, body } = asked;
    let mut part =
        format!("Content-Type: application/http\r\n\r\n{method} http://x/{path_and_query} HTTP/1.1\r\n");
    for (name, value) in headers {
        write!(part, "{name}: {value}\r\n").unwrap();
    }
    write!(part, "\r\n{body}\r\n").unwrap();
    let body = if *method == "GET" {
        format!("--b\r\n{part}--b--\r\n")
    } else {
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n{part}--c--\r\n--b--\r\n")
    };
    let headers = vec![("content-type", "multipart/mixed; boundary=b")];
    let batch = Asked { method: "POST", path_and_query: "$batch".to_owned(), headers, body: &body };
    let answer = send(&account().await, &batch).await.unwrap();
    let media_type = &answer.headers.iter().find(|(name, _)| *name == "Content-Type").unwrap().1;
    let parts = read_responses(media_type, answer.body.as_bytes()).unwrap();
    let [part] = &parts[..] else { panic!("{}", answer.body) };
    let body = std::str::from_utf8(part.body).unwrap();
    if part.status >= 400 {
        let error: Value = serde_json::from_str(body).unwrap();
        let code = error["odata.error"]["code"].as_str().unwrap().to_owned();
        return Answered::Refused { status: part.status, code };
    }
    Answered::Done {
        status: part.status,
        media_type: part.header("content-type").to_owned(),
        preference: part.header("preference-applied").to_owned(),
        members: members(body),
    }
}

/// Returns the entity reads and writes allowed in a batch.
fn requests() -> [Asked<'static>; 5] {
    let asked = |method, path_and_query: &str, body| Asked {
        method,
        path_and_query: path_and_query.to_owned(),
        headers: Vec::new(),
        body,
    };
    [
        asked("GET", ENTITY, ""),
        asked(
            "POST",
            "Tab",
            "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"A\":\"5\",\"A@odata.type\":\"Edm.Int64\"}",
        ),
        asked("PUT", ENTITY, "{\"B\":1}"),
        asked("MERGE", ENTITY, "{\"B\":1}"),
        asked("DELETE", ENTITY, ""),
    ]
}

#[tokio::test]
async fn json_1_and_2_the_level_of_a_part_is_negotiated_as_outside_a_batch() {
    let headers = [vec![]].into_iter().chain(TYPES.map(|first| vec![first])).chain([
        vec!["text/html", "application/json;odata=fullmetadata"],
        vec!["", "application/json"],
        vec!["text/html", "application/atom+xml"],
    ]);
    let mut levels = std::collections::BTreeSet::new();
    for accept in headers {
        for format in [None].into_iter().chain(TYPES.map(Some)) {
            let query = format.map(|format| {
                form_urlencoded::Serializer::new("?".to_owned()).append_pair("$format", format).finish()
            });
            for request in requests() {
                let mut headers: Vec<_> = accept.iter().map(|value| ("accept", *value)).collect();
                headers.extend((request.method == "DELETE").then_some(("if-match", "*")));
                let path_and_query = request.path_and_query.clone() + &query.clone().unwrap_or_default();
                let request = Asked { path_and_query, headers, ..request };
                let expected = alone(&request).await;
                assert_eq!(in_a_batch(&request).await, expected, "{request:?}");
                levels.insert(format!("{} {expected:?}", request.method));
            }
        }
    }
    // A read and an insert each have three levels and a rejection. All other writes have one response, because they return no entity.
    assert_eq!(levels.len(), 2 * 4 + 3, "{levels:#?}");
}

#[tokio::test]
async fn headers_and_options_of_a_part_mean_the_same_as_outside_a_batch() {
    let headers: [&[(&str, &str)]; 14] = [
        &[],
        &[("prefer", "return-no-content")],
        &[("prefer", "return-content")],
        &[("prefer", "other"), ("prefer", "return-no-content, return-content")],
        &[("if-match", "*")],
        &[("if-match", "")],
        &[("if-match", "W/\"datetime'2013-08-02T20%3A50%3A09.0000000Z'\"")],
        &[("if-match", "odd")],
        &[("if-match", "*"), ("if-match", "*")],
        &[("if-match", "*"), ("if-none-match", "*")],
        &[("if-none-match", "W/\"1\"")],
        &[("if-match", "\u{e9}")],
        &[("prefer", "return-no-content"), ("accept", "application/atom+xml")],
        &[("content-type", "application/atom+xml")],
    ];
    for headers in headers {
        for query in [
            "",
            "$select=A",
            "$select=A-B",
            "$top=1",
            "$filter=A eq 1",
            "$orderby=A",
            "$Format=x",
            "timeout=30",
            "$select=%FF",
        ] {
            for request in requests() {
                let mut headers = headers.to_vec();
                if request.method == "GET" {
                    // A read has no body, so its media type is meaningless.
                    headers.retain(|(name, _)| *name != "content-type");
                }
                let path_and_query = format!("{}?{}", request.path_and_query, query.replace(' ', "%20"));
                let request = Asked { path_and_query, headers, ..request };
                assert_eq!(in_a_batch(&request).await, alone(&request).await, "{request:?}");
            }
        }
    }
}
