//! Test scenarios for filters in text form, according to the truth tables in the specification (FIL, LIT rules).

use table_core::{TableStore, Value};

use super::scene::{Scene, row};

/// Checks which filters match an entity without properties, or with `stored` as the value of its only property `P`.
async fn judged<S: TableStore>(store: &S, stored: Option<Value>, cases: &[(&str, bool)]) {
    let scene = Scene::new(store).await;
    match stored.clone() {
        Some(value) => scene.insert("p", "r", row([("P", value)])).await.unwrap(),
        None => scene.insert("p", "r", row([])).await.unwrap(),
    };
    for (filter, expected) in cases {
        assert_eq!(!scene.matches("p", filter).await.is_empty(), *expected, "{stored:?}: {filter}");
    }
}

pub async fn fil_11_and_12_absent<S: TableStore>(store: &S) {
    let no = ["P eq 1", "P ne 1", "P lt 1", "P ge 1", "P", "P ne ''"];
    let yes = ["not (P eq 1)", "not P", "not (P ne '')", "not (P ne '') and not (P eq '')"];
    let cases: Vec<_> =
        no.iter().map(|filter| (*filter, false)).chain(yes.map(|filter| (filter, true))).collect();
    judged(store, None, &cases).await;
    judged(store, Some("".into()), &[("not (P ne '')", true), ("not (P ne '') and not (P eq '')", false)])
        .await;
    judged(store, Some(7.into()), &[("not (P ne '') and not (P eq '')", false), ("not (P ge '')", true)])
        .await;
}

pub async fn fil_3_15_and_16_int32<S: TableStore>(store: &S) {
    let cases = [
        ("P eq 5", true),
        ("P ge 5", true),
        ("5 eq P", true),
        ("P lt 6", true),
        ("6 gt P", true),
        ("P ne 6", true),
        ("P eq 5L", false),
        ("P eq 5D", false),
        ("P ge 5L", false),
        ("P gt 4L", false),
        ("P ne 5L", true),
        ("P lt 4L", true),
        ("P le 4L", true),
        ("P gt 4D", false),
    ];
    judged(store, Some(5.into()), &cases).await;
    judged(store, Some((-34).into()), &[("P eq -34", true), ("P lt 0", true)]).await;
}

pub async fn fil_15_and_16_int64<S: TableStore>(store: &S) {
    let cases = [
        ("P eq 5", true),
        ("P eq 5L", true),
        ("P gt 4", true),
        ("P eq 5D", false),
        ("P gt 4D", false),
        ("P lt 4D", true),
    ];
    judged(store, Some(5_i64.into()), &cases).await;
    judged(store, Some(i64::MIN.into()), &[("P eq -9223372036854775808L", true), ("P lt 0", true)]).await;
}

pub async fn fil_15_double<S: TableStore>(store: &S) {
    let cases = [
        ("P eq 5", true),
        ("P eq 5L", true),
        ("P eq 5.0", true),
        ("P eq 5D", true),
        ("P lt 5.5", true),
        ("P gt 0.5e1", false),
    ];
    judged(store, Some(5.0.into()), &cases).await;
}

pub async fn fil_17_and_eng_19_nan<S: TableStore>(store: &S) {
    let cases = [
        ("P eq 1.0", false),
        ("P ne 1.0", true),
        ("P lt 1.0", false),
        ("P le 1.0", false),
        ("P gt 1.0", false),
        ("P ge 1.0", false),
    ];
    judged(store, Some(f64::NAN.into()), &cases).await;
    judged(store, Some(f64::INFINITY.into()), &[("P gt 1.0", true), ("P gt 5", true)]).await;
}

pub async fn fil_14_and_16_string<S: TableStore>(store: &S) {
    let cases = [
        ("P gt 30", false),
        ("P eq 34", false),
        ("P ge 34", false),
        ("P lt 30", true),
        ("P le 30", true),
        ("P ne 34", true),
    ];
    judged(store, Some("34".into()), &cases).await;
    judged(store, Some("B".into()), &[("P lt 'b'", true), ("P lt 'bB'", true), ("P gt 'A'", true)]).await;
    judged(store, Some("b".into()), &[("P eq 'B'", false), ("P eq 'b'", true), ("P ge 'b'", true)]).await;
    judged(store, Some("O'Neil".into()), &[("P eq 'O''Neil'", true), ("P eq 'O'''", false)]).await;
    // In UTF-16 order, the supplementary character comes first (ORD-5).
    judged(store, Some("\u{1F600}".into()), &[("P lt '\u{FF21}'", true)]).await;
}

