//! Tests that CSV files can be written and read back without loss. Also tests that invalid cells are rejected.

use table_core::{EdmType, TableEntity, Value};

use super::*;
use crate::record::{Record, Result};

fn read(text: &str, types: Types) -> Vec<Record> {
    CsvReader::new(text.as_bytes(), types).unwrap().collect::<Result<_>>().unwrap()
}

#[test]
fn entities_are_written_with_types_and_read_back() {
    let one = TableEntity::new("p", "1").unwrap().with("Age", 36).with("Name", "a,\"b\"\nc");
    let two = TableEntity::new("p", "2").unwrap().with("Name", "").with("Badge", 7_i64);
    let entities = [one, two];
    let mut csv = CsvWriter::new(Vec::new(), Columns::of(&entities));
    for entity in &entities {
        csv.write(entity).unwrap();
    }
    let text = String::from_utf8(csv.finish().unwrap()).unwrap();
    assert!(
        text.starts_with("PartitionKey,RowKey,Timestamp,Age,Age@type,Name,Name@type,Badge,Badge@type\n"),
        "{text}"
    );
    assert_eq!(read(&text, Types::default()), entities.map(Ok));
}

#[test]
fn a_property_of_any_name_is_read_back() {
    for name in ["ETag", "etag", "odata", "type", "Id", "_", "Partition", "timestamp", "Größe"] {
        let entity = TableEntity::new("p", "1").unwrap().with(name, 36);
        let mut csv = CsvWriter::new(Vec::new(), Columns::of([&entity]));
        csv.write(&entity).unwrap();
        let text = String::from_utf8(csv.finish().unwrap()).unwrap();
        assert_eq!(read(&text, Types::default()), [Ok(entity)], "{name}");
    }
    // The `ETag` column that other programs export is not a property.
    let other = read("PartitionKey,RowKey,ETag\np,1,W/\"x\"\n", Types::default()).remove(0).unwrap();
    assert_eq!(other.len(), 0);
}

#[test]
fn more_properties_than_columns_are_refused() {
    let mut columns = Columns::default();
    let entity = |name: usize| TableEntity::new("p", "r").unwrap().with(format!("P{name}"), 1);
    (0..10_000).for_each(|name| columns.add(&entity(name)));
    columns.add(&entity(0));
    columns.check().unwrap();
    assert!(CsvWriter::new(Vec::<u8>::new(), columns.clone()).write(&entity(7)).is_ok());
    columns.add(&entity(10_000));
    let refused = columns.check().unwrap_err().to_string();
    assert!(refused.contains("10000 properties") && refused.contains("--columns"), "{refused}");
    assert!(CsvWriter::new(Vec::<u8>::new(), columns).write(&entity(7)).is_err());
}

#[test]
fn untyped_columns_are_strings_unless_named_or_guessed() {
    let text = "\u{feff}PartitionKey,RowKey,Age,Zip\r\np,1,36,08001\r\n";
    let value = |types: Types| {
        let entity = read(text, types).remove(0).unwrap();
        (entity.get("Age").cloned(), entity.get("Zip").cloned())
    };
    let string = |text: &str| Some(Value::from(text));
    assert_eq!(value(Types::default()), (string("36"), string("08001")));
    let named = vec![("Age".to_owned(), EdmType::Int64)];
    assert_eq!(value(Types { named, guess: false }), (Some(Value::Int64(36)), string("08001")));
    assert_eq!(value(Types { named: Vec::new(), guess: true }), (Some(Value::Int32(36)), string("08001")));
}

#[test]
fn a_wrong_cell_is_rejected_with_line_column_and_expectation() {
    let text = "PartitionKey,RowKey,Age,Age@type\np,1,36,Edm.Int32\np,2,x,Edm.Int32\np,3,1,Edm.Int33\np,4,1,Edm.Int32,9\n";
    let rejected: Vec<String> = read(text, Types::default())
        .into_iter()
        .filter_map(Result::err)
        .map(|rejected| rejected.to_string())
        .collect();
    assert_eq!(
        rejected,
        [
            "line 3, column 3: property `Age`: `x` is not Edm.Int32; expected a whole number from -2147483648 to 2147483647",
            "line 4, column 4: `Edm.Int33` is not an Edm type",
            "line 5, column 5: the line has 5 cells, and the header 4 columns",
        ]
    );
}

