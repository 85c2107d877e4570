//! Declarations for the table Things, inferred from 20 rows, 20 of which match.

use table_patterns::Entity;

/// 10 of 20 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key("users")]
#[row_key("email_", without('@', row), "@contoso.com")]
pub struct Email {
    pub row: String,
    pub user_id: String,
}

/// 10 of 20 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key("users")]
#[row_key("user_", id)]
pub struct User {
    #[property(also)]
    pub id: String,
    pub email: String,
}
