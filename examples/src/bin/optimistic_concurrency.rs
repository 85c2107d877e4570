//! Optimistic concurrency. A write succeeds only if the stored entity still has the version that was read (IMP-2, CON-3).

use futures_util::future::join;
use table_core::{Engine, Entity, IfMatch, Result, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts")]
#[partition_key(owner)]
#[row_key(name)]
struct Account {
    owner: String,
    name: String,
    cents: i64,
}

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let accounts = Engine::in_memory().table::<Account>().create_if_missing().await?;
    let savings = Account { owner: "ada".to_owned(), name: "savings".to_owned(), cents: 100 };
    let inserted = accounts.insert(&savings).await?;

    // Another writer commits first. A write based on the earlier version is then rejected.
    accounts.replace(&Account { cents: 150, ..savings.clone() }, inserted.clone()).await?;
    let late = accounts.replace(&Account { cents: 90, ..savings.clone() }, inserted).await;
    let Err(refused) = late else { panic!("the version is an old one") };
    assert!(refused.is_precondition_failed());
    println!("{refused}");

    // `update` reads, modifies and writes the entity. It retries after a conflict, so no change is lost.
    let add = |cents| accounts.update(Account::key("ada", "savings"), move |account| account.cents += cents);
    let (one, other) = join(add(5), add(7)).await;
    one?;
    other?;
    let after = accounts.get(Account::key("ada", "savings")).await?;
    assert_eq!(after.map(|account| account.cents), Some(162));

    // An unconditional write must be explicit.
    accounts.replace(&savings, IfMatch::Any).await?;
    Ok(())
}
