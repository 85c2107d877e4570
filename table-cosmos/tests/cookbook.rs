//! Tests the cookbook's recipes: their output, requests, request units and pictures.

#[path = "../examples/cookbook/main.rs"]
#[allow(dead_code, reason = "its `main` is the example's")]
mod cookbook;

#[tokio::test]
async fn the_recipes_show_requests_units_and_pictures() {
    for shown in cookbook::recipes().await.unwrap() {
        insta::assert_snapshot!(shown.name, shown.text);
        if let Some(picture) = shown.picture {
            insta::assert_snapshot!(format!("{}_picture", shown.name), picture);
        }
    }
}
