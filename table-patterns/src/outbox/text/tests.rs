use table_core::ValueRef;
use table_core::row::RowWriter;

use table_core::ErrorCode;

use super::*;

#[test]
fn an_intent_is_read_back_as_it_was() {
    let mut writer = RowWriter::new();
    writer.property("Nan", ValueRef::Double(f64::INFINITY));
    writer.property("Name", ValueRef::String("Ada \u{1F600}"));
    let row = writer.finish();
    let (table, key) = (TableName::new("Directory").unwrap(), EntityKey::new("é'", "\u{FFFC}odd").unwrap());
    let intent = Intent::of(RowKey::new("000223").unwrap())
        .version(7)
        .step(Step::insert_or_replace(table.clone(), key.clone(), row.clone()))
        .step(Step::insert_or_merge(table.clone(), key.clone(), row).unguarded())
        .step(Step::delete_if_exists(table, key))
        .step(Step::of_pattern("mail".into(), "\"x\"".into()))
        .step(Step::Call { name: "mail".into(), version: 3, payload: "\"x\"".into() });
    assert_eq!(read(&write(&intent).unwrap()).unwrap(), intent);
}

#[test]
fn an_invalid_intent_is_refused() {
    let later = "{\"Version\":2,\"What\":1}";
    assert_eq!(read(later).unwrap_err().code(), ErrorCode::FormatTooNew);
    let bad_row = "{\"Version\":1,\"Source\":\"1\",\"Steps\":[{\"Do\":\"InsertOrMerge\",\"Table\":\"Abc\",\
                   \"PartitionKey\":\"\",\"RowKey\":\"\",\"Guarded\":true,\"Row\":\"AA==\"}]}";
    for text in ["", "{}", "[1]", "{\"Version\":1}", bad_row] {
        assert_eq!(read(text).unwrap_err().code(), ErrorCode::Corrupted, "{text}");
    }
}
