//! Tests of time limits for requests that wait before their operation starts.

use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::task::Poll;

use http::Request;
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::{
    Engine, EntityKey, Operation, OperationKind, QueueName, QueueStore, TableName, TableStore, Transaction,
};
use table_wire::sas::Caller;
use tokio::time::advance;

use super::*;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::route;
use crate::service::Service;

const REPLACE: &str = r#"{"Name":"new"}"#;

fn exchange(service: Service, method: &str, target: &str, body: &str) -> Exchange {
    let request = Request::builder().method(method).uri(format!("/devstoreaccount1/{target}"));
    let batch = request.header("content-type", "multipart/mixed; boundary=b").header("if-match", "*");
    let (parts, ()) = batch.body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Exchange { path, body: body.to_owned().into(), ..Exchange::new(service, parts, caller) }
}

async fn answer(account: &Account, exchange: &Exchange) -> Result<Answer, Refusal> {
    route::answer(account, &Access::Key, exchange).await
}

/// Returns an account with the queue `work` and the table `Employee`, which contains one entity.
async fn account(table: &TableName, key: &EntityKey) -> Account {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    account.engine.create_queue(&QueueName::new("work").unwrap()).await.unwrap();
    account.engine.create_table(table).await.unwrap();
    let limits = account.engine.capabilities().limits;
    let mut transaction = Transaction::new(key.partition_key.clone(), limits).unwrap();
    let row = RowWriter::new().finish();
    let kind = OperationKind::Insert(row);
    transaction.push(Operation { row_key: key.row_key.clone(), kind }).unwrap();
    account.engine.submit(table, transaction).await.unwrap();
    account
}

/// Returns the response status for a request whose body arrives `seconds` after its head, and `true` if the request changed the account.
async fn sent(kind: &str, query: &str, seconds: u64) -> (u16, bool) {
    let (table, queue) = (TableName::new("Employee").unwrap(), QueueName::new("work").unwrap());
    let key = EntityKey::new("Sales", "1").unwrap();
    let account = account(&table, &key).await;
    let version = async || account.engine.get(&table, &key, &Select::All).await.unwrap().map(|row| row.etag);
    let before = version().await;
    let exchange = match kind {
        "entity" => {
            let target = format!("Employee(PartitionKey='Sales',RowKey='1'){query}");
            exchange(Service::Tables, "PUT", &target, REPLACE)
        }
        "batch" => {
            let body = format!(
                "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n\
                 --c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
                 PUT http://x/Employee(PartitionKey='Sales',RowKey='1') HTTP/1.1\r\nContent-Type: application/json\r\n\
                 If-Match: *\r\n\r\n{REPLACE}\r\n--c--\r\n--b--\r\n"
            );
            exchange(Service::Tables, "POST", &format!("$batch{query}"), &body)
        }
        _ => {
            let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
            exchange(Service::Queues, "POST", &format!("work/messages{query}"), message)
        }
    };
    advance(Duration::from_secs(seconds)).await;
    let status = answer(&account, &exchange).await.map_or_else(|refused| refused.status, |done| done.status);
    let messages = account.engine.approximate_count(&queue).await.unwrap();
    (status, version().await != before || messages > 0)
}

#[tokio::test(start_paused = true)]
async fn req_6_a_request_that_has_waited_longer_than_its_time_limit_is_not_applied() {
    for (kind, applied) in [("entity", 204), ("batch", 202), ("message", 201)] {
        for (query, seconds, expected) in [
            ("", 100, (applied, true)),
            ("?timeout=4", 3, (applied, true)),
            ("?timeout=4", 4, (500, false)),
            ("?Timeout=4", 4, (500, false)),
            ("?timeout=0", 100, (applied, true)),
            ("?timeout=90", 29, (applied, true)),
            ("?timeout=90", 30, (500, false)),
            ("?timeout=x", 0, (400, false)),
            ("?timeout=-1", 0, (400, false)),
            ("?timeout=99999999999999999999", 0, (400, false)),
        ] {
            assert_eq!(sent(kind, query, seconds).await, expected, "{kind}{query} after {seconds} s");
        }
    }
}

/// Tests all requests that wait for a settings change to finish.
#[tokio::test(start_paused = true)]
async fn req_6_a_request_that_waits_for_another_to_change_settings_has_a_time_limit() {
    let (table, key) = (TableName::new("Employee").unwrap(), EntityKey::new("Sales", "1").unwrap());
    for (service, method, target, body) in [
        (Service::Tables, "DELETE", "Tables('Employee')", ""),
        (Service::Tables, "PUT", "Employee?comp=acl", ""),
        (Service::Tables, "PUT", "?restype=service&comp=properties", "<StorageServiceProperties/>"),
        (Service::Queues, "PUT", "other", ""),
        (Service::Queues, "DELETE", "work", ""),
        (Service::Queues, "PUT", "work?comp=metadata", ""),
        (Service::Queues, "PUT", "work?comp=acl", ""),
    ] {
        for (seconds, is_applied) in [(3, true), (4, false)] {
            let account = account(&table, &key).await;
            let query = if target.contains('?') { '&' } else { '?' };
            let exchange = exchange(service, method, &format!("{target}{query}timeout=4"), body);
            let turn = account.settings.turn.lock().await;
            let mut waiting = pin!(answer(&account, &exchange));
            // The request checks that its table exists, and then waits.
            for _ in 0..100 {
                let is_waiting =
                    poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending())).await;
                assert!(is_waiting, "{method} {target}");
                tokio::task::yield_now().await;
            }
            advance(Duration::from_secs(seconds)).await;
            drop(turn);
            let refused = waiting.await.err().map(|refused| refused.code);
            let expected = (!is_applied).then_some("OperationTimedOut");
            assert_eq!(refused, expected, "{method} {target} after {seconds} s");
        }
    }
}
