//! Tests of OData JSON: published examples, and round trips through the writer and the reader.

mod levels;
mod quick;
mod read;
mod surrogates;

use proptest::prelude::*;

use crate::error::ErrorCode;
use crate::etag::ETag;
use crate::odata::{
    Context, MetadataLevel, Sender, read_entity, read_page, write_body, write_entity, write_page,
};
use crate::query::{EntityRef, Rows, Select};
use crate::row::tests::{model, row};
use crate::row::{Row, RowView, merge};
use crate::value::{EdmType, Value, ValueRef};

const STAMP: u64 = 639_307_592_881_444_672; // 2026-11-20T08:14:48.1444672Z

/// The request body of example EX-3 in the specification.
const EX_3: &str = concat!(
    r#"{"PartitionKey":"Sales","RowKey":"00001","FirstName":"Ada","Age":34,"Salary":12.5,"Bonus":3.0,"Active":true,"#,
    r#""BadgeId@odata.type":"Edm.Int64","BadgeId":"9007199254740993","#,
    r#""Hired@odata.type":"Edm.DateTime","Hired":"2014-08-22T00:50:32.1234567Z","#,
    r#""Ref@odata.type":"Edm.Guid","Ref":"c9da6455-213d-42c9-9a79-3e9149a57833","#,
    r#""Photo@odata.type":"Edm.Binary","Photo":"AQIDBA==","Nick":null}"#,
);

const ALL: Context<'_> = Context {
    base: "http://127.0.0.1:10002/devstoreaccount1",
    account: "devstoreaccount1",
    table: "Employee",
    select: &Select::All,
};

fn employee() -> Row {
    read_entity(EX_3.as_bytes(), Sender::Client).unwrap().row.with_timestamp(STAMP)
}

fn written(level: MetadataLevel, context: &Context<'_>) -> String {
    write_entity(EntityRef::new("Sales", "00001", employee().view()), level, context).unwrap()
}

/// The custom properties in example EX-3, as written at every level except the lowest.
const ANNOTATED: &str = concat!(
    r#""FirstName":"Ada","Age":34,"Salary":12.5,"Bonus":3.0,"Active":true,"#,
    r#""BadgeId@odata.type":"Edm.Int64","BadgeId":"9007199254740993","#,
    r#""Hired@odata.type":"Edm.DateTime","Hired":"2014-08-22T00:50:32.1234567Z","#,
    r#""Ref@odata.type":"Edm.Guid","Ref":"c9da6455-213d-42c9-9a79-3e9149a57833","#,
    r#""Photo@odata.type":"Edm.Binary","Photo":"AQIDBA=="}"#,
);

#[test]
fn ex_3_insert_with_every_type_and_a_null() {
    let body = read_entity(EX_3.as_bytes(), Sender::Client).unwrap();
    assert_eq!(body.key().unwrap().to_string(), "(PartitionKey='Sales',RowKey='00001')");
    assert_eq!(body.etag, None);
    let types: Vec<EdmType> = body.row.view().properties().map(|p| p.unwrap().value.edm_type()).collect();
    let expected = [
        EdmType::String,
        EdmType::Int32,
        EdmType::Double,
        EdmType::Double,
        EdmType::Boolean,
        EdmType::Int64,
        EdmType::DateTime,
        EdmType::Guid,
        EdmType::Binary,
    ];
    assert_eq!(types, expected);
    assert_eq!(
        written(MetadataLevel::None, &ALL),
        concat!(
            r#"{"PartitionKey":"Sales","RowKey":"00001","Timestamp":"2026-11-20T08:14:48.1444672Z","#,
            r#""FirstName":"Ada","Age":34,"Salary":12.5,"Bonus":3.0,"Active":true,"BadgeId":"9007199254740993","#,
            r#""Hired":"2014-08-22T00:50:32.1234567Z","Ref":"c9da6455-213d-42c9-9a79-3e9149a57833","Photo":"AQIDBA=="}"#,
        )
    );
}

#[test]
fn ex_6_minimal_metadata() {
    let expected = concat!(
        r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Employee/@Element","#,
        r#""odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\"","#,
        r#""PartitionKey":"Sales","RowKey":"00001","Timestamp":"2026-11-20T08:14:48.1444672Z","#,
    );
    assert_eq!(written(MetadataLevel::Minimal, &ALL), format!("{expected}{ANNOTATED}"));
}

