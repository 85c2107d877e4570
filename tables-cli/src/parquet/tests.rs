//! Tests that files can be written and read back, and that corrupted and unsupported files are rejected.

use std::fs::File;
use std::path::Path;

use proptest::prelude::*;
use table_core::{TableEntity, Value, ticks};
use table_inspect::record::Record;
use uuid::Uuid;

use super::*;

fn any_value() -> impl Strategy<Value = Value> {
    let instants = prop_oneof![
        3 => ticks::UNIX_EPOCH..ticks::UNIX_EPOCH + 60_000_000_000_000_000,
        1 => ticks::EDM_MIN..=ticks::MAX,
        1 => (ticks::EDM_MIN / 10..=ticks::MAX / 10).prop_map(|micros| micros * 10),
        1 => Just(ticks::MAX),
        1 => Just(ticks::EDM_MIN),
    ];
    prop_oneof![
        ".{0,8}".prop_map(Value::String),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_map(|number| Value::Double(if number.is_nan() { 0.5 } else { number })),
        any::<bool>().prop_map(Value::Boolean),
        instants.prop_filter_map("in range", ticks::to_datetime).prop_map(Value::DateTime),
        any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Binary),
    ]
}

/// Generates entities with few different property names. Each property then has values of several types, and is absent from some entities.
fn entities() -> impl Strategy<Value = Vec<TableEntity>> {
    let properties = prop::collection::vec(("[A-Ca]", any_value()), 0..5);
    let entity = ("[a-c]{0,2}", properties).prop_map(|(partition, properties)| {
        let entity = TableEntity::new(partition, "").unwrap();
        properties.into_iter().fold(entity, |entity, (name, value)| entity.with(name, value))
    });
    prop::collection::vec(entity, 0..40)
}

fn write(path: &Path, entities: &[TableEntity]) {
    let mut survey = Survey::default();
    for entity in entities {
        survey.add(entity).unwrap();
    }
    let mut writer = ParquetWriter::new(File::create(path).unwrap(), survey.layout()).unwrap();
    for entity in entities {
        writer.write(entity).unwrap();
    }
    writer.finish().unwrap();
}

fn all(path: &Path) -> Result<Vec<Record>, FileError> {
    read(path)?.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read_back(entities in entities()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, &entities);
        let found: Vec<_> = all(&path).unwrap().into_iter().map(Result::unwrap).collect();
        // The file stores the properties of each entity in column order.
        let sorted = |entities: &[TableEntity]| -> Vec<Vec<(String, Value)>> {
            let properties = |entity: &TableEntity| {
                let mut all: Vec<_> = entity.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
                all.sort_by(|left, right| left.0.cmp(&right.0));
                all
            };
            entities.iter().map(properties).collect()
        };
        let keys = |entities: &[TableEntity]| -> Vec<_> { entities.iter().map(|entity| entity.key().clone()).collect() };
        prop_assert_eq!(keys(&found), keys(&entities));
        prop_assert_eq!(sorted(&found), sorted(&entities));
    }
}

/// Returns the names and types of the columns in a file.
fn columns(path: &Path) -> Vec<String> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let schema = file.metadata().file_metadata().schema_descr();
    let column = |at: usize| {
        let column = schema.column(at);
        format!("{} {} {:?}", column.name(), column.physical_type(), column.converted_type())
    };
    (0..schema.num_columns()).map(column).collect()
}

fn at(text: &str) -> Value {
    Value::DateTime(text.parse().unwrap())
}

#[test]
fn a_property_has_a_column_for_each_type_and_the_most_frequent_one_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let entity = |row: u8| TableEntity::new("p", row.to_string()).unwrap();
    write(
        &path,
        &[
            entity(1).with("Age", "36").with("Near", at("2026-11-25T13:00:00.1234567Z")),
            entity(2).with("Age", 36).with("Far", at("9999-12-31T00:00:00Z")),
            entity(3).with("Age", 37).with("Both", at("9999-12-31T23:59:59.9999999Z")),
            entity(4).with("Id", Value::Guid(Uuid::nil())).with("Both", at("2026-11-25T13:00:00Z")),
        ],
    );
    let expected = [
        "PartitionKey BYTE_ARRAY UTF8",
        "RowKey BYTE_ARRAY UTF8",
        "Timestamp INT64 NONE",
        "Age INT32 NONE",
        "Age@String BYTE_ARRAY UTF8",
        "Near INT64 NONE",
        "Far INT64 TIMESTAMP_MICROS",
        "Both INT64 NONE",
        "Both@ticks INT64 NONE",
        "Id FIXED_LEN_BYTE_ARRAY NONE",
    ];
    assert_eq!(columns(&path), expected);
}

#[test]
fn rows_of_many_groups_are_read_back_with_bounded_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let text = "x".repeat(60_000);
    // A row group has at most 32 MiB, so the entities need three groups.
    let entities: Vec<_> = (0..1_500)
        .map(|row| TableEntity::new("p", format!("{row:04}")).unwrap().with("Text", format!("{row}{text}")))
        .collect();
    write(&path, &entities);
    let mut reader = read(&path).unwrap();
    let first = reader.next().unwrap().unwrap().unwrap();
    assert_eq!(first, entities[0]);
    assert!(reader.decoded() < 200, "{} entities of 60 kB are decoded at a time", reader.decoded());
    assert!(reader.groups() > 1);
    assert_eq!(reader.count(), 1_499);
    assert_eq!(verify(File::open(&path).unwrap(), path.display()).unwrap().count, 1_500);
}

