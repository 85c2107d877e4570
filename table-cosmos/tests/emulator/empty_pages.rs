//! Tests of empty pages within one partition key. The service may end a page before it contains items (PAGE-1), but the emulator never does.

use std::fmt;
use std::sync::{Arc, Mutex};

use table_core::query::{Continuation, KeyRange, Query};
use table_core::row::RowWriter;
use table_core::{
    Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
};
use table_cosmos::Options;
use table_cosmos::emulator::{Answer, Delivery, Emulator, Network, Request};

use crate::runtime;

/// The name of the header that contains a continuation token, in requests and responses.
const CONTINUATION: &str = "x-ms-continuation";

/// A mock network that returns an empty page for each query without a continuation token. The page's token starts the query from the beginning.
struct Hollow {
    account: Emulator,
    /// The bodies of queries that received an empty page. The page's token is the index in this list.
    queries: Mutex<Vec<Vec<u8>>>,
    /// The bodies of continued queries that differ from the query to which their token belongs. The service would reject such queries.
    misused: Mutex<Vec<String>>,
}

impl Network for Hollow {
    fn deliver(&self, mut request: Request) -> Delivery {
        let account = self.account.clone();
        let is_query = request.header("x-ms-documentdb-isquery").is_some()
            && request.header("x-ms-documentdb-partitionkey").is_some();
        if is_query {
            let mut queries = self.queries.lock().unwrap();
            match request.header(CONTINUATION).and_then(|token| token.parse::<usize>().ok()) {
                None if request.header(CONTINUATION).is_none() => {
                    let mut page = Answer::new(200, r#"{"_rid":"","Documents":[],"_count":0}"#);
                    for (name, value) in [
                        (CONTINUATION, queries.len().to_string()),
                        ("x-ms-activity-id", "7b3c1d0e-0000-4000-8000-000000000000".to_owned()),
                        ("x-ms-request-charge", "2.5".to_owned()),
                        ("x-ms-item-count", "0".to_owned()),
                        ("content-type", "application/json".to_owned()),
                    ] {
                        page.headers.push((name.to_owned(), value));
                    }
                    queries.push(request.body);
                    return Box::pin(async move { Ok(page) });
                }
                None => {}
                Some(number) => {
                    if queries.get(number) != Some(&request.body) {
                        let body = String::from_utf8_lossy(&request.body).into_owned();
                        self.misused.lock().unwrap().push(body);
                    }
                    request.headers.retain(|(name, _)| name != CONTINUATION);
                }
            }
        }
        Box::pin(async move { account.receive(&request).await })
    }
}

impl fmt::Debug for Hollow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hollow")
    }
}

#[test]
fn page_1_a_page_without_items_is_continued_by_the_query_of_its_token() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        account.create(&table, 1, 1, None).unwrap();
        let plain = account.open(Options::new()).await.unwrap();
        let limits = plain.capabilities().limits;
        let mut insert = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
        for number in 0..25 {
            let mut row = RowWriter::new();
            row.property("V", ValueRef::Int32(number));
            let row_key = RowKey::new(format!("{number:02}")).unwrap();
            insert.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
        }
        plain.submit(&table, insert).await.unwrap();
        let hollow = Arc::new(Hollow {
            account: account.clone(),
            queries: Mutex::default(),
            misused: Mutex::default(),
        });
        let store = account.open_over(Options::new(), hollow.clone()).await.unwrap();
        let query = Query { top: Some(10), ..Query::new(KeyRange::partition("p")) };
        let (mut found, mut empty) = (Vec::new(), 0);
        let mut from: Option<Continuation> = None;
        for _ in 0..20 {
            let page = store.query(&table, &query, from.as_ref()).await.unwrap();
            empty += usize::from(page.rows.is_empty());
            found.extend(page.rows.iter().map(|row| row.row_key.to_owned()));
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        assert_eq!(*hollow.misused.lock().unwrap(), Vec::<String>::new());
        assert_eq!(found, (0..25).map(|number| format!("{number:02}")).collect::<Vec<_>>());
        assert!(empty >= 3 && from.is_none(), "{empty} empty pages, {from:?}");
    });
}
