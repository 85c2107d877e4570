//! Tests that a server can call the operations of the ledger from its tasks.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use examples::ledger::books::{Bookkeeping, Draft, Refused};
use examples::model::ledger::{Account, Kind, Line};
use examples::store;
use pollster::block_on;

/// Checks at compile time that a future can be sent between threads, as most runtimes require.
fn sendable<T: Send>(future: T) -> T {
    future
}

fn account(number: u32) -> Account {
    Account {
        tenant: "t".to_owned(),
        number,
        code: number.to_string(),
        name: format!("Account {number}"),
        currency: "EUR".to_owned(),
        kind: Kind::Asset,
        parent: None,
    }
}

#[test]
fn amounts_that_cannot_be_added_are_refused() {
    let books = block_on(Bookkeeping::open(&store::in_memory())).unwrap();
    let day = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
    let chart = (0..4).map(|account| (account, "EUR".to_owned())).collect::<BTreeMap<_, _>>();
    for amounts in [[i64::MAX, -i64::MAX, i64::MAX, -i64::MAX], [i64::MIN, i64::MAX, 1, 0]] {
        let lines = (0..).zip(amounts).map(|(account, cents)| Line { account, cents }).collect();
        let draft = Draft { request: "one".into(), effective: day, reference: "r".into(), lines };
        let refused = block_on(books.post("t", &chart, &[draft]));
        assert!(matches!(refused, Err(Refused::Unbalanced)), "{refused:?}");
    }
}

#[test]
fn no_id_that_a_client_chooses_prevents_the_reversal_of_an_entry() {
    let books = block_on(Bookkeeping::open(&store::in_memory())).unwrap();
    let day = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
    let effective = day.succ_opt().unwrap();
    let lines = vec![Line { account: 1, cents: 5 }, Line { account: 2, cents: -5 }];
    let chart = BTreeMap::from([1, 2].map(|account| (account, "EUR".to_owned())));
    block_on(async {
        books.open_books("t", day).await.unwrap();
        let post = async |request: String, lines: &[Line]| {
            let draft = Draft { request, effective, reference: "r".into(), lines: lines.to_vec() };
            books.post("t", &chart, &[draft]).await.unwrap()[0]
        };
        let first = post("one".into(), &lines).await;
        let taken = post(format!("reversal of {first}"), &lines).await;
        let reversal = books.reverse("t", first, effective).await.unwrap();
        assert!(![first, taken].contains(&reversal));
        let second = books.reverse("t", taken, effective).await.unwrap();
        // A client may use the reference text of a reversal as a request id, because a reversal stores no request id.
        let late = post(format!("reversal of {taken}"), &lines).await;
        assert!(![first, taken, reversal, second].contains(&late));
        assert_eq!(books.balance("t", 1).await.unwrap(), 5);
    });
}

#[test]
fn every_verb_runs_in_a_task_that_changes_threads() {
    let books = block_on(sendable(Bookkeeping::open(&store::in_memory()))).unwrap();
    let day = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
    let lines = vec![Line { account: 1, cents: 5 }, Line { account: 2, cents: -5 }];
    let draft =
        Draft { request: "one".into(), effective: day.succ_opt().unwrap(), reference: "r".into(), lines };
    let chart = BTreeMap::from([1, 2].map(|account| (account, "EUR".to_owned())));
    block_on(sendable(async {
        books.open_books("t", day).await.unwrap();
        let numbers = books.post("t", &chart, std::slice::from_ref(&draft)).await.unwrap();
        assert_eq!(books.balance("t", 1).await.unwrap(), 5);
        books.reverse("t", numbers[0], draft.effective).await.unwrap();
        assert_eq!(books.balance_at("t", 1, draft.effective).await.unwrap(), 0);
        books.accounts.insert(&account(1)).await.unwrap();
        books.close_account("t", 1).await.unwrap();
        books.close("t", draft.effective).await.unwrap();
        books.post("t", &chart, &[Draft { request: "two".into(), ..draft.clone() }]).await.unwrap_err();
    }));
}
