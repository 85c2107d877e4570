//! Tests request bodies that a lenient parser would misinterpret.

use tests::ask::Ask;

use crate::SERVER;

fn names() -> String {
    Ask::new("GET", "Tables?$filter=TableName%20ge%20'Bodies'%20and%20TableName%20lt%20'Bodiet'")
        .of(&SERVER)
        .body
}

/// Tests that a repeated property name is rejected as ambiguous. Otherwise, a proxy or log could show one table name, and the server could create a table with
/// the other.
#[test]
fn prop_6_the_name_of_a_table_is_one_property_of_an_object() {
    for (body, code) in [
        ("{\"TableName\":\"BodiesFirst\",\"TableName\":\"BodiesSecond\"}", "DuplicatePropertiesSpecified"),
        ("{\"TableName\":\"BodiesFirst\",\"TableName\":null}", "DuplicatePropertiesSpecified"),
        ("{\"TableName\":\"BodiesFirst\"}{}", "InvalidInput"),
        ("[{\"TableName\":\"BodiesFirst\"}]", "InvalidInput"),
        ("[\"BodiesFirst\"]", "InvalidInput"),
        ("\"BodiesFirst\"", "InvalidInput"),
        ("", "InvalidInput"),
        ("{\"tablename\":\"BodiesFirst\"}", "PropertiesNeedValue"),
        ("{\"TableName\":null}", "PropertiesNeedValue"),
        ("{\"TableName\":1}", "PropertiesNeedValue"),
    ] {
        let answer = Ask::new("POST", "Tables").json(body).of(&SERVER);
        assert_eq!(answer.code(), (400, code), "{body}: {}", answer.body);
    }
    assert!(!names().contains("BodiesFirst") && !names().contains("BodiesSecond"), "{}", names());
    for (name, body) in [
        ("BodiesMark", "\u{feff}{\"TableName\":\"BodiesMark\"}"),
        ("BodiesTyped", "{\"odata.type\":\"contoso.Tables\",\"TableName\":\"BodiesTyped\"}"),
        ("BodiesEscaped", "{\"Other\":1,\"TableName\":\"\\u0042odiesEscaped\"}"),
    ] {
        let answer = Ask::new("POST", "Tables").json(body).of(&SERVER);
        assert!(answer.status == 201 && names().contains(name), "{body}: {}", answer.body);
    }
}

/// Tests Atom bodies, which old clients send. The response must state that the format is not supported, and not that the JSON is invalid (Azurite issue 942).
#[test]
fn json_1_a_body_in_atom_is_refused() {
    let entry = "<entry xmlns=\"http://www.w3.org/2005/Atom\"/>";
    let table = Ask::new("POST", "Tables").json("{\"TableName\":\"BodiesAtom\"}").of(&SERVER);
    assert_eq!(table.status, 201, "{}", table.body);
    let entity = "BodiesAtom(PartitionKey='p',RowKey='r')";
    for (method, target) in
        [("POST", "Tables"), ("POST", "BodiesAtom"), ("PUT", entity), ("MERGE", entity), ("PATCH", entity)]
    {
        for media_type in ["application/atom+xml", "Application/Atom+XML;type=entry;charset=utf-8"] {
            let answer = Ask::new(method, target).body(media_type, entry).of(&SERVER);
            assert_eq!(answer.code(), (415, "AtomFormatNotSupported"), "{method} {target}: {}", answer.body);
        }
    }
    let deleted =
        Ask::new("DELETE", "Tables('BodiesAtom')").header("content-type", "application/atom+xml").of(&SERVER);
    assert_eq!(deleted.status, 204, "{}", deleted.body);
}
