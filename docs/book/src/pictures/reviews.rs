//! Draws the picture of reviews in the chapter "Keys".

use table_patterns::Entity;

use super::Picture;

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

#[test]
fn reviews() {
    let keys = [(122, 2012), (123, 2011), (123, 2012), (123, 2013), (124, 2012)].map(|(employee, year)| {
        Review { department: "Sales".into(), employee, year, rating: 3 }.key_of().unwrap()
    });
    Picture {
        name: "reviews",
        chapter: "book/keys.md",
        source: include_str!("reviews.rs"),
        schema: Review::SCHEMA,
        keys: keys.to_vec(),
        read: &Review::rows("Sales").employee_is(123).year(2012..).ranges().unwrap(),
    }
    .check();
}
