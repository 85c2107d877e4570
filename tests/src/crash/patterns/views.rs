//! Crash tests of a view with the total sales to each buyer.

use std::collections::BTreeMap;
use std::time::Duration;

use table_core::embedded::Engine;
use table_core::{Entity, PartitionKey, Result};
use table_patterns::view::{Projection, View, ViewTable};

use super::ledger::Values;
use super::stores::Stores;

/// The regions. Each is a partition with sales.
pub(super) const REGIONS: [&str; 2] = ["north", "south"];

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Sales", feed)]
#[partition_key(region)]
#[row_key(id)]
pub(super) struct Sale {
    pub(super) region: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) buyer: i32,
    pub(super) amount: i64,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(buyer)]
#[row_key("Total")]
pub(super) struct Total {
    #[digits(2)]
    pub(super) buyer: u32,
    pub(super) sales: i64,
    pub(super) amount: i64,
}

pub(super) struct Totals;

impl View for Totals {
    type Source = Sale;
    type Row = Total;

    fn project(sale: &Sale, view: &mut Projection<Total>) -> Result<()> {
        let total = || Total::key(u32::try_from(sale.buyer).unwrap_or_default());
        view.add(total(), Total::SALES, 1)?;
        view.add(total(), Total::AMOUNT, sale.amount)
    }
}

/// Applies all pending changes to a view. It does not wait until the lease of a killed process expires.
pub(super) async fn caught_up<V: View>(view: &ViewTable<V, Engine>) -> Result<()> {
    let view = view.clone().with_lease(Duration::ZERO);
    while view.catch_up(1_000).await?.is_behind {}
    Ok(())
}

/// Returns the sales. After all changes have been applied, the view must include each sale exactly once. At the end, trims the feeds.
pub(super) async fn sales(stores: &Stores, wrong: &mut Vec<String>) -> Result<Values> {
    caught_up(&stores.view).await?;
    let (mut held, mut counted) = (Values::new(), BTreeMap::<u32, (i64, i64)>::new());
    for region in REGIONS {
        for sale in stores.sales.table().query(Sale::partition(region)).collect().await? {
            let total = counted.entry(u32::try_from(sale.buyer).unwrap_or_default()).or_default();
            *total = (total.0 + 1, total.1 + sale.amount);
            held.extend([sale.entry()]);
        }
        let partition = PartitionKey::new(region)?;
        let position = stores.view.position(&partition).await?;
        stores.sales.feed().trim(stores.sales.table().name()?, &partition, &position).await?;
    }
    let mut shown = BTreeMap::new();
    for total in stores.totals.scan("check after a crash").max_rows(10_000_000).collect().await? {
        if (total.sales, total.amount) != (0, 0) {
            shown.insert(total.buyer, (total.sales, total.amount));
        }
    }
    if shown != counted {
        wrong.push(format!("view: it has {shown:?}, the sales are {counted:?}"));
    }
    Ok(held)
}

impl Sale {
    pub(super) fn entry(&self) -> (String, String) {
        (format!("{}/{}", self.region, self.id), format!("{}:{}", self.buyer, self.amount))
    }
}
