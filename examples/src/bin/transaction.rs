//! Entity group transactions, which apply operations on one partition atomically (EGT-9).

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
    let account =
        |owner: &str, name: &str, cents| Account { owner: owner.to_owned(), name: name.to_owned(), cents };

    let mut opening = accounts.transaction(Account::partition("ada"))?;
    opening.insert(&account("ada", "savings", 100))?.insert(&account("ada", "wallet", 0))?;
    assert_eq!(opening.commit().await?.len(), 2);

    // The second operation fails, so the first one has no effect. The error contains the index of the failed operation (IMP-3).
    let mut transfer = accounts.transaction(Account::partition("ada"))?;
    transfer.replace(&account("ada", "savings", 40), IfMatch::Any)?;
    transfer.replace(&account("ada", "shares", 60), IfMatch::Any)?;
    let Err(refused) = transfer.commit().await else { panic!("there are no shares") };
    assert_eq!((refused.is_not_found(), refused.operation()), (true, Some(1)));
    println!("{refused}");
    let savings = accounts.get(Account::key("ada", "savings")).await?;
    assert_eq!(savings.map(|savings| savings.cents), Some(100));

    // A transaction accepts neither an operation on another partition, nor more operations than the limit.
    let mut full = accounts.transaction(Account::partition("ada"))?;
    let Err(stranger) = full.insert(&account("bob", "wallet", 1)) else { panic!("another partition") };
    println!("{stranger}");
    for number in 0..100 {
        full.insert(&account("ada", &format!("number {number}"), 0))?;
    }
    let Err(too_many) = full.insert(&account("ada", "number 100", 0)) else { panic!("100 are the most") };
    println!("{too_many}");
    Ok(())
}
