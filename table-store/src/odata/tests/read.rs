//! Tests of accepted and rejected JSON, one rule at a time.

use crate::error::ErrorCode;
use crate::odata::{Sender, read_entity, read_page};
use crate::value::{EdmType, Value, ValueRef};

/// Reads the `P` property of a client's document.
fn p(json: &str) -> Option<Value> {
    let body = read_entity(json.as_bytes(), Sender::Client).unwrap();
    body.row.view().find("P", &mut 0).unwrap().map(Value::from)
}

fn typed(edm: &str, value: &str) -> Option<Value> {
    p(&format!(r#"{{"P@odata.type":"{edm}","P":{value}}}"#))
}

fn refused(json: &str, sender: Sender) -> (ErrorCode, Option<&'static str>) {
    match read_entity(json.as_bytes(), sender) {
        Err(error) => (error.code(), error.rule()),
        Ok(body) => panic!("{json} was read as {:?}", body.row),
    }
}

#[test]
fn type_2_an_annotation_applies_by_name_not_by_position() {
    let wanted = Some(Value::Int64(5));
    assert_eq!(p(r#"{"P@odata.type":"Edm.Int64","P":"5"}"#), wanted);
    assert_eq!(p(r#"{"P":"5","P@odata.type":"Edm.Int64"}"#), wanted);
    assert_eq!(
        p(r#"{"A@odata.type":"Edm.Guid","P":"5","PP":"6","P@odata.type":"Edm.Int64","A":null}"#),
        wanted
    );
    assert_eq!(p(r#"{"p@odata.type":"Edm.Int64","P":"5"}"#), Some(Value::from("5"))); // PROP-1
    assert_eq!(typed("Edm.String", "\"x\""), Some(Value::from("x")));
    assert_eq!(typed("Edm.Int32", "3"), Some(Value::from(3)));
    assert_eq!(typed("Edm.Boolean", "true"), Some(Value::from(true)));
}

#[test]
fn type_3_and_eng_11_without_annotation_the_spelling_determines_the_type() {
    for (json, value) in [
        ("3", Value::Int32(3)),
        ("-2147483648", Value::Int32(i32::MIN)),
        ("3.0", Value::Double(3.0)),
        ("3e0", Value::Double(3.0)),
        ("2147483648", Value::Double(2_147_483_648.0)),
        ("9007199254740993", Value::Double(9_007_199_254_740_992.0)),
        ("18446744073709551615", Value::Double(18_446_744_073_709_551_615.0)),
        ("123456789012345678901234567890", Value::Double(1.234_567_890_123_456_8e29)),
        ("\"2014-08-22T00:50:32Z\"", Value::from("2014-08-22T00:50:32Z")),
        ("false", Value::Boolean(false)),
    ] {
        assert_eq!(p(&format!(r#"{{"P":{json}}}"#)), Some(value), "{json}");
    }
}

#[test]
fn eng_10_and_eng_12_lenient_reads() {
    assert_eq!(typed("Edm.Double", "3"), Some(Value::Double(3.0)));
    assert_eq!(typed("Edm.Double", "\"-Infinity\""), Some(Value::Double(f64::NEG_INFINITY)));
    assert_eq!(typed("Edm.Int64", "5"), Some(Value::Int64(5)));
    assert_eq!(typed("Edm.Int64", "5.0"), Some(Value::Int64(5)));
    assert_eq!(typed("Edm.Int64", "\"-9223372036854775808\""), Some(Value::Int64(i64::MIN)));
    for digits in 0..=7 {
        let fraction = if digits == 0 { String::new() } else { format!(".{}", "1".repeat(digits)) };
        let text = format!("2014-08-22T00:50:32{fraction}Z");
        assert_eq!(
            typed("Edm.DateTime", &format!("\"{text}\"")),
            Some(Value::DateTime(text.parse().unwrap()))
        );
    }
}

/// Tests values that are sent as strings with a declared type. Clients that send such values include Azure/azure-storage-node (`Double(100)`),
/// `@azure/data-tables` with `disableTypeConversion`, and Storage Explorer.
#[test]
fn every_declared_type_may_be_text() {
    let guid: uuid::Uuid = "c9da6455-213d-42c9-9a79-3e9149a57833".parse().unwrap();
    let midnight = Value::DateTime("2020-01-02T00:00:00Z".parse().unwrap());
    for (edm, text, value) in [
        ("Edm.Double", "6824053932181", Value::Double(6_824_053_932_181.0)),
        ("Edm.Double", "100.0", Value::Double(100.0)),
        ("Edm.Double", "+.5", Value::Double(0.5)),
        ("Edm.Double", "-1.23456789012346E+24", Value::Double(-1.234_567_890_123_46e24)),
        ("Edm.Double", "INF", Value::Double(f64::INFINITY)),
        ("Edm.Int32", "5", Value::Int32(5)),
        ("Edm.Int32", "-2147483648", Value::Int32(i32::MIN)),
        ("Edm.Boolean", "true", Value::Boolean(true)),
        ("Edm.Boolean", "False", Value::Boolean(false)),
        ("Edm.Boolean", "1", Value::Boolean(true)),
        ("Edm.String", "5", Value::from("5")),
        ("Edm.DateTime", "2020-01-02", midnight.clone()),
        ("Edm.DateTime", "2020-01-02T00:00", midnight),
        ("Edm.Guid", "C9DA6455-213D-42C9-9A79-3E9149A57833", Value::Guid(guid)),
        ("Edm.Guid", "{c9da6455-213d-42c9-9a79-3e9149a57833}", Value::Guid(guid)),
        ("Edm.Guid", "(c9da6455-213d-42c9-9a79-3e9149a57833)", Value::Guid(guid)),
        ("Edm.Guid", "c9da6455213d42c99a793e9149a57833", Value::Guid(guid)),
        ("Edm.Binary", "AQID\\r\\nBA==", Value::Binary(vec![1, 2, 3, 4])),
    ] {
        assert_eq!(typed(edm, &format!("\"{text}\"")), Some(value), "{edm} {text}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(read_entity("\u{feff}{\"P\":1}".as_bytes(), Sender::Client).unwrap().row.view().len(), 1);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    /// Tests that a string with a declared type and the equivalent JSON value are read identically.
    #[test]
    fn text_and_json_of_a_value_are_read_alike(number: i32, long: i64, real: f64, flag: bool, ticks in crate::ticks::EDM_MIN..crate::ticks::MAX, bytes: Vec<u8>, guid: u128) {
        use proptest::prelude::*;
        prop_assert_eq!(typed("Edm.Int32", &format!("\"{number}\"")), Some(Value::Int32(number)));
        prop_assert_eq!(typed("Edm.Int64", &format!("\"{long}\"")), typed("Edm.Int64", &long.to_string()));
        if real.is_finite() {
            for text in [format!("\"{real}\""), format!("\"{real:?}\""), format!("\"{real:e}\"")] {
                prop_assert_eq!(typed("Edm.Double", &text), Some(Value::Double(real)), "{}", text);
            }
        }
        prop_assert_eq!(typed("Edm.Boolean", &format!("\"{flag}\"")), Some(Value::Boolean(flag)));
        let instant = crate::ticks::to_datetime(ticks).unwrap();
        prop_assert_eq!(typed("Edm.DateTime", &format!("\"{}\"", crate::ticks::write(ticks).unwrap())), Some(Value::DateTime(instant)));
        let guid = uuid::Uuid::from_u128(guid);
        for text in [guid.hyphenated().to_string(), guid.simple().to_string(), guid.braced().to_string()] {
            prop_assert_eq!(typed("Edm.Guid", &format!("\"{text}\"")), Some(Value::Guid(guid)));
        }
        let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &bytes);
        prop_assert_eq!(typed("Edm.Binary", &format!("\"{base64}\"")), Some(Value::Binary(bytes)));
    }
}

#[test]
fn type_7_offsets_are_converted() {
    let utc = Some(Value::DateTime("2014-08-21T22:50:32Z".parse().unwrap()));
    assert_eq!(typed("Edm.DateTime", "\"2014-08-22T00:50:32+02:00\""), utc);
    assert_eq!(typed("Edm.DateTime", "\"2014-08-21T12:50:32-10:00\""), utc);
}

#[test]
fn type_6_instants_out_of_range() {
    let both = ["1601-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z"];
    assert!(both.iter().all(|text| typed("Edm.DateTime", &format!("\"{text}\"")).is_some()));
    for text in
        ["0001-01-01T00:00:00Z", "1600-12-31T23:59:59.999Z", "1601-01-01T00:00:00+00:01", "0001-01-01"]
    {
        let json = format!(r#"{{"P@odata.type":"Edm.DateTime","P":"{text}"}}"#);
        assert_eq!(refused(&json, Sender::Client), (ErrorCode::OutOfRangeInput, Some("TYPE-6")), "{text}");
        let error = read_entity(json.as_bytes(), Sender::Client).unwrap_err();
        assert!(error.to_string().contains("property `P`"), "{error}");
    }
}

#[test]
fn type_8_and_az_9_a_value_of_the_wrong_type_is_refused() {
    for (edm, value) in [
        ("Edm.Int64", "\"zz\""),
        ("Edm.Int64", "\"9223372036854775808\""),
        ("Edm.Int64", "9223372036854775808"),
        ("Edm.Int64", "5.5"),
        ("Edm.Int64", "9007199254740993.0"),
        ("Edm.Int64", "true"),
        ("Edm.Int32", "2147483648"),
        ("Edm.Int32", "3.5"),
        ("Edm.Int32", "\"3.5\""),
        ("Edm.Int32", "\"2147483648\""),
        ("Edm.Int32", "\" 3\""),
        ("Edm.Int32", "\"\""),
        ("Edm.Double", "\"nan\""),
        ("Edm.Double", "\"inf\""),
        ("Edm.Double", "\"infinity\""),
        ("Edm.Double", "\"1e999\""),
        ("Edm.Double", "\"1,5\""),
        ("Edm.Double", "\"0x1p3\""),
        ("Edm.Double", "\"\""),
        ("Edm.Double", "true"),
        ("Edm.Boolean", "1"),
        ("Edm.Boolean", "\"yes\""),
        ("Edm.Boolean", "\"\""),
        ("Edm.String", "1"),
        ("Edm.DateTime", "\"notadate\""),
        ("Edm.DateTime", "1"),
        ("Edm.DateTime", "\"0000-01-01T00:00:00Z\""),
        ("Edm.DateTime", "\"9999-12-31T23:59:59-01:00\""),
        ("Edm.Guid", "\"c9da6455-213d-42c9-9a79-3e9149a5783\""),
        ("Edm.Guid", "\"{c9da6455-213d-42c9-9a79-3e9149a57833\""),
        ("Edm.Guid", "\"urn:uuid:c9da6455-213d-42c9-9a79-3e9149a57833\""),
        ("Edm.Binary", "\"AQIDBA\""),
        ("Edm.Binary", "\"AQID-A==\""),
        ("Edm.Binary", "[1]"),
    ] {
        let json = format!(r#"{{"P@odata.type":"{edm}","P":{value}}}"#);
        assert_eq!(refused(&json, Sender::Client).0, ErrorCode::InvalidInput, "{json}");
    }
}

#[test]
fn type_9_arrays_and_objects() {
    for json in [r#"{"P":[]}"#, r#"{"P":{"a":[1,{"b":2}]}}"#, r#"{"P":[[1]],"P@odata.type":"Edm.String"}"#] {
        assert_eq!(refused(json, Sender::Client), (ErrorCode::InvalidInput, Some("TYPE-9")), "{json}");
    }
}

#[test]
fn eng_10_an_unknown_type_is_refused_even_for_a_null() {
    for json in [
        r#"{"P@odata.type":"Edm.Decimal","P":"1"}"#,
        r#"{"P@odata.type":"Edm.Int16","P":null}"#,
        r#"{"P@odata.type":7,"P":1}"#,
        r#"{"P@odata.type":"edm.int64","P":"1"}"#,
    ] {
        assert_eq!(refused(json, Sender::Client), (ErrorCode::InvalidInput, Some("ENG-10")), "{json}");
    }
}

#[test]
fn anything_but_a_json_object_is_refused() {
    for json in [
        "",
        "[]",
        "null",
        "1",
        r#"{"A":1"#,
        r#"{"A":1}x"#,
        r#"{"A":1,}"#,
        r#"{"A":"\ud800"}"#,
        r#"{"A":1e999}"#,
    ] {
        assert_eq!(refused(json, Sender::Client), (ErrorCode::InvalidInput, None), "{json}");
    }
    assert_eq!(read_page(b"{}").unwrap_err().code(), ErrorCode::InvalidInput);
    let deep = format!(r#"{{"A":{}}}"#, "[".repeat(100_000));
    assert_eq!(refused(&deep, Sender::Client).0, ErrorCode::InvalidInput);
}

#[test]
fn prop_4_any_timestamp_from_a_client_is_ignored() {
    for value in ["null", "\"2014-08-22T00:50:32Z\"", "\"notadate\"", "1", "[1]"] {
        let json = format!(r#"{{"Timestamp@odata.type":"Edm.DateTime","Timestamp":{value},"P":1}}"#);
        let body = read_entity(json.as_bytes(), Sender::Client).unwrap();
        assert_eq!((body.row.view().timestamp(), body.row.view().len()), (0, 1), "{value}");
    }
}

#[test]
fn prop_5_control_information_is_ignored() {
    let json = concat!(
        r#"{"odata.metadata":1,"odata.etag":"not even an ETag","odata.id":{},"odata.editLink":null,"odata.type":"x","#,
        r#""odata.new":[1],"P":1}"#
    );
    let body = read_entity(json.as_bytes(), Sender::Client).unwrap();
    assert_eq!((body.etag, body.row.view().len()), (None, 1));
}

#[test]
fn eng_12_unknown_annotations_are_ignored_in_responses() {
    let json = br#"{"P@odata.new":1,"odata.new":{},"P@odata.navigationLinkUrl":"x","P":1}"#;
    assert_eq!(read_entity(json, Sender::Service).unwrap().row.view().len(), 1);
}

#[test]
fn prop_6_a_repeated_name_is_refused() {
    let twice = (ErrorCode::DuplicatePropertiesSpecified, Some("PROP-6"));
    for json in [
        r#"{"A":1,"B":2,"A":1}"#,
        r#"{"A":1,"A":null}"#,
        r#"{"RowKey":"1","RowKey":"1"}"#,
        r#"{"A@odata.type":"Edm.Int64","A":"1","A@odata.type":"Edm.Int64"}"#,
        r#"{"A":1,"\u0041":2}"#,
    ] {
        assert_eq!(refused(json, Sender::Client), twice, "{json}");
        assert_eq!(refused(json, Sender::Service), twice, "{json}");
    }
    assert_eq!(read_entity(br#"{"Age":1,"age":2}"#, Sender::Client).unwrap().row.view().len(), 2);
}

#[test]
fn ent_3_nulls_are_dropped_but_their_names_checked() {
    let long = format!(r#"{{"{}":null}}"#, "n".repeat(256));
    assert_eq!(refused(&long, Sender::Client), (ErrorCode::PropertyNameTooLong, Some("PROP-2")));
    let invalid = (ErrorCode::PropertyNameInvalid, Some("PROP-3"));
    assert_eq!(refused(r#"{"a-b":null}"#, Sender::Client), invalid);
    assert!(read_entity(br#"{"A":null,"B":null}"#, Sender::Client).unwrap().row.view().is_empty());
}

#[test]
fn ent_3_a_null_of_every_type_but_double_is_dropped() {
    for edm in EdmType::ALL {
        for json in [
            format!(r#"{{"A":null,"A@odata.type":"{}"}}"#, edm.name()),
            format!(r#"{{"A@odata.type":"{}","A":null}}"#, edm.name()),
        ] {
            if edm == EdmType::Double {
                assert_eq!(
                    refused(&json, Sender::Client),
                    (ErrorCode::InvalidInput, Some("ENT-3")),
                    "{json}"
                );
            } else {
                assert!(
                    read_entity(json.as_bytes(), Sender::Client).unwrap().row.view().is_empty(),
                    "{json}"
                );
            }
            // A service returns `null` for a selected property that the entity does not have.
            assert!(read_entity(json.as_bytes(), Sender::Service).unwrap().row.view().is_empty(), "{json}");
        }
    }
}

#[test]
fn key_1_keys_are_required_texts() {
    for json in [r#"{"RowKey":"1"}"#, r#"{"PartitionKey":"p"}"#, r#"{"PartitionKey":null,"RowKey":"1"}"#] {
        let error = read_entity(json.as_bytes(), Sender::Client).unwrap().key().unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::PropertiesNeedValue, Some("KEY-1")), "{json}");
    }
    for json in [r#"{"PartitionKey":1}"#, r#"{"RowKey":"5","RowKey@odata.type":"Edm.Int64"}"#] {
        assert_eq!(refused(json, Sender::Client), (ErrorCode::InvalidInput, Some("TYPE-8")), "{json}");
    }
    let forbidden = read_entity(br#"{"PartitionKey":"a/b","RowKey":"1"}"#, Sender::Client).unwrap();
    assert_eq!(forbidden.key().unwrap_err().code(), ErrorCode::OutOfRangeInput); // KEY-4, EX-14
}

#[test]
fn az_4_and_az_5_a_response_of_azurite() {
    let json = concat!(
        r#"{"odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444670Z'\"","PartitionKey":"Sales","RowKey":"00001","#,
        r#""Bonus":3,"Timestamp":"2026-11-20T08:14:48.1444670Z"}"#
    );
    let body = read_entity(json.as_bytes(), Sender::Service).unwrap();
    assert_eq!(body.etag.unwrap().to_string(), "W/\"datetime'2026-11-20T08%3A14%3A48.1444670Z'\""); // ETAG-4
    assert_eq!(body.row.view().timestamp(), 639_307_592_881_444_670);
    assert_eq!(body.row.view().find("Bonus", &mut 0).unwrap(), Some(ValueRef::Int32(3))); // AZ-4
}

#[test]
fn type_2_each_of_many_annotations_finds_its_property() {
    let members = (0..40_000)
        .map(|index| format!(r#""P{index}":"{index}","P{}@odata.type":"Edm.Int64""#, 39_999 - index));
    let json = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    let body = read_entity(json.as_bytes(), Sender::Client).unwrap();
    assert!(
        (0..)
            .zip(body.row.view().properties())
            .all(|(index, found)| found.unwrap().value == ValueRef::Int64(index))
    );
    assert_eq!(body.row.view().len(), 40_000);
}
