//! A compound key. A query can fix the leading parts of the key (PAT-CK).

use table_core::{Engine, Entity, Result, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    rating: i32,
}

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let reviews = Engine::in_memory().table::<Review>().create_if_missing().await?;
    for (employee, year, rating) in
        [(122, 2012, 3), (123, 2011, 4), (123, 2012, 5), (123, 2013, 4), (124, 2012, 2)]
    {
        reviews.insert(&Review { department: "Sales".to_owned(), employee, year, rating }).await?;
    }

    // If all parts are known, the query is a point query. The key has exactly the form shown in the pattern catalogue.
    let key = Review::key("Sales", 123, 2012);
    assert_eq!(key.key()?.row_key.as_str(), "empid_000123_2012");
    assert_eq!(reviews.get(key).await?.map(|review| review.rating), Some(5));

    // If only the first part is known, the query is a range query. If the second part is also known, the range is smaller.
    let of_123 = reviews.query(Review::rows("Sales").employee_is(123));
    println!("{}", of_123.plan()?);
    assert_eq!(of_123.collect().await?.len(), 3);
    let lately = reviews.query(Review::rows("Sales").employee_is(123).year(2012..));
    println!("{}", lately.plan()?);
    let years: Vec<u16> = lately.collect().await?.into_iter().map(|review| review.year).collect();
    assert_eq!(years, [2012, 2013]);
    Ok(())
}
