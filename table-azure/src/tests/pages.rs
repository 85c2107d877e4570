//! Tests of pages, continuation tokens and projections (PAGE, SEL, TOP rules).

use table_core::filter::Comparison;
use table_core::query::{Continuation, KeyRange, Page, Query, Select, TextRange};
use table_core::store::TablePage;
use table_core::{ETag, ErrorCode, Filter, TableStore, ValueRef};

use super::server::*;
use crate::{Options, Target};

/// Returns a page of rows in the partition `p`. `headers` are additional header lines.
fn page(rows: &[&str], headers: &[&str]) -> Reply {
    let etag = r#"W/\"datetime'2026-11-20T07%3A00%3A00Z'\""#;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            format!(r#"{{"odata.etag":"{etag}","PartitionKey":"p","RowKey":"{row}","Timestamp":"2026-11-20T07:00:00Z"}}"#)
        })
        .collect();
    let headers: Vec<_> = headers.iter().copied().chain([JSON]).collect();
    answer(200, &headers, &format!(r#"{{"odata.metadata":"x","value":[{}]}}"#, rows.join(",")))
}

fn keys(page: &Page) -> Vec<String> {
    page.rows.iter().map(|entity| entity.row_key.to_owned()).collect()
}

#[tokio::test]
async fn page_13_empty_pages_single_rows_and_partition_tokens_are_followed() {
    let (partition, row) = ("X-MS-Continuation-NextPartitionKey", "x-ms-continuation-NextRowKey");
    let headers = [
        format!("{partition}: 1!16!cGs4MDEwMTZlOA--"),
        format!("{row}: 1!20!cms4MDEwMTZlODEyMw--"),
        format!("{row}:"),
    ];
    let server = Server::start([
        page(&[], &[&headers[0], &headers[1]]),
        page(&["1"], &[&headers[0]]),
        page(&[], &[&headers[0], &headers[2]]),
        page(&["2"], &[&headers[0], &headers[1]]),
        page(&[], &[]),
    ])
    .await;
    let client = server.client(Options::new());
    let query = Query { top: Some(1), ..Query::new(KeyRange::partition("p")) };
    let (mut from, mut found) = (None::<Continuation>, Vec::new());
    loop {
        // The continuation is converted to text and back, because programs may store it as text (PAGE-7).
        from = from.map(|from: Continuation| from.to_string().parse().unwrap());
        let page = client.query(&table(), &query, from.as_ref()).await.unwrap();
        found.extend(keys(&page));
        from = page.continuation;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(found, ["1", "2"]);
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let base = [own("$filter", "PartitionKey eq 'p'"), own("$top", "1")];
    let both =
        [own("NextPartitionKey", "1!16!cGs4MDEwMTZlOA--"), own("NextRowKey", "1!20!cms4MDEwMTZlODEyMw--")];
    let queries: Vec<_> = server.received().iter().map(Received::query).collect();
    for (found, token) in queries.iter().zip([&both[..0], &both[..], &both[..1], &both[..1], &both[..]]) {
        assert_eq!(*found, [&base[..], token].concat()); // PAGE-3
    }
}

#[tokio::test]
async fn cos_8_any_token_is_returned_unchanged_and_az_12_an_empty_partition_is_one() {
    let token = r#"{"token":"a+b/c==","range":{"min":"","max":"FF"}}"#;
    let headers = [
        format!("x-ms-continuation-NextPartitionKey: {token}"),
        "x-ms-continuation-NextRowKey: NA".to_owned(),
        "x-ms-continuation-NextPartitionKey:".to_owned(),
    ];
    let server = Server::start([
        page(&["1"], &[&headers[0], &headers[1]]),
        page(&["2"], &[&headers[2], &headers[1]]),
        page(&["3"], &[]),
    ])
    .await;
    let client = server.client(Options::new());
    let query = Query::new(KeyRange::ALL);
    let first = client.query(&table(), &query, None).await.unwrap();
    let second = client.query(&table(), &query, first.continuation.as_ref()).await.unwrap();
    let third = client.query(&table(), &query, second.continuation.as_ref()).await.unwrap();
    assert_eq!((keys(&third), third.continuation), (vec!["3".to_owned()], None));
    let received = server.received();
    assert_eq!(received[1].query()[0], ("NextPartitionKey".to_owned(), token.to_owned()));
    assert!(received[1].target.contains("a%2Bb%2Fc%3D%3D"), "{}", received[1].target);
    let expected = [("NextPartitionKey", ""), ("NextRowKey", "NA")];
    assert_eq!(received[2].query(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn page_9_a_token_of_another_query_or_backend_is_not_sent() {
    let server = Server::start([page(&["1"], &["x-ms-continuation-NextPartitionKey: t"])]).await;
    let client = server.client(Options::new());
    let query = Query::new(KeyRange::partition("p"));
    let token = client.query(&table(), &query, None).await.unwrap().continuation.unwrap();
    let other = Query::new(KeyRange::partition("q"));
    assert_eq!(client.query(&table(), &other, Some(&token)).await.unwrap_err().rule(), Some("PAGE-9"));
    let key = table_core::query::Position { partition_key: "p".into(), row_key: None };
    let foreign = Continuation::new(&table(), &query, key);
    assert_eq!(client.query(&table(), &query, Some(&foreign)).await.unwrap_err().rule(), Some("PAGE-9"));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn sel_1_to_3_keys_and_timestamp_are_requested_and_null_is_absent() {
    let body = r#"{"value":[{"odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"1","Timestamp":"2026-11-20T07:00:00Z","Age":null,"Name":"Ada"}]}"#;
    let server = Server::start([json(200, body)]).await;
    let client = server.client(Options::new());
    let filter = Filter::compare("Age", Comparison::Gt, 30);
    let select = Select::names(["Age", "RowKey", "Name"]);
    let keys = KeyRange::rows("p", TextRange::prefix("a"));
    let query = Query { filter: Some(filter), select, ..Query::new(keys) };
    let page = client.query(&table(), &query, None).await.unwrap();
    let entity = page.rows.get(0).unwrap();
    assert_eq!(entity.row.find("Age", &mut 0).unwrap(), None);
    assert_eq!(entity.row.find("Name", &mut 0).unwrap(), Some(ValueRef::String("Ada")));
    assert_eq!(entity.etag(), ETag::parse("W/\"x\"").unwrap()); // ETAG-4
    let received = server.received();
    assert_eq!(received[0].line(), "GET /Employee()");
    let expected = [
        ("$filter", "PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b' and Age gt 30"),
        ("$select", "PartitionKey,RowKey,Timestamp,Age,Name"),
    ];
    assert_eq!(received[0].query(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert!(
        received[0].target.contains("$filter=PartitionKey%20eq%20%27p%27%20and"),
        "LIT-4: no `+` for a space"
    );
}

#[tokio::test]
async fn sel_1_a_selection_too_long_for_select_is_applied_by_the_client() {
    let body = r#"{"odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"1","Timestamp":"2026-11-20T07:00:00Z","P1":1,"Other":2}"#;
    for (names, long, fits) in
        [(252, "", true), (253, "", false), (70, "n", true), (252, "n", false), (70, "é", false)]
    {
        let long = long.repeat(198);
        let page = format!(r#"{{"value":[{body}]}}"#);
        let server = Server::start([json(200, &page), json(200, body)]).await;
        let client = server.client(Options::new());
        let select =
            Select::names((0..names).map(|index| format!("P{index}{}", if index == 1 { "" } else { &long })));
        let query = Query { select: select.clone(), ..Query::new(KeyRange::ALL) };
        let page = client.query(&table(), &query, None).await.unwrap();
        let key = table_core::EntityKey::new("p", "1").unwrap();
        let found = client.get(&table(), &key, &select).await.unwrap().unwrap();
        let sent =
            server.received().iter().all(|request| request.query().iter().any(|(name, _)| name == "$select"));
        assert_eq!(sent, fits, "{names} names of {} bytes", long.len());
        if !sent {
            for row in [page.rows.get(0).unwrap().row, found.row.view()] {
                assert_eq!((row.len(), row.find("P1", &mut 0).unwrap()), (1, Some(ValueRef::Int32(1))));
            }
            assert_eq!(found.etag.to_string(), "W/\"x\"");
            assert_ne!(found.row.view().timestamp(), 0);
        }
    }
}

#[tokio::test]
async fn top_2_3_cos_6_and_az_13() {
    let token = "x-ms-continuation-NextPartitionKey: t";
    let server = Server::start([page(&[], &[token]), page(&["1"], &[])]).await;
    let client = server.client(Options::new());
    let query = |top| Query { top: Some(top), ..Query::new(KeyRange::ALL) };
    assert!(client.query(&table(), &query(0), None).await.unwrap().continuation.is_none()); // AZ-13
    assert_eq!(client.query(&table(), &query(1_001), None).await.unwrap_err().rule(), Some("TOP-2"));
    let key = crate::Credential::shared_key("devstoreaccount1", crate::auth::EMULATOR_KEY).unwrap();
    let cosmos =
        crate::AzureTables::with_options(&server.endpoint, key, Options::new().target(Target::Cosmos));
    let page = cosmos.unwrap().query(&table(), &query(1_001), None).await.unwrap();
    assert_eq!(keys(&page), ["1"]);
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn opt_5_and_page_12_tables_by_prefix_with_the_services_token() {
    let list = |names: &str, token: &[&str]| {
        let headers: Vec<_> =
            token.iter().copied().chain(["Content-Type: application/json;odata=nometadata"]).collect();
        answer(200, &headers, &format!(r#"{{"value":[{names}]}}"#))
    };
    let server = Server::start([
        list(
            r#"{"TableName":"Employee"},{"TableName":"EMPTY"},{"TableName":"eMail"}"#,
            &["x-ms-continuation-NextTableName: 1!48!RW1w"],
        ),
        list(r#"{"TableName":"employer"},{"TableName":"emp loyees"}"#, &[]),
    ])
    .await;
    let client = server.client(Options::new());
    let first = client.list_tables("Emp", None, 10).await.unwrap();
    let second = client.list_tables("Emp", first.next.as_deref(), 10).await.unwrap();
    let names = |page: &TablePage| page.names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (names(&first), names(&second)),
        (vec!["Employee".into(), "EMPTY".into()], vec!["employer".into()])
    );
    assert_eq!(second.next, None);
    assert_eq!(client.list_tables("", None, 0).await.unwrap(), TablePage::default()); // ENG-5
    assert_eq!(client.list_tables("", None, 1_001).await.unwrap_err().rule(), Some("TOP-2"));
    let query = server.received()[1].query();
    let expected = [
        ("$top", "10"),
        ("$filter", "TableName ge 'EMP' and TableName lt 'emq'"),
        ("NextTableName", "1!48!RW1w"),
    ];
    assert_eq!(query, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[derive(table_core::Entity, Clone, Debug)]
#[partition_key(group)]
#[row_key(id)]
struct Member {
    group: String,
    id: String,
}

/// Reads a stream of three pages with two, one and one entities. At each entity, waits until the server has received the expected number of requests, and
/// records the number it received. Returns the recorded numbers.
fn requests_seen(expected: [usize; 4], limit: usize) -> Vec<usize> {
    /// The maximum time to wait for a request. It is reached only if the client is faulty.
    const BOUND: std::time::Duration = std::time::Duration::from_secs(10 * 60);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let token = "x-ms-continuation-NextPartitionKey: t";
    let server = runtime.block_on(Server::start([
        page(&["1", "2"], &[token]),
        page(&["3"], &[token]),
        page(&["4"], &[]),
    ]));
    let members = table_core::Table::<Member, _>::new(server.client(Options::new()), table());
    let (mut seen, mut expected) = (Vec::new(), expected.into_iter());
    // This blocks the thread, like a program that processes an entity. The stream is not polled during this time.
    let work = |_: &_| {
        let (began, wanted) = (std::time::Instant::now(), expected.next().unwrap());
        while server.received().len() < wanted && began.elapsed() < BOUND {
            std::thread::yield_now();
        }
        seen.push(server.received().len());
    };
    let query = members.query(Member::partition("p")).limit(limit);
    assert_eq!(pollster::block_on(query.for_each(work)).unwrap(), u64::try_from(limit.min(4)).unwrap());
    seen
}

#[test]
fn the_next_page_is_fetched_while_the_current_one_is_processed() {
    assert_eq!(requests_seen([2, 2, 3, 3], 9), [2, 2, 3, 3]);
}

#[test]
fn a_page_beyond_the_limit_is_not_requested() {
    assert_eq!(requests_seen([1, 1, 1, 1], 2), [1, 1]);
}

/// Tests that only a missing continuation token marks the end of a result. An unreadable token is an error.
#[tokio::test]
async fn page_2_and_12_an_unreadable_position_is_not_the_end_of_the_result() {
    const READABLE: [u8; 1] = *b"t";
    const UNREADABLE: [u8; 1] = [0xE9];
    let names = ["NextPartitionKey", "NextRowKey", "NextTableName"];
    for (unreadable, readable) in [(0, None), (0, Some(1)), (1, None), (1, Some(0)), (2, None)] {
        let mut reply = format!("HTTP/1.1 200 X\r\n{JSON}\r\nContent-Length: 12\r\n").into_bytes();
        let values = [(unreadable, UNREADABLE)].into_iter().chain(readable.map(|name| (name, READABLE)));
        for (name, value) in values {
            reply.extend(format!("x-ms-continuation-{}: ", names[name]).into_bytes());
            reply.extend(value.into_iter().chain(*b"\r\n"));
        }
        reply.extend(b"\r\n{\"value\":[]}");
        let server = Server::start([Reply::Bytes(reply)]).await;
        let client = server.client(Options::new());
        let error = if unreadable == 2 {
            client.list_tables("", None, 10).await.map(|_| ()).unwrap_err()
        } else {
            client.query(&table(), &Query::new(KeyRange::ALL), None).await.map(|_| ()).unwrap_err()
        };
        assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
        assert!(error.to_string().contains(&names[unreadable].to_ascii_lowercase()), "{error}");
    }
}