/// Writes a file of another program, in which all rows refer to one value of a dictionary in each column.
fn write_repeated(path: &Path, columns: usize, rows: usize, value: &[u8]) {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let fields = ["PartitionKey".to_owned(), "RowKey".to_owned()]
        .into_iter()
        .chain((0..columns).map(|column| format!("C{column}")));
    let fields: Vec<_> = fields.map(|name| format!("required binary {name} (UTF8);")).collect();
    let fields = fields.join(" ");
    let schema = parse_message_type(&format!("message m {{ {fields} }}")).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_page_size_limit(1 << 30)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let file = File::create(path).unwrap();
    let mut file = SerializedFileWriter::new(file, schema.into(), properties.into()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let (partition, repeated) = (ByteArray::from("p"), ByteArray::from(value.to_vec()));
    for at in 0..columns + 2 {
        let cell = |row: usize| match at {
            0 => partition.clone(),
            1 => ByteArray::from(format!("{row:04}").into_bytes()),
            _ => repeated.clone(),
        };
        let values: Vec<_> = (0..rows).map(cell).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
}

#[test]
fn a_small_file_with_large_values_is_read_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write_repeated(&path, 3, 100, &vec![b'x'; 1 << 20]);
    assert!(std::fs::metadata(&path).unwrap().len() < 4 << 20);
    let mut reader = read(&path).unwrap();
    let first = reader.next().unwrap().unwrap().unwrap();
    assert_eq!(first.len(), 3);
    assert!(reader.decoded() < 16, "{} rows are decoded at a time", reader.decoded());
    assert_eq!(reader.count(), 99);
    // A value and a row that are larger than a line of JSON Lines are rejected, without a copy of the value.
    for (columns, size) in [(1, (16 << 20) + 1), (17, 1 << 20)] {
        write_repeated(&path, columns, 2, &vec![b'x'; size]);
        for record in all(&path).unwrap() {
            let reason = record.unwrap_err().reason;
            assert!(reason.contains("more than 16 MiB"), "{reason}");
        }
    }
}

#[test]
fn more_properties_than_columns_are_refused() {
    let mut survey = Survey::default();
    let entity = |name: usize| TableEntity::new("p", "r").unwrap().with(format!("P{name}"), 1);
    (0..10_000).for_each(|name| survey.add(&entity(name)).unwrap());
    survey.add(&entity(0)).unwrap();
    let refused = survey.add(&entity(10_000)).unwrap_err().to_string();
    assert!(refused.contains("10000 properties") && refused.contains("--columns"), "{refused}");
}

/// Tests that a row needs no memory for the columns in which it has no value, and that a written row group needs no memory.
#[test]
fn memory_does_not_grow_with_the_number_of_rows_and_columns() {
    let entity = |at: usize| {
        let name = format!("Name{:04}", at % 1_000);
        TableEntity::new("p", format!("{at:06}")).unwrap().with(name, i32::try_from(at).unwrap())
    };
    let mut survey = Survey::default();
    (0..1_000).for_each(|at| survey.add(&entity(at)).unwrap());
    let mut writer = ParquetWriter::new(Vec::new(), survey.layout()).unwrap();
    for at in 0..99_999 {
        writer.write(&entity(at)).unwrap();
    }
    // Each row has three values, and a list has at most twice the capacity that it needs.
    assert!(writer.capacity() < 99_999 * 3 * 2 * 2 + 8_000, "{}", writer.capacity());
    writer.write(&entity(99_999)).unwrap();
    assert_eq!(writer.capacity(), 0);
    writer.write(&entity(100_000)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    let found = all(&path).unwrap();
    assert_eq!(found.len(), 100_001);
    for at in [0, 999, 99_999, 100_000] {
        assert_eq!(found[at].as_ref().unwrap(), &entity(at));
    }
}

#[test]
fn a_value_without_a_column_is_refused() {
    let entity = TableEntity::new("p", "1").unwrap().with("Age", 36);
    let mut survey = Survey::default();
    survey.add(&entity).unwrap();
    let mut writer = ParquetWriter::new(Vec::new(), survey.layout()).unwrap();
    writer.write(&entity).unwrap();
    let refused = writer.write(&entity.with("Age", "36")).unwrap_err().to_string();
    assert_eq!(
        refused,
        "property `Age` of ('p', '1') has no column for Edm.String; the table changed while it was exported, so export it again"
    );
}

#[test]
fn a_flipped_bit_never_changes_a_row_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let entities: Vec<_> = (0..20)
        .map(|row| {
            TableEntity::new("p", format!("{row:02}"))
                .unwrap()
                .with("Age", row)
                .with("Name", format!("N{row}"))
        })
        .collect();
    write(&path, &entities);
    let whole = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, damaged).unwrap();
        match all(&path) {
            Ok(records) => {
                let found: Result<Vec<_>, _> = records.into_iter().collect();
                // A flipped bit in the footer may hide the checksum, and the property names are then not covered by any checksum.
                if read(&path).unwrap().recorded().is_some() {
                    assert_eq!(found, Ok(entities.clone()), "byte {at}");
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    assert!(all(&path).unwrap_err().to_string().starts_with("the Parquet file cannot be read"));
}
