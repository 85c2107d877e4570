//! Tests of containers whose names differ only in case. Other programs may create such containers (TBL-2).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use table_core::query::{KeyRange, Query, Select};
use table_core::table::LAYOUTS;
use table_core::{Entity, EntityKey, Error, ErrorCode, OperationKind, TableName, TableStore, TableStoreExt};
use table_cosmos::emulator::{Answer, Broken, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};

use crate::operation::{row, transaction};
use crate::runtime;

fn names() -> [TableName; 3] {
    ["Events", "events", "EVENTS"].map(|name| TableName::new(name).unwrap())
}

#[test]
fn tbl_2_each_spelling_refers_to_the_same_container_in_every_order_of_calls() {
    let [upper, lower, neither] = names();
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let key = EntityKey::new("p", "r").unwrap();
        for name in [&upper, &lower] {
            account.create(name, 1, 1, None).unwrap();
            let store = account.open(Options::new()).await.unwrap();
            let insert = [("r".to_owned(), OperationKind::Insert(row(name.as_str())))];
            store.submit(name, transaction(&store, insert)).await.unwrap();
        }
        for order in [[&upper, &lower, &upper], [&lower, &upper, &lower]] {
            let store = account.open(Options::new()).await.unwrap();
            for name in order {
                let found = store.get(name, &key, &Select::All).await.unwrap().unwrap();
                assert_eq!(found.row.with_timestamp(0), row(name.as_str()));
                let refused = [
                    store.get(&neither, &key, &Select::All).await.map(drop),
                    store.delete_table(&neither).await,
                ];
                for error in refused.map(Result::unwrap_err) {
                    assert_eq!(
                        (error.code(), error.rule()),
                        (ErrorCode::SchemaMismatch, Some("TBL-2")),
                        "{error}"
                    );
                }
            }
        }
        // Once one of the containers is deleted, its name refers to the remaining container.
        let store = account.open(Options::new()).await.unwrap();
        assert!(store.get(&upper, &key, &Select::All).await.unwrap().is_some());
        store.delete_table(&upper).await.unwrap();
        for name in names() {
            let found = store.get(&name, &key, &Select::All).await.unwrap().unwrap();
            assert_eq!(found.row.with_timestamp(0), row("events"));
        }
    });
}

#[test]
fn opt_5_a_listing_contains_one_name_of_two_that_differ_only_in_case() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        for name in ["Alpha", "Events", "events", "Omega"] {
            account.create(&TableName::new(name).unwrap(), 1, 1, None).unwrap();
        }
        let store = account.open(Options::new()).await.unwrap();
        for top in 1..=4 {
            let (mut from, mut found) = (None, Vec::new());
            loop {
                let page = store.list_tables("", from.as_deref(), top).await.unwrap();
                found.extend(page.names.iter().map(|name| name.as_str().to_owned()));
                assert!(found.len() <= 3, "{found:?}");
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
            assert_eq!(found, ["Alpha", "Events", "Omega"], "pages of {top}");
        }
    });
}

/// A mock network that responds to container listings itself.
struct Listing {
    account: Emulator,
    answer: Result<Answer, Broken>,
}

impl Network for Listing {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, answer) = (self.account.clone(), self.answer.clone());
        Box::pin(async move {
            let is_listing = request.method == "POST" && request.target.ends_with("/colls");
            if is_listing { answer } else { account.receive(&request).await }
        })
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listing")
    }
}

/// Returns an error response from the service.
fn answer(status: u16) -> Answer {
    let mut answer = Answer::new(status, r#"{"code": "Refused", "message": "refused"}"#);
    answer.headers.push(("x-ms-activity-id".to_owned(), "00000000-0000-0000-0000-000000000001".to_owned()));
    answer
}

/// Returns the errors of all operations on a table.
async fn errors(store: &CosmosTables, table: &TableName) -> [Error; 4] {
    let key = EntityKey::new("p", "r").unwrap();
    let insert = [("r".to_owned(), OperationKind::Insert(row("new")))];
    [
        store.get(table, &key, &Select::All).await.map(drop).unwrap_err(),
        store.query(table, &Query::new(KeyRange::ALL), None).await.map(drop).unwrap_err(),
        store.submit(table, transaction(store, insert)).await.map(drop).unwrap_err(),
        store.delete_table(table).await.unwrap_err(),
    ]
}

#[test]
fn tbl_2_a_table_is_not_reported_as_missing_if_its_other_spellings_cannot_be_listed() {
    let [upper, lower, _] = names();
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        account.create(&upper, 1, 1, None).unwrap();
        let mut page = answer(403);
        page.headers.clear();
        for failed in
            [Ok(answer(429)), Ok(answer(503)), Ok(answer(500)), Err(Broken::BeforeSending), Ok(page)]
        {
            let network = Listing { account: account.clone(), answer: failed.clone() };
            let store = account.open_over(Options::new(), Arc::new(network)).await.unwrap();
            for error in errors(&store, &lower).await {
                assert!(!error.is_not_found(), "{failed:?}: {error}");
                assert_eq!(error.table(), Some("events"), "{failed:?}: {error}");
            }
        }
    });
}

