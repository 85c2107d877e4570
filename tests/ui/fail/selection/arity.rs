//! Calls with too few or too many arguments. rustc names each missing argument after the field or by its meaning.

use table_core::{Engine, Entity, Table};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("review_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    rating: i32,
}

async fn uses(table: &Table<Review, Engine>, review: &Review) -> table_core::Result<()> {
    let _ = table.get(Review::key("Sales")).await?; //~ T?
    let _ = table.get(Review::key("Sales", 7)).await?; //~ T?
    let _ = table.get(Review::key("Sales", 7, 2014, 3)).await?; //~ T?
    let _ = table.get().await?; //~ T?
    let _ = table.query().collect().await?; //~ T?
    let _ = table.query(Review::partition()).collect().await?; //~ T?
    let _ = table.query(Review::rows().employee(7..)).collect().await?; //~ T?
    let _ = table.scan().max_rows(100).collect().await?; //~ T?
    table.replace(review).await?; //~ T?
    table.merge(review).await?; //~ T?
    table.delete(Review::key("Sales", 7, 2014)).await?; //~ T?
    let _ = table.transaction()?; //~ T?
    Ok(())
}

fn main() {}
