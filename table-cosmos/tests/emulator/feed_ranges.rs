//! Tests which physical partitions are returned if the request for the list fails.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use table_core::{TableName, TableStore};
use table_cosmos::Options;
use table_cosmos::emulator::{Answer, Broken, Delivery, Emulator, Network, Request};
use table_hierarchy::{Component, Epk};

use crate::runtime;

/// A mock network that fails partition list requests while it is turned on.
struct Failing {
    account: Emulator,
    failure: Result<Answer, Broken>,
    is_on: AtomicBool,
}

impl Network for Failing {
    fn deliver(&self, request: Request) -> Delivery {
        let fails = self.is_on.load(Ordering::SeqCst) && request.target.contains("/pkranges");
        let (account, failure) = (self.account.clone(), self.failure.clone());
        Box::pin(async move { if fails { failure } else { account.receive(&request).await } })
    }
}

impl fmt::Debug for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

#[test]
fn rust_5_the_last_known_partitions_are_returned_if_the_request_for_them_fails() {
    runtime().block_on(async {
        for (failure, is_known) in [403, 500, 503]
            .into_iter()
            .map(|status| Ok(Answer::new(status, "{}")))
            .chain([Err(Broken::AfterSending)])
            .flat_map(|failure| [(failure.clone(), true), (failure, false)])
        {
            let account = Emulator::new(false).unwrap();
            let table = TableName::new("Things").unwrap();
            account.create(&table, 1, 2, None).unwrap();
            let network = Failing {
                account: account.clone(),
                failure: failure.clone(),
                is_on: AtomicBool::new(!is_known),
            };
            let network = Arc::new(network);
            let store = account.open_over(Options::new(), network.clone()).await.unwrap();
            let case = format!("{failure:?}, known: {is_known}");
            if is_known {
                assert_eq!(store.partitions(&table).await.unwrap().partitions().len(), 2, "{case}");
            }
            let id = table_hierarchy::PartitionMap::even(2).locate(&Epk::of(&[Component::text("p")])).id;
            account.split(&table, id, &Epk::of(&[Component::text("p")]), Duration::ZERO).unwrap();
            account.settled().await;
            network.is_on.store(true, Ordering::SeqCst);
            let found = store.partitions(&table).await;
            match found {
                Ok(map) => assert!(is_known && map.partitions().len() == 2, "{case}: {map:?}"),
                Err(error) => assert!(!is_known && !error.is_table_not_found(), "{case}: {error}"),
            }
            network.is_on.store(false, Ordering::SeqCst);
            assert_eq!(store.partitions(&table).await.unwrap().partitions().len(), 3, "{case}");
            store.delete_table(&table).await.unwrap();
            network.is_on.store(true, Ordering::SeqCst);
            assert!(store.partitions(&table).await.unwrap_err().is_table_not_found(), "{case}");
        }
    });
}
