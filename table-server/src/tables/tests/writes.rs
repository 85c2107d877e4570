//! Tests of writes and filters: keys in the URL and in the body, the position in the error of a batch, and `+` in a query.

use super::*;

/// An account with the table `Tab`, which contains the entity (`p`, `1`).
async fn account() -> Account {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    account.engine.create_table(&TableName::new("Tab").unwrap()).await.unwrap();
    let inserted = send(&account, "POST", "Tab", None, r#"{"PartitionKey":"p","RowKey":"1","P":0}"#).await;
    assert_eq!(inserted.0, 201);
    account
}

/// Sends a request and returns the status and the body of the response.
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

/// `azure-cosmosdb-table` for Python sends filters form-encoded, as `requests` does with `params`.
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