#[test]
fn ex_7_full_metadata() {
    let expected = concat!(
        r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Employee/@Element","#,
        r#""odata.type":"devstoreaccount1.Employee","#,
        r#""odata.id":"http://127.0.0.1:10002/devstoreaccount1/Employee(PartitionKey='Sales',RowKey='00001')","#,
        r#""odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\"","#,
        r#""odata.editLink":"Employee(PartitionKey='Sales',RowKey='00001')","#,
        r#""PartitionKey":"Sales","RowKey":"00001","#,
        r#""Timestamp@odata.type":"Edm.DateTime","Timestamp":"2026-11-20T08:14:48.1444672Z","#,
    );
    assert_eq!(written(MetadataLevel::Full, &ALL), format!("{expected}{ANNOTATED}"));
}

#[test]
fn ex_9_merge_ignores_null_and_needs_no_key() {
    let body = read_entity(br#"{"Age":35,"FirstName":null,"Title":"Rep"}"#, Sender::Client).unwrap();
    let merged = merge(employee().view(), body.row.view()).unwrap().with_timestamp(STAMP);
    let select = Select::names(["FirstName", "Age", "Title"]);
    let entity = EntityRef::new("Sales", "00001", merged.view());
    let answer = write_entity(entity, MetadataLevel::None, &Context { select: &select, ..ALL }).unwrap();
    assert_eq!(answer, r#"{"FirstName":"Ada","Age":35,"Title":"Rep"}"#);
}

#[test]
fn sel_2_and_sel_3_only_selected_properties_and_null_for_missing_ones() {
    let select = Select::names(["Nick", "Age", "RowKey", "Nick", "Timestamp"]);
    let context = Context { select: &select, ..ALL };
    let answer = written(MetadataLevel::Minimal, &context);
    let expected = concat!(
        r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Employee/@Element&$select=Nick,Age,RowKey,Timestamp","#,
        r#""odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\"","#,
        r#""RowKey":"00001","Timestamp":"2026-11-20T08:14:48.1444672Z","Age":34,"Nick":null}"#,
    );
    assert_eq!(answer, expected);
    let read = read_entity(answer.as_bytes(), Sender::Service).unwrap();
    assert_eq!(
        (read.partition_key, read.row_key.as_deref(), read.row.view().len()),
        (None, Some("00001"), 1)
    );
}

#[test]
fn json_5_and_7_a_page_with_and_without_metadata() {
    let mut rows = Rows::default();
    let tag = ETag::parse("W/\"other\"").unwrap();
    for (key, etag) in [("00001", None), ("00002", Some(tag.clone()))] {
        rows.push("Marketing", key, row(&vec![]).with_timestamp(STAMP).view(), etag);
    }
    let select = Select::names(["RowKey"]);
    let context = Context { select: &select, ..ALL };
    let page = write_page(&rows, MetadataLevel::None, &context).unwrap();
    assert_eq!(page, r#"{"value":[{"RowKey":"00001"},{"RowKey":"00002"}]}"#);
    let page = write_page(&rows, MetadataLevel::Minimal, &context).unwrap();
    let expected = concat!(
        r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Employee&$select=RowKey","value":["#,
        r#"{"odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\"","RowKey":"00001"},"#,
        r#"{"odata.etag":"W/\"other\"","RowKey":"00002"}]}"#,
    );
    assert_eq!(page, expected);
    let read = read_page(page.as_bytes()).unwrap();
    assert_eq!(
        read.iter().map(|body| body.etag.clone().unwrap()).collect::<Vec<_>>(),
        [ETag::from_ticks(STAMP), tag]
    );
}

#[test]
fn json_6_and_req_5_links_are_percent_encoded() {
    let row = row(&vec![]).with_timestamp(STAMP);
    let answer =
        write_entity(EntityRef::new("O'Neil & co", "é:1", row.view()), MetadataLevel::Full, &ALL).unwrap();
    let link = "Employee(PartitionKey='O%27%27Neil%20%26%20co',RowKey='%C3%A9%3A1')";
    assert!(
        answer.contains(&format!(r#""odata.id":"http://127.0.0.1:10002/devstoreaccount1/{link}""#)),
        "{answer}"
    );
    assert!(answer.contains(&format!(r#""odata.editLink":"{link}""#)), "{answer}");
}

#[test]
fn type_4_and_5_doubles_keep_a_fraction_and_instants_no_zeros() {
    let shown = |value: ValueRef<'_>| {
        let body = write_body(None, row(&vec![("P".to_owned(), value.to_owned())]).view()).unwrap();
        body.rsplit_once(r#""P":"#).unwrap().1.trim_end_matches('}').to_owned()
    };
    for (number, text) in [(3.0, "3.0"), (-0.0, "-0.0"), (0.1, "0.1"), (f64::NAN, r#""NaN""#)] {
        assert_eq!(shown(ValueRef::Double(number)), text);
    }
    assert_eq!(shown(ValueRef::Double(f64::INFINITY)), r#""Infinity""#);
    assert_eq!(shown(ValueRef::Double(f64::NEG_INFINITY)), r#""-Infinity""#);
    for number in [1e16, 1e300, 5e-324, f64::MAX, 9_007_199_254_740_992.0] {
        assert!(shown(ValueRef::Double(number)).contains(['.', 'e']), "{number}");
    }
    for text in ["2020-07-24T14:34:48.4767Z", "1973-10-04T00:00:00Z", "9999-12-31T23:59:59.9999999Z"] {
        let instant = Value::DateTime(text.parse().unwrap());
        assert_eq!(shown(instant.as_ref()), format!("\"{text}\""));
    }
}

#[test]
fn a_broken_row_is_an_error_and_no_document() {
    let entity = EntityRef::new("p", "r", RowView::new(&[1, 2, 3]));
    assert_eq!(write_entity(entity, MetadataLevel::None, &ALL).unwrap_err().code(), ErrorCode::Corrupted);
    assert_eq!(write_body(None, entity.row).unwrap_err().code(), ErrorCode::Corrupted);
}

/// Returns a row's types and values as text, in which NaN equals NaN.
fn shown(row: RowView<'_>) -> String {
    format!("{row:?}")
}

/// Returns a value as read back without its type annotation (JSON-4).
fn without_type(value: &Value) -> Value {
    let json = write_body(None, row(&vec![("P".to_owned(), value.clone())]).view()).unwrap();
    match value {
        Value::Double(number) if number.is_finite() => value.clone(),
        Value::String(_) | Value::Int32(_) | Value::Boolean(_) => value.clone(),
        _ => {
            let tree: serde_json::Value = serde_json::from_str(&json).unwrap();
            Value::from(tree["P"].as_str().unwrap())
        }
    }
}

proptest! {
    #[test]
    fn minimal_and_full_metadata_lose_nothing(model in model(), full: bool, partition_key in ".{0,6}") {
        let level = if full { MetadataLevel::Full } else { MetadataLevel::Minimal };
        let stored = row(&model).with_timestamp(STAMP);
        let json = write_entity(EntityRef::new(&partition_key, "r", stored.view()), level, &ALL).unwrap();
        let body = read_entity(json.as_bytes(), Sender::Service).unwrap();
        prop_assert_eq!(shown(body.row.view()), shown(stored.view()));
        prop_assert_eq!((body.partition_key, body.etag), (Some(partition_key), Some(ETag::from_ticks(STAMP))));
    }

    #[test]
    fn a_request_body_loses_nothing(model in model()) {
        let stored = row(&model);
        let json = write_body(Some(("p", "r")), stored.view()).unwrap();
        let body = read_entity(json.as_bytes(), Sender::Client).unwrap();
        prop_assert_eq!(shown(body.row.view()), shown(stored.view()));
    }

    #[test]
    fn json_4_no_metadata_loses_only_the_types_that_json_lacks(model in model()) {
        let stored = row(&model).with_timestamp(STAMP);
        let json = write_entity(EntityRef::new("p", "r", stored.view()), MetadataLevel::None, &ALL).unwrap();
        let body = read_entity(json.as_bytes(), Sender::Service).unwrap();
        let left = model.into_iter().map(|(name, value)| { let left = without_type(&value); (name, left) }).collect();
        prop_assert_eq!(shown(body.row.view()), shown(row(&left).with_timestamp(STAMP).view()));
        prop_assert_eq!(body.etag, None);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"(\{|\}|"|:|,|\[|\]|A|@odata.type|Edm.Int64|null|1|-|\.|e|\\u){0,24}"#, client: bool) {
        let sender = if client { Sender::Client } else { Sender::Service };
        let _ = (read_entity(text.as_bytes(), sender), read_page(text.as_bytes()));
    }
}
