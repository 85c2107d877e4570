//! Tests sums near the limits of `i64`.

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::{Entity, Result, TableStoreExt};

use crate::EntityStore;
use crate::view::{Projection, View, ViewTable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Postings", feed)]
#[partition_key(book)]
#[row_key(number)]
struct Posting {
    book: String,
    #[digits(6)]
    number: u32,
    amount: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Balances")]
#[partition_key(book)]
#[row_key("balance")]
struct Balance {
    book: String,
    postings: i64,
    amount: i64,
}

struct Balances;

impl View for Balances {
    type Source = Posting;
    type Row = Balance;

    fn project(posting: &Posting, view: &mut Projection<Balance>) -> Result<()> {
        view.add(Balance::key(&posting.book), Balance::POSTINGS, 1)?;
        view.add(Balance::key(&posting.book), Balance::AMOUNT, posting.amount)
    }
}

/// Generates arbitrary, large and small amounts.
fn amount() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), Just(i64::MAX), Just(i64::MIN), Just(6 << 60), Just(-(6 << 60)), -3_i64..3]
}

/// Applies successive changes to one posting's amount. `None` deletes the posting. Each amount is within the range of a sum.
async fn apply_each(amounts: &[Option<i64>]) {
    let store = Engine::in_memory();
    let postings = store.entities::<Posting>().create_if_missing().await.unwrap();
    let view = ViewTable::<Balances, _>::new(store.clone()).create_if_missing().await.unwrap();
    view.rebuild().run().await.unwrap();
    for amount in amounts {
        if let Some(amount) = *amount {
            let posting = Posting { book: "a".to_owned(), number: 1, amount };
            postings.insert_or_replace(&posting).await.unwrap();
        } else {
            postings.delete(Posting::key("a", 1), IfMatch::Any).await.unwrap();
        }
        assert_eq!(view.catch_up(10).await.unwrap().failed, 0, "{amount:?} of {amounts:?}");
        let shown = view.table().await.unwrap().get(Balance::key("a")).await.unwrap().unwrap();
        let expected = (i64::from(amount.is_some()), amount.unwrap_or(0));
        assert_eq!((shown.postings, shown.amount), expected, "{amount:?} of {amounts:?}");
    }
}

#[test]
fn imp_6_an_amount_changes_to_any_other_amount() {
    block_on(apply_each(&[Some(i64::MIN), None]));
    block_on(apply_each(&[Some(-(6 << 60)), Some(6 << 60), Some(i64::MIN), Some(i64::MAX), None]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Tests postings that are applied in an order in which no sum overflows. A partial sum may overflow in the order in which a recount reads them.
    #[test]
    fn imp_6_a_rebuild_recounts_sums_whose_parts_exceed_their_type(
        amounts in prop::collection::vec(amount(), 1..12),
        surplus in amount(),
    ) {
        let store = Engine::in_memory();
        block_on(async {
            let postings = store.entities::<Posting>().create_if_missing().await.unwrap();
            let view = ViewTable::<Balances, _>::new(store.clone()).create_if_missing().await.unwrap();
            view.rebuild().run().await.unwrap();
            let (mut balance, mut count) = (0_i64, 0);
            for (number, amount) in (0..).zip(amounts) {
                let Some(next) = balance.checked_add(amount) else { continue };
                (balance, count) = (next, count + 1);
                postings.insert(&Posting { book: "a".to_owned(), number, amount }).await.unwrap();
                view.catch_up(10).await.unwrap();
            }
            let shown = async || view.table().await.unwrap().get(Balance::key("a")).await.unwrap();
            let right = Balance { book: "a".to_owned(), postings: count, amount: balance };
            assert_eq!(shown().await.as_deref().unwrap_or(&Balance { postings: 0, ..right.clone() }), &right);
            // Another tool has changed the sum.
            let wrong = Balance { amount: surplus, ..right.clone() };
            store.table::<Balance>().insert_or_replace(&wrong).await.unwrap();
            view.rebuild().run().await.unwrap();
            assert_eq!(shown().await.as_deref(), Some(&right));
        });
    }
}
