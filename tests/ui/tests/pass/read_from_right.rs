//! Keys that are read from right to left compile, as do literals that look like fields but are intended.

use table_core::Entity;

#[derive(Entity)]
#[partition_key(literal("department"), "_", department)]
#[row_key(name, "_", year)]
pub struct Review {
    pub department: String,
    pub name: String,
    #[digits(4)]
    pub year: u16,
}

#[derive(Entity)]
#[entity(allow(many_buckets, reason = "every read names its user"))]
#[partition_key(bucket(user, 4096))]
#[row_key(literal("{}"), branch, "-head")]
pub struct Branch {
    pub user: String,
    pub branch: String,
}

/// Uses the declarations.
pub fn main() {
    let _ = Review::key("Sales", "Ada_Jones", 2012);
    let _ = Review::rows("Sales");
    let _ = Branch::rows().branch_is("main");
}
