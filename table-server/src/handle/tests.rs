//! Tests of cancelled requests, and of settings left behind by earlier tables and queues.

use std::net::Ipv4Addr;
use std::pin::pin;
use std::task::{Context, Waker};

use table_core::{Engine, QueueName, QueueStore, TableName, TableStore};
use table_wire::sas::{AccessPolicy, StoredAccessPolicy};
use tokio::sync::Semaphore;

use super::*;
use crate::settings::Kind;

fn exchange(service: Service, method: &str, path: &str) -> Exchange {
    let parts = Request::builder().method(method).uri(format!("/devstoreaccount1/{path}"));
    let (parts, ()) = parts.body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let path = parts.uri.path().trim_start_matches("/devstoreaccount1/").to_owned();
    Exchange { path, ..Exchange::new(service, parts, caller) }
}

/// Returns an account with a table and its stored policy `readers`.
async fn account(table: &TableName) -> Arc<Account> {
    let account = Arc::new(Account::emulator(Engine::in_memory()).unwrap());
    account.engine.create_table(table).await.unwrap();
    let policy = StoredAccessPolicy::new("readers", AccessPolicy::default()).unwrap();
    account.set_policies(&account.settings.turn.lock().await, table, vec![policy]).await.unwrap();
    account
}

/// Runs a request as the server does, with its body already read.
async fn run(account: Arc<Account>, exchange: Arc<Exchange>) -> Result<Answer, Refusal> {
    super::run(account, Access::Key, exchange, None).await
}

#[tokio::test]
async fn acl_4_a_cancelled_deletion_leaves_no_policies_to_the_next_table() {
    let table = TableName::new("Tab").unwrap();
    for path in ["Tables('Tab')", "Tables('tab')", "tables('Tab')", "TABLES('Tab')/", "Tables( 'Tab' )"] {
        let account = account(&table).await;
        let delete = Arc::new(exchange(Service::Tables, "DELETE", &path.replace(' ', "%20")));
        let delete = Arc::new(Exchange { path: path.to_owned(), ..Arc::into_inner(delete).unwrap() });
        {
            let mut deletion = pin!(run(Arc::clone(&account), delete));
            // The client cancels the request after the deletion has started.
            assert!(deletion.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        while account.engine.create_table(&table).await.is_err() {
            tokio::task::yield_now().await;
        }
        // The next request that changes settings waits until the deletion is complete.
        drop(account.settings.turn.lock().await);
        assert!(account.policies(&table).is_empty(), "{path}");
    }
}

/// Tests that a new table does not inherit policies that were left behind when an earlier table with the same name was deleted.
#[tokio::test]
async fn acl_4_a_table_does_not_get_the_policies_that_remained_from_an_earlier_one() {
    let table = TableName::new("Tab").unwrap();
    for (is_there, policies) in [(false, 0), (true, 1)] {
        let account = account(&table).await;
        if !is_there {
            // The embedding program deletes the table, so the policies remain stored.
            account.engine.delete_table(&table).await.unwrap();
        }
        let create =
            Exchange { body: r#"{"TableName":"tab"}"#.into(), ..exchange(Service::Tables, "POST", "Tables") };
        let created = run(Arc::clone(&account), Arc::new(create)).await;
        assert_eq!(created.is_ok(), !is_there, "{created:?}");
        assert_eq!(account.policies(&table).len(), policies, "the table existed: {is_there}");
    }
}

#[tokio::test]
async fn acl_4_a_queue_does_not_get_the_policies_that_remained_from_an_earlier_one() {
    let account = Arc::new(Account::emulator(Engine::in_memory()).unwrap());
    let text = "<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy/></SignedIdentifier></SignedIdentifiers>";
    let queue = QueueName::new("work").unwrap();
    account.engine.create_queue(&queue).await.unwrap();
    account.settings.set(Kind::QueuePolicies, "work", Some(text.to_owned())).await.unwrap();
    assert_eq!(account.queue_policies(&queue).len(), 1);
    account.engine.delete_queue(&queue).await.unwrap();
    let create = exchange(Service::Queues, "PUT", "work");
    run(Arc::clone(&account), Arc::new(create)).await.unwrap();
    assert!(account.queue_policies(&queue).is_empty());
}

#[tokio::test]
async fn a_cancelled_request_that_continues_keeps_its_permit() {
    let account = Arc::new(Account::emulator(Engine::in_memory()).unwrap());
    let permits = Arc::new(Semaphore::new(1));
    let create = Arc::new(exchange(Service::Queues, "PUT", "work"));
    let turn = account.settings.turn.lock().await;
    {
        let permit = Arc::clone(&permits).try_acquire_owned().ok();
        let mut creation = pin!(super::run(Arc::clone(&account), Access::Key, create, permit));
        assert!(creation.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(permits.available_permits(), 0);
    drop(turn);
    drop(permits.acquire().await.unwrap());
    assert!(!account.engine.create_queue(&QueueName::new("work").unwrap()).await.unwrap());
}

#[test]
fn only_writes_of_settings_tables_and_queues_run_to_their_end() {
    let changes = |service, method, path| route::changes_settings(&exchange(service, method, path));
    for (service, method, path) in [
        (Service::Tables, "DELETE", "Tables('Tab')"),
        (Service::Tables, "DELETE", "tables('Tab')/"),
        (Service::Tables, "POST", "TABLES"),
        (Service::Tables, "PUT", "Tab?comp=acl"),
        (Service::Tables, "PUT", "?restype=service&comp=properties"),
        (Service::Queues, "PUT", "work"),
        (Service::Queues, "DELETE", "work"),
        (Service::Queues, "PUT", "work?comp=metadata"),
    ] {
        assert!(changes(service, method, path), "{method} {path}");
    }
    for (service, method, path) in [
        (Service::Tables, "GET", "Tab?comp=acl"),
        (Service::Tables, "PUT", "Tab(PartitionKey='p',RowKey='r')"),
        (Service::Tables, "POST", "Tab"),
        (Service::Tables, "POST", "TablesOfCities"),
        (Service::Queues, "POST", "work/messages"),
        (Service::Queues, "DELETE", "work/messages/7?popreceipt=x"),
    ] {
        assert!(!changes(service, method, path), "{method} {path}");
    }
}