pub async fn fil_13_and_14_boolean<S: TableStore>(store: &S) {
    let yes = [("P", true), ("P eq true", true), ("P gt false", true), ("true eq P", true), ("not P", false)];
    judged(store, Some(true.into()), &yes).await;
    judged(store, Some(false.into()), &[("P", false), ("not P", true), ("P lt true", true)]).await;
    judged(store, Some("true".into()), &[("P", false), ("P eq true", false), ("P ne true", true)]).await;
}

pub async fn fil_14_binary_guid_and_datetime<S: TableStore>(store: &S) {
    let binary = [
        ("P gt X'01'", true),
        ("P lt X'0103'", true),
        ("P eq binary'0102'", true),
        ("P eq x'0102'", true),
        ("P eq '0102'", false),
    ];
    judged(store, Some(vec![1_u8, 2].into()), &binary).await;
    let guid: uuid::Uuid = "c9da6455-213d-42c9-9a79-3e9149a57833".parse().unwrap();
    let guids = [
        ("P eq guid'C9DA6455-213d-42c9-9a79-3e9149a57833'", true),
        ("P ne guid'c9da6455-213d-42c9-9a79-3e9149a57833'", false),
        ("P eq guid'00000000-0000-0000-0000-000000000000'", false),
        ("P gt guid'a0000000-0000-0000-0000-000000000000'", true),
    ];
    judged(store, Some(guid.into()), &guids).await;
    let instant: chrono::DateTime<chrono::Utc> = "2014-08-22T00:50:32.1234567Z".parse().unwrap();
    let instants = [
        ("P eq datetime'2014-08-22T00:50:32.1234567Z'", true),
        ("P gt datetime'2014-08-22T00:50:32Z'", true),
        ("P lt datetime'2014-08-22T00:50:32.1234568Z'", true),
        ("P eq 'text'", false),
        ("P ne 'text'", true),
    ];
    judged(store, Some(instant.into()), &instants).await;
}

pub async fn fil_2_and_10_precedence_and_logic<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    // Creates one entity for each combination of A and B. Its key contains both values.
    for (key, a, b) in [("00", 0, 0), ("01", 0, 1), ("10", 1, 0), ("11", 1, 1)] {
        scene.insert("p", key, row([("A", a.into()), ("B", b.into())])).await.unwrap();
    }
    let cases: [(&str, &[&str]); 8] = [
        ("A eq 1 and B eq 1", &["11"]),
        ("A eq 1 or B eq 1", &["01", "10", "11"]),
        ("not A eq 1 and B eq 1", &["01"]),
        ("not (A eq 1 and B eq 1)", &["00", "01", "10"]),
        ("A eq 0 or A eq 1 and B eq 1", &["00", "01", "11"]),
        ("(A eq 0 or A eq 1) and B eq 1", &["01", "11"]),
        ("not not A eq 1", &["10", "11"]),
        (" ", &["00", "01", "10", "11"]), // FIL-6
    ];
    for (filter, expected) in cases {
        assert_eq!(scene.matches("p", filter).await, expected, "{filter}");
    }
}

pub async fn fil_7_many_comparisons_are_accepted<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 60).await;
    let comparisons: Vec<String> = (0..51).map(|number| format!("A eq {number}")).collect();
    assert_eq!(scene.matches("p", &comparisons.join(" or ")).await.len(), 51);
}

pub async fn fil_18_keys_and_timestamp_are_filtered_as_properties<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "1"), ("p", "2"), ("p", "3")]).await;
    let cases: [(&str, &[&str]); 7] = [
        ("RowKey gt '1'", &["2", "3"]),
        ("RowKey eq 2", &[]),
        ("RowKey ne 2", &["1", "2", "3"]),
        ("PartitionKey eq 'p' and RowKey le '2'", &["1", "2"]),
        ("PartitionKey eq 'q'", &[]),
        ("Timestamp gt datetime'2020-01-01T00:00:00Z'", &["1", "2", "3"]),
        ("Timestamp lt datetime'2020-01-01T00:00:00Z'", &[]),
    ];
    for (filter, expected) in cases {
        assert_eq!(scene.matches("p", filter).await, expected, "{filter}");
    }
}

pub async fn fil_10_a_selective_filter_over_many_rows_finds_the_few_matches<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 1_500).await;
    assert_eq!(scene.matches("p", "A eq 3 or A eq 1499").await, ["0003", "1499"]);
}