#[test]
fn an_incomplete_file_is_rejected_at_its_last_line() {
    for (text, reason) in [
        (
            "p,1,a\np,2,\"b\nc\n",
            "line 3, column 3: the quote of the last cell is not closed; the file may be incomplete",
        ),
        (
            "p,1,a\np,2,\"",
            "line 3, column 3: the quote of the last cell is not closed; the file may be incomplete",
        ),
        ("p,1,a\np", "line 3, column 2: the line has 1 cells, and the header 3 columns"),
        ("p,1,a\np,2", "line 3, column 3: the line has 2 cells, and the header 3 columns"),
    ] {
        let records = read(&format!("PartitionKey,RowKey,A\n{text}"), Types::default());
        assert_eq!((records.len(), records[0].is_ok()), (2, true), "{text:?}");
        assert_eq!(records[1].as_ref().unwrap_err().to_string(), reason, "{text:?}");
    }
    for end in ["", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n"] {
        for last in ["b", "\"b\"", "\"b\nc\"", "\0", "\"\n\0\n\""] {
            let records = read(&format!("PartitionKey,RowKey,A\np,1,a\np,2,{last}{end}"), Types::default());
            assert!(records.len() == 2 && records.iter().all(Result::is_ok), "{last:?} {end:?}: {records:?}");
        }
    }
    assert_eq!(read("PartitionKey,RowKey", Types::default()), []);
}

#[test]
fn values_in_a_column_without_a_name_are_rejected() {
    let records = read("PartitionKey,RowKey,,A,\np,1,,2,\np,2,x,3,\n", Types::default());
    assert!(records[0].is_ok());
    let rejected = records[1].as_ref().unwrap_err().to_string();
    assert!(rejected.starts_with("line 3, column 3: the column has no name"), "{rejected}");
}

#[test]
fn a_file_without_keys_or_with_a_column_twice_is_refused() {
    let refused = |text: &str| CsvReader::new(text.as_bytes(), Types::default()).err().unwrap().to_string();
    assert!(refused("RowKey,Age\n").contains("no column `PartitionKey`"));
    assert!(refused("").contains("no column `PartitionKey`"));
    assert!(
        refused("PartitionKey,RowKey,\"A\n").contains("a quote in the first line of the CSV is not closed")
    );
    assert!(refused("PartitionKey,RowKey,A,A@type,A@type@type\n").contains("a column `A@type@type` for"));
    assert!(refused("PartitionKey,RowKey,A@type\n").contains("has a column `A@type`, and no column `A`"));
    assert!(refused("PartitionKey,RowKey,A,A\n").contains("column 4 of the CSV repeats the name `A`"));
}

/// Tests that the time to read a file is not quadratic in its number of columns. If it were, 1.6 * 10^11 pairs of names would be compared, which exceeds the
/// time limit.
#[test]
fn a_file_of_many_columns_is_read_in_time() {
    let begin = std::time::Instant::now();
    for (columns, cells) in [("", ",1"), (",T@type", ",,Edm.String"), (",T@type", ",1,")] {
        let name = |at: u32| format!(",{at:x}{}", columns.replace('T', &format!("{at:x}")));
        let names: String = (0..200_000).map(name).collect();
        let text = format!("PartitionKey,RowKey{names}\np,1{}\n", cells.repeat(200_000));
        let mut reader = CsvReader::new(text.as_bytes(), Types::default()).unwrap();
        assert!(reader.has_column("30d3f"));
        let rejected = reader.next().unwrap().unwrap().unwrap_err().to_string();
        assert!(rejected.contains("more than 65535 properties"), "{cells}: {rejected}");
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }
}