#[test]
fn tbl_2_a_credential_that_may_not_list_containers_finds_only_the_exact_spelling() {
    let [upper, lower, _] = names();
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        account.create(&upper, 1, 1, None).unwrap();
        for status in [401, 403] {
            let network = Listing { account: account.clone(), answer: Ok(answer(status)) };
            let store = account.open_over(Options::new(), Arc::new(network)).await.unwrap();
            let key = EntityKey::new("p", "r").unwrap();
            assert!(store.get(&upper, &key, &Select::All).await.unwrap().is_none());
            let [get, query, submit, delete] = errors(&store, &lower).await;
            for error in [get, query, submit] {
                assert_eq!(error.code(), ErrorCode::TableNotFound, "{error}");
            }
            assert_eq!(delete.code(), ErrorCode::ResourceNotFound, "{delete}");
        }
    });
}

/// A mock network for a credential that may neither list nor create containers. Selected requests fail.
struct Restricted {
    account: Emulator,
    /// The requests so far, without their headers and bodies.
    sent: Mutex<Vec<String>>,
    failing: Failing,
    failure: Result<Answer, Broken>,
}

/// The requests that fail.
#[derive(Clone, Debug)]
enum Failing {
    Nothing,
    /// The request with the given number.
    Once(usize),
    /// All requests of one kind.
    Every(String),
}

impl Network for Restricted {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, failure) = (self.account.clone(), self.failure.clone());
        let is_query = request.header("x-ms-documentdb-isquery").is_some();
        let kind = format!("{} {}, query: {is_query}", request.method, request.target);
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let fails = match &self.failing {
            Failing::Nothing => false,
            Failing::Once(at) => sent.len() == *at,
            Failing::Every(failing) => *failing == kind,
        };
        sent.push(kind);
        Box::pin(async move {
            let is_forbidden = request.method == "POST" && request.target.ends_with("/colls");
            match (fails, is_forbidden) {
                (true, _) => failure,
                (false, true) => Ok(answer(403)),
                (false, false) => account.receive(&request).await,
            }
        })
    }
}

impl fmt::Debug for Restricted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Restricted")
    }
}

/// Attempts to create a table with a credential that may neither list nor create containers. Returns the number of requests before the call, all requests, and
/// the error.
async fn refused_creation(
    account: &Emulator,
    failing: Failing,
    failure: Result<Answer, Broken>,
) -> (usize, Vec<String>, Error) {
    let sent = Mutex::default();
    let network = Arc::new(Restricted { account: account.clone(), sent, failing, failure });
    let store = account.open_over(Options::new(), network.clone()).await.unwrap();
    let sent = || network.sent.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let before = sent().len();
    let error = store.create_table(&TableName::new("Events").unwrap()).await.unwrap_err();
    (before, sent(), error)
}

/// Tests a failure of each request that a table creation sends. The failure may be reported instead of the original error, but must not suggest a different
/// outcome, because `create_if_missing` opens the table only if the creation reports that it exists.
#[test]
fn opt_2_a_failed_request_of_a_creation_does_not_decide_whether_the_table_exists() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let statuses = [408, 410, 429, 449, 500, 503].map(|status| Ok(answer(status)));
        let failures: Vec<_> =
            statuses.into_iter().chain([Err(Broken::BeforeSending), Err(Broken::AfterSending)]).collect();
        for exists in [true, false] {
            let account = Emulator::new(false).unwrap();
            if exists {
                account.create(&TableName::new("Events").unwrap(), 1, 1, None).unwrap();
            }
            let (before, sent, calm) = refused_creation(&account, Failing::Nothing, Ok(answer(500))).await;
            let expected =
                if exists { ErrorCode::TableAlreadyExists } else { ErrorCode::AuthorizationFailure };
            assert_eq!(calm.code(), expected, "{calm}");
            let of_call = sent.iter().enumerate().skip(before);
            let failing = of_call.flat_map(|(at, kind)| [Failing::Once(at), Failing::Every(kind.clone())]);
            let mut absorbed = 0;
            for (failing, failure) in failing
                .flat_map(|failing| failures.iter().map(move |failure| (failing.clone(), failure.clone())))
            {
                let (_, _, error) = refused_creation(&account, failing.clone(), failure.clone()).await;
                let case = format!("exists: {exists}, {failing:?}, {failure:?}: {error}");
                absorbed += usize::from(error.code() == expected);
                let outcomes = [ErrorCode::TableAlreadyExists, ErrorCode::AuthorizationFailure];
                assert!(error.code() == expected || !outcomes.contains(&error.code()), "{case}");
                assert_eq!(error.table(), Some("Events"), "{case}");
            }
            println!("exists: {exists}, absorbed: {absorbed}");
        }
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Events")]
#[partition_key(tenant)]
#[row_key(number)]
struct Event {
    tenant: String,
    #[digits(4)]
    number: u16,
}

#[test]
fn a_credential_that_may_not_list_containers_opens_existing_tables() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        for name in ["Events", LAYOUTS] {
            account.create(&TableName::new(name).unwrap(), 1, 1, None).unwrap();
        }
        for status in [401, 403] {
            let network = Listing { account: account.clone(), answer: Ok(answer(status)) };
            let store = account.open_over(Options::new(), Arc::new(network)).await.unwrap();
            let events = store.table::<Event>().create_if_missing().await.unwrap();
            let event = Event { tenant: "contoso".into(), number: status };
            events.insert(&event).await.unwrap();
            assert_eq!(events.get(Event::key("contoso", status)).await.unwrap().as_deref(), Some(&event));
        }
    });
}
