//! Test scenarios for `$select` (SEL rules).

use table_core::TableStore;
use table_core::query::{KeyRange, Query, Select};

use super::scene::{Scene, a, is, row};

pub async fn sel_2_and_3_only_the_named_properties_come_back<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "1", row([("A", 1.into()), ("B", 2.into()), ("C", 3.into())])).await.unwrap();
    scene.insert("p", "2", a(1)).await.unwrap();
    let mut query = Query::new(KeyRange::partition("p"));
    query.select = Select::names(["C", "B", "Missing"]);
    let page = scene.page(&query, None).await.unwrap();
    assert_eq!(page.keys.len(), 2, "SEL-6, DQ-13: the keys come in any case");
    assert_eq!(page.properties, [is([("B", 2.into()), ("C", 3.into())]), is([])]);
}

pub async fn sel_2_etag_and_timestamp_come_in_any_case<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let etag = scene.insert("p", "1", a(1)).await.unwrap();
    let mut query = Query::new(KeyRange::partition("p"));
    query.select = Select::names(["Missing"]);
    let page = store.query(&scene.table, &query, None).await.unwrap();
    let etags: Vec<_> = page.rows.iter().map(|entity| entity.etag()).collect();
    assert_eq!(etags, [etag]);
}

pub async fn sel_6_projection_does_not_change_what_matches<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 10).await;
    let mut query = Query::new(KeyRange::partition("p"));
    query.filter = table_core::Filter::parse("A ge 4 and A lt 8").unwrap();
    query.select = Select::names(["B"]);
    query.top = Some(2);
    assert_eq!(scene.keys(&query).await.len(), 4);
}
