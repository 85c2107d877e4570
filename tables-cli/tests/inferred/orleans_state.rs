//! Declarations for the table Things, inferred from 40 rows, 40 of which match.

use table_patterns::Entity;

/// 40 of 40 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("orders_GrainReference=", partition)]
#[row_key("Contoso.Orders.CartGrain")]
pub struct ContosoOrdersCartGrain {
    pub partition: String,
    pub binary_data: Vec<u8>,
    pub binary_data1: Option<Vec<u8>>,
}