#[test]
fn other_encodings_separators_and_open_quotes_are_named() {
    let refused = |bytes: &[u8]| CsvReader::new(bytes, Types::default()).err().unwrap().to_string();
    let utf16: Vec<u8> = "\u{feff}PartitionKey,RowKey\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refused(&utf16).contains("is UTF-16, not UTF-8"));
    assert!(
        refused(b"PartitionKey;RowKey;Age\n").contains("separated by ';', and must be separated by commas")
    );
    let latin = b"PartitionKey,RowKey,Name\np,1,Jos\xe9\n";
    let read: Vec<Record> =
        CsvReader::new(&latin[..], Types::default()).unwrap().collect::<Result<_>>().unwrap();
    let rejected = read[0].as_ref().unwrap_err().to_string();
    assert_eq!(rejected, "line 2, column 3: the text is not UTF-8; convert the file first");
    let open = format!("PartitionKey,RowKey,A\np,1,x\np,2,\"{}", "y\n".repeat(10 << 20));
    let error = CsvReader::new(open.as_bytes(), Types::default()).unwrap().find_map(Result::err).unwrap();
    assert!(
        error.to_string().starts_with("line 3: the record has more than 4 MiB; check for an unclosed quote"),
        "{error}"
    );
}

#[test]
fn lines_are_counted_over_any_line_ending_and_multi_line_cells() {
    for end in ["\n", "\r\n", "\r"] {
        let text = "PartitionKey,RowKey,Age,Age@type|p,1,\"a|b\",Edm.String|p,2,x,Edm.Int32||\"p\",3,x,Edm.Int32|p,4,1,Edm.Int32|p,5,x,Edm.Int32";
        let read = read(&text.replace('|', end), Types::default());
        let lines: Vec<_> = read.into_iter().filter_map(Result::err).map(|rejected| rejected.line).collect();
        assert_eq!(lines, [4, 6, 8], "{end:?}");
    }
}

#[test]
fn a_property_without_a_column_is_refused() {
    let (one, two) =
        (TableEntity::new("p", "1").unwrap().with("Age", 36), TableEntity::new("p", "2").unwrap());
    let mut csv = CsvWriter::new(Vec::new(), Columns::of([&one]));
    csv.write(&one).unwrap();
    let refused = csv.write(&two.with("Name", "Ada")).unwrap_err().to_string();
    assert!(refused.starts_with("property `Name` of ('p', '2') has no column; select it"), "{refused}");
    // No partial row is written.
    let text = String::from_utf8(csv.finish().unwrap()).unwrap();
    assert_eq!(text, "PartitionKey,RowKey,Timestamp,Age,Age@type\np,1,,36,Edm.Int32\n");
}

#[test]
fn a_file_written_in_parts_has_one_header() {
    let entities = [1, 2, 3].map(|age| TableEntity::new("p", age.to_string()).unwrap().with("Age", age));
    let columns = Columns::new(["RowKey", "Age"]);
    let mut whole = CsvWriter::new(Vec::new(), columns.clone());
    let mut parts = CsvWriter::new(Vec::new(), columns.clone()).finish().unwrap();
    for entity in &entities {
        whole.write(entity).unwrap();
        let mut part = CsvWriter::continuing(Vec::new(), columns.clone());
        part.write(entity).unwrap();
        parts.extend(part.finish().unwrap());
    }
    assert_eq!(parts, whole.finish().unwrap());
}

#[test]
fn cells_of_a_spreadsheet_are_separated_by_tabs() {
    let text = "PartitionKey\tRowKey \tAge\tName\np\t1\t36\t\"a\tb\"\n";
    let reader =
        CsvReader::separated(text.as_bytes(), b'\t', Types { named: Vec::new(), guess: true }).unwrap();
    let one = TableEntity::new("p", "1").unwrap().with("Age", 36).with("Name", "a\tb");
    assert_eq!(reader.collect::<Result<Vec<_>>>().unwrap(), [Ok(one)]);
}
