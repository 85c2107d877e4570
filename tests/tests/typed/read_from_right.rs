//! Tests keys that are parsed from the end, and keys that exceed the limit in total length.

use pollster::block_on;
use table_core::{Engine, Entity, ErrorCode, Selection, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Reviews")]
#[partition_key(department)]
#[row_key(name, "_", year)]
struct Review {
    department: String,
    name: String,
    #[digits(4)]
    year: u16,
}

#[test]
fn pat_ck_2_a_text_before_an_id_of_fixed_width_is_read_back() {
    block_on(async {
        let store = Engine::in_memory();
        let reviews = store.table::<Review>().create_if_missing().await.unwrap();
        for (name, year) in [("Ada", 2012), ("Ada_2012", 2013), ("", 1999)] {
            let review = Review { department: "Sales".to_owned(), name: name.to_owned(), year };
            reviews.insert(&review).await.unwrap();
            let found = reviews.get(Review::key("Sales", name, year)).await.unwrap().unwrap();
            assert_eq!(*found.value(), review);
        }
        let rows: Selection<Review, _, _> = Review::rows("Sales").into();
        let all = reviews.query(rows).collect().await.unwrap();
        let names: Vec<&str> = all.iter().map(|review| review.name.as_str()).collect();
        assert_eq!(names, ["Ada", "Ada_2012", ""], "in the order of their keys");
    });
}

#[test]
fn key_7_key_of_refuses_a_key_that_is_too_long_as_a_whole() {
    let review = Review { department: "Sales".to_owned(), name: "n".repeat(508), year: 2012 };
    let error = review.key_of().unwrap_err();
    assert_eq!(error.code(), ErrorCode::PropertyValueTooLarge);
    assert!(error.to_string().contains("the RowKey has 513 UTF-16 code units, at most 512"), "{error}");
    assert!(Review { name: "n".repeat(507), ..review }.key_of().is_ok());
}
