//! Tests that a page from a gateway, a proxy or a captive portal is never mistaken for the account's response.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::query::{KeyRange, Query, Select};
use table_core::{ETag, EntityKey, IfMatch, OperationKind, TableName, TableStore};
use table_cosmos::emulator::{Answer, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Format, Mapping, Options};

use crate::operation::{row, transaction};
use crate::runtime;

/// A mock network with a captive portal. Once turned on, the portal responds to some requests itself.
struct Portal {
    account: Emulator,
    /// Returns `true` for a request to which the portal itself responds.
    is_answered: fn(&Request) -> bool,
    page: Answer,
    /// `true` if requests still reach the account and the portal only replaces the responses.
    forwards: bool,
    is_on: AtomicBool,
}

impl Network for Portal {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, page, forwards) = (self.account.clone(), self.page.clone(), self.forwards);
        let answers = self.is_on.load(Ordering::Relaxed) && (self.is_answered)(&request);
        Box::pin(async move {
            if !answers {
                return account.receive(&request).await;
            }
            if forwards {
                let _ = account.receive(&request).await;
            }
            Ok(page)
        })
    }
}

impl fmt::Debug for Portal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Portal")
    }
}

/// Returns a page with an `ETag`, as web servers send it.
fn page(status: u16) -> Answer {
    let mut page = Answer::new(status, "<html>sign in to the network</html>");
    page.headers.push(("content-type".to_owned(), "text/html".to_owned()));
    page.headers.push(("etag".to_owned(), "\"5f-abc\"".to_owned()));
    page
}

/// A fixture: a store whose requests pass through a portal, and a table that contains the row `there`.
struct World {
    store: CosmosTables,
    /// A second store, whose requests bypass the portal.
    sees: CosmosTables,
    table: TableName,
    etag: ETag,
}

async fn world(status: u16, forwards: bool, options: &Options) -> World {
    let account = Emulator::new(false).unwrap();
    let table = TableName::new("Things").unwrap();
    account.create(&table, 1, 1, None).unwrap();
    let sees = account.open(options.clone()).await.unwrap();
    let portal = Arc::new(Portal {
        account: account.clone(),
        is_answered: |request| request.target.contains("/docs"),
        page: page(status),
        forwards,
        is_on: AtomicBool::new(false),
    });
    let store = account.open_over(options.clone(), portal.clone()).await.unwrap();
    let there = transaction(&store, [("there".to_owned(), OperationKind::Insert(row("before")))]);
    let etag = store.submit(&table, there).await.unwrap().remove(0).unwrap();
    portal.is_on.store(true, Ordering::Relaxed);
    World { store, sees, table, etag }
}

impl World {
    async fn text(&self, row_key: &str) -> Option<String> {
        let key = EntityKey::new("p", row_key).unwrap();
        let found = self.sees.get(&self.table, &key, &Select::All).await.unwrap()?;
        match found.row.view().find("Text", &mut 0).unwrap() {
            Some(table_core::ValueRef::String(text)) => Some(text.to_owned()),
            other => panic!("{other:?}"),
        }
    }

    /// Returns writes of several kinds, including a batch.
    fn writes(&self) -> Vec<Vec<(String, OperationKind)>> {
        let (there, new) = (|| "there".to_owned(), || "new".to_owned());
        let tag = || IfMatch::ETag(self.etag.clone());
        vec![
            vec![(new(), OperationKind::Insert(row("after")))],
            vec![(there(), OperationKind::Insert(row("after")))],
            vec![(new(), OperationKind::InsertOrReplace(row("after")))],
            vec![(there(), OperationKind::Replace(row("after"), IfMatch::Any))],
            vec![(there(), OperationKind::Replace(row("after"), tag()))],
            vec![(there(), OperationKind::Merge(row("after"), tag()))],
            vec![(there(), OperationKind::Delete(IfMatch::Any))],
            vec![(there(), OperationKind::Delete(tag()))],
            vec![
                (new(), OperationKind::Insert(row("after"))),
                (there(), OperationKind::Replace(row("after"), tag())),
            ],
        ]
    }
}

/// The status codes of the portal's pages. If the service itself returned 404, 409, 410 or 412, this would report the state of an item; from the portal, they
/// prove nothing.
const STATUSES: [u16; 10] = [200, 201, 204, 207, 302, 403, 404, 409, 410, 412];

