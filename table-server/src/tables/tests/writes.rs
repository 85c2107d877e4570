//! Tests of writes and filters: keys in the URL and in the body, the index in a batch error, and `+` in a query.

use std::fmt::Write as _;

use super::*;

/// An account with the table `Tab`, which contains the entity (`p`, `1`).
async fn account() -> Account {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    account.engine.create_table(&TableName::new("Tab").unwrap()).await.unwrap();
    let inserted = send(&account, "POST", "Tab", None, r#"{"PartitionKey":"p","RowKey":"1","P":0}"#).await;
    assert_eq!(inserted.0, 201);
    account
}

/// Sends a request, and returns the response's status and body.
async fn send(
    account: &Account,
    method: &str,
    target: &str,
    if_match: Option<&str>,
    body: &str,
) -> (u16, String) {
    let request = Request::builder().method(method).uri(format!("/devstoreaccount1/{target}"));
    let request = if_match.into_iter().fold(request, |request, etag| request.header("if-match", etag));
    let media_type = if target == "$batch" { "multipart/mixed; boundary=b" } else { "application/json" };
    let (parts, ()) = request.header("content-type", media_type).body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let exchange = Exchange::new(Service::Tables, parts, caller);
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let exchange = Exchange { path, body: body.to_owned().into(), ..exchange };
    match answer(account, &Access::Key, &exchange).await {
        Ok(answer) => (answer.status, answer.body),
        Err(refusal) => (refusal.status, refusal.error("id").to_json()),
    }
}

/// A write in a batch: the method, the target, the value of `If-Match`, and the body.
type Write<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

/// Sends a batch of writes, and returns the status and error of the rejected part. The status is 204 if no part is rejected.
async fn send_batch(account: &Account, writes: &[Write<'_>]) -> (u16, String) {
    let mut body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n".to_owned();
    for (method, target, if_match, entity) in writes {
        let condition = if_match.map(|etag| format!("If-Match: {etag}\r\n")).unwrap_or_default();
        body.push_str("--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
        write!(body, "{method} http://x/{target} HTTP/1.1\r\n{condition}Content-Type: application/json\r\n\r\n{entity}\r\n")
            .unwrap();
    }
    let (status, answer) = send(account, "POST", "$batch", None, &(body + "--c--\r\n--b--\r\n")).await;
    assert_eq!(status, 202, "{answer}");
    let refused = ["400", "404", "409", "412", "413"]
        .iter()
        .find(|status| answer.contains(&format!("HTTP/1.1 {status}")));
    (refused.map_or(204, |status| status.parse().unwrap()), answer)
}

#[tokio::test]
async fn eng_6_and_upd_5_keys_in_the_body_must_equal_those_of_the_url() {
    let account = account().await;
    for (verb, if_match) in
        [("PUT", None), ("PUT", Some("*")), ("MERGE", None), ("MERGE", Some("*")), ("PATCH", Some("*"))]
    {
        for (members, expected) in [
            ("", 204),
            (r#""PartitionKey":"p","#, 204),
            (r#""RowKey":"1","PartitionKey":"p","#, 204),
            (r#""RowKey@odata.type":"Edm.String","RowKey":"1","#, 204),
            (r#""PartitionKey":null,"RowKey":null,"#, 204),
            (r#""PartitionKey":"p","RowKey":"2","#, 400),
            (r#""PartitionKey":"q","#, 400),
            (r#""RowKey":"","#, 400),
            (r#""RowKey":"a/b","#, 400),
            (r#""RowKey":1,"#, 400),
            (r#""RowKey":{},"#, 400),
        ] {
            let target = "Tab(PartitionKey='p',RowKey='1')";
            for (round, is_batch) in [false, true].into_iter().enumerate() {
                let body = format!("{{{members}\"P\":{}}}", expected + round);
                let (status, text) = if is_batch {
                    send_batch(&account, &[(verb, target, if_match, &body)]).await
                } else {
                    send(&account, verb, target, if_match, &body).await
                };
                assert_eq!(usize::from(status), expected, "{verb} {if_match:?} {body}: {text}");
                assert!(expected == 204 || text.contains("InvalidInput"), "{text}");
                let (_, stored) = send(&account, "GET", target, None, "").await;
                assert_eq!(
                    stored.contains(&format!("\"P\":{}", expected + round)),
                    expected == 204,
                    "{stored}"
                );
            }
        }
    }
    assert!(!send(&account, "GET", "Tab()", None, "").await.1.contains("\"RowKey\":\"2\""));
}

#[tokio::test]
async fn egt_34_and_35_an_error_of_execution_has_no_position_in_a_batch_of_one_operation() {
    let account = account().await;
    let large = format!(r#"{{"P":"{}"}}"#, "x".repeat(33 << 10));
    let entity = "Tab(PartitionKey='p',RowKey='1')";
    for (write, code, expected) in [
        (("PUT", "Tab(PartitionKey='p',RowKey='9')", Some("*"), "{}"), "ResourceNotFound", ""),
        (
            ("DELETE", entity, Some("W/\"datetime'2020-01-01T00%3A00%3A00Z'\""), ""),
            "UpdateConditionNotSatisfied",
            "",
        ),
        (("POST", "Tab", None, r#"{"PartitionKey":"p","RowKey":"1"}"#), "EntityAlreadyExists", ""),
        (("PUT", entity, None, &large), "PropertyValueTooLarge", ""),
        (("POST", "Tab", None, r#"{"PartitionKey":"p"}"#), "PropertiesNeedValue", "0:"),
        (("POST", "Tab", None, r#"{"PartitionKey":"p","RowKey":"a/b"}"#), "OutOfRangeInput", "0:"),
        (("PUT", "Missing(PartitionKey='p',RowKey='1')", None, "{}"), "TableNotFound", "0:"),
    ] {
        let message = |text: &str| {
            assert!(text.contains(&format!("\"code\":\"{code}\"")), "{text}");
            text.split("\"value\":\"").nth(1).unwrap_or_default().to_owned()
        };
        let (_, alone) = send_batch(&account, &[write]).await;
        let (alone, start) = (message(&alone), |text: &str| text.starts_with(|c: char| c.is_ascii_digit()));
        assert_eq!(
            (start(&alone), alone.starts_with(expected)),
            (!expected.is_empty(), true),
            "{code}: {alone}"
        );
        let table = write.1.split('(').next().unwrap();
        let first = format!("{table}(PartitionKey='p',RowKey='0')");
        let (_, second) = send_batch(&account, &[("PUT", &first, None, "{}"), write]).await;
        let expected = if code == "TableNotFound" { "0:" } else { "1:" };
        assert!(message(&second).starts_with(expected), "{code}: {second}");
    }
}

/// Tests form-encoded filters, as sent by `azure-cosmosdb-table` for Python.
#[tokio::test]
async fn lit_5_a_raw_plus_in_a_query_is_a_space() {
    let account = account().await;
    for (row, name) in ["C++", "C  "].into_iter().enumerate() {
        let entity = format!(r#"{{"PartitionKey":"names","RowKey":"{row}","Name":"{name}"}}"#);
        assert_eq!(send(&account, "POST", "Tab", None, &entity).await.0, 201);
    }
    for (filter, row) in [
        ("Name+eq+'C%2B%2B'", "0"),
        ("Name%20eq%20'C%2b%2b'", "0"),
        ("Name+eq+'C++'", "1"),
        ("Name%20eq%20'C%20%20'", "1"),
    ] {
        let (status, page) = send(&account, "GET", &format!("Tab()?$filter={filter}"), None, "").await;
        assert!(status == 200 && page.contains(&format!("\"RowKey\":\"{row}\"")), "{filter}: {page}");
        assert_eq!(page.matches("\"RowKey\"").count(), 1, "{filter}: {page}");
    }
}
