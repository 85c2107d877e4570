//! Tests a sequence in a unit on a different table. That table may contain a sequence with the same name.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, Error, ErrorCode, Result};

use crate::EntityStore;
use crate::sequence::GaplessSequence;
use crate::tests::faults::FaultyStore;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key("order_", number)]
struct Order {
    customer: String,
    #[digits(6)]
    number: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Invoices")]
#[partition_key(customer)]
#[row_key("invoice_", number)]
struct Invoice {
    customer: String,
    #[digits(6)]
    number: u32,
}

#[test]
fn egt_1_a_unit_of_another_table_takes_no_number() {
    let store = FaultyStore::new(Engine::in_memory());
    block_on(async {
        let orders = store.entities::<Order>().create_if_missing().await?;
        let invoices = store.entities::<Invoice>().create_if_missing().await?;
        let numbers = GaplessSequence::new(&orders, "number")?;
        numbers.set(Order::partition("ada"), 40).await?;
        let mut unit = invoices.unit(Invoice::partition("ada"))?;
        store.heal();
        let refused: [Result<u32>; 2] =
            [numbers.next_in(&mut unit).await, numbers.take_in(&mut unit, 2).await.map(|taken| taken.start)];
        for refused in refused.map(Result::unwrap_err) {
            assert_eq!(
                (refused.code(), refused.rule()),
                (ErrorCode::InvalidInput, Some("EGT-1")),
                "{refused}"
            );
        }
        assert_eq!(store.calls(), [], "no row is read");
        unit.insert(&Invoice { customer: "ada".into(), number: 1 })?;
        assert_eq!(unit.commit().await?.len(), 1, "the unit is unchanged");

        let mut unit = orders.unit(Order::partition("ada"))?;
        assert_eq!(numbers.next_in::<u32>(&mut unit).await?, 40);
        unit.commit().await?;
        Ok::<_, Error>(())
    })
    .unwrap();
}