fn options() -> [Options; 3] {
    let mapping = Mapping::new(["/l1"]).property("Text", "/text", Format::Text);
    let mapped = Options::new().mapping("Things", mapping).unwrap();
    [Options::new(), Options::new().at_most_once_writes(false), mapped]
}

#[test]
fn con_11_a_page_of_a_gateway_is_never_a_missing_entity() {
    runtime().block_on(async {
        for status in STATUSES {
            let World { store, table, .. } = world(status, false, &options()[0]).await;
            for row_key in ["there", "new"] {
                let found = store.get(&table, &EntityKey::new("p", row_key).unwrap(), &Select::All).await;
                let error = found.map(|found| found.is_some()).unwrap_err();
                assert!(!error.is_not_found(), "{status}: {error}");
            }
            for keys in [KeyRange::partition("p"), KeyRange::ALL] {
                let found = store.query(&table, &Query::new(keys), None).await;
                let error = found.map(|page| page.rows.len()).unwrap_err();
                assert!(!error.is_not_found(), "{status}: {error}");
            }
        }
    });
}

#[test]
fn con_11_a_page_of_a_gateway_is_never_the_outcome_of_a_write() {
    runtime().block_on(async {
        for (options, status) in options().iter().flat_map(|options| STATUSES.map(|status| (options, status)))
        {
            for forwards in [false, true] {
                // After a 410, the Azure SDK repeats a request for several seconds, so only two writes are tested.
                let most = if status == 410 { 2 } else { usize::MAX };
                let count = world(status, forwards, options).await.writes().len().min(most);
                for at in 0..count {
                    let world = world(status, forwards, options).await;
                    let write = transaction(&world.store, world.writes().swap_remove(at));
                    let (there, new) = (world.text("there").await, world.text("new").await);
                    let outcome = world.store.submit(&world.table, write.clone()).await;
                    let changed = (world.text("there").await, world.text("new").await) != (there, new);
                    let case = format!("{status}, forwarded: {forwards}, {write:?}: {outcome:?}");
                    match outcome {
                        Ok(_) => assert!(changed, "{case}"),
                        Err(error) if error.is_ambiguous() => {}
                        // A real proxy that returns 403 has not forwarded the request, so 403 counts as a definite rejection.
                        Err(_) => assert!(!changed || status == 403, "{case}"),
                    }
                }
            }
        }
    });
}

/// Returns `true` if the request creates or deletes a container.
fn writes_a_container(request: &Request) -> bool {
    let is_query = request.headers.iter().any(|(name, _)| name.contains("isquery"));
    let creates = request.method == "POST" && request.target.ends_with("/colls") && !is_query;
    creates || request.method == "DELETE" && !request.target.contains("/docs")
}

#[test]
fn con_11_a_page_of_a_gateway_is_never_the_outcome_of_the_creation_or_deletion_of_a_table() {
    runtime().block_on(async {
        let (old, new) = (TableName::new("Things").unwrap(), TableName::new("Others").unwrap());
        for status in [200, 201, 204, 302, 403, 404, 409, 410, 412] {
            for forwards in [false, true] {
                let account = Emulator::new(false).unwrap();
                account.create(&old, 1, 1, None).unwrap();
                let sees = account.open(Options::new()).await.unwrap();
                let portal = Portal {
                    account: account.clone(),
                    is_answered: writes_a_container,
                    page: page(status),
                    forwards,
                    is_on: AtomicBool::new(true),
                };
                let store = account.open_over(Options::new(), Arc::new(portal)).await.unwrap();
                for (name, outcome) in
                    [(&new, store.create_table(&new).await), (&old, store.delete_table(&old).await)]
                {
                    let case = format!("{status}, forwarded: {forwards}, {name}: {outcome:?}");
                    let names = sees.list_tables("", None, 9).await.unwrap().names;
                    assert_eq!(names.contains(name) == (name == &new), forwards, "{case}");
                    let error = outcome.unwrap_err();
                    assert!(error.is_ambiguous() || status == 403, "{case}");
                    assert!(!error.is_already_exists() && !error.is_table_not_found(), "{case}");
                }
            }
        }
    });
}
