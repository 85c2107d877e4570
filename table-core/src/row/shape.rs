//! Shape of the rows of a declared entity as a constant, to recognise a row by one comparison.

use crate::row::{ENTRY, SHAPE_HEADER, VERSION};
use crate::schema::{ENTITY_TYPE, PropertySchema};
use crate::value::EdmType;

/// The bytes of the shape of these properties, behind `EntityType` if entities of a kind are told by it.
#[must_use]
pub const fn shape_bytes(kind: Option<&str>, properties: &[PropertySchema]) -> usize {
    let mut bytes = SHAPE_HEADER;
    let mut at = 0;
    while at < count(kind, properties) {
        bytes += ENTRY + label(kind, properties, at).0.len();
        at += 1;
    }
    bytes
}

/// The shape of a row with all of these properties, in this order. An entity that lacks one has another.
#[must_use]
pub const fn shape<const BYTES: usize>(kind: Option<&str>, properties: &[PropertySchema]) -> [u8; BYTES] {
    let mut shape = [0; BYTES];
    let count = count(kind, properties);
    shape[0] = VERSION;
    put(&mut shape, 2, count, 2);
    let names = SHAPE_HEADER + count * ENTRY;
    let mut end = 0;
    let mut at = 0;
    while at < count {
        let (name, edm) = label(kind, properties, at);
        let mut byte = 0;
        while byte < name.len() {
            shape[names + end] = name.as_bytes()[byte];
            (end, byte) = (end + 1, byte + 1);
        }
        put(&mut shape, SHAPE_HEADER + at * ENTRY, end << 8 | edm as usize, ENTRY);
        at += 1;
    }
    shape
}

const fn count(kind: Option<&str>, properties: &[PropertySchema]) -> usize {
    properties.len() + kind.is_some() as usize
}

const fn label(kind: Option<&str>, properties: &[PropertySchema], at: usize) -> (&'static str, EdmType) {
    match kind {
        Some(_) if at == 0 => (ENTITY_TYPE, EdmType::String),
        Some(_) => (properties[at - 1].name, properties[at - 1].edm),
        None => (properties[at].name, properties[at].edm),
    }
}

/// Writes the lower bytes of a number, the lowest first.
const fn put(shape: &mut [u8], at: usize, number: usize, bytes: usize) {
    let mut byte = 0;
    while byte < bytes {
        shape[at + byte] = number.to_le_bytes()[byte];
        byte += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Reader, RowWriter};
    use crate::value::{Value, ValueRef};

    const PROPERTIES: &[PropertySchema] = &[
        PropertySchema { name: "FirstName", field: "first_name", edm: EdmType::String, optional: false },
        PropertySchema { name: "Größe", field: "size", edm: EdmType::Int32, optional: true },
        PropertySchema { name: "Active", field: "active", edm: EdmType::Boolean, optional: false },
    ];

    fn write(kind: Option<&str>) -> crate::Row {
        let mut writer = RowWriter::new();
        if let Some(kind) = kind {
            writer.property(ENTITY_TYPE, ValueRef::String(kind));
        }
        writer.property("FirstName", ValueRef::String("Ada"));
        writer.property("Größe", ValueRef::Int32(170));
        writer.property("Active", ValueRef::Boolean(true));
        writer.finish()
    }

    #[test]
    fn the_constant_is_what_a_writer_writes() {
        const ALONE: &[u8] = &shape::<{ shape_bytes(None, PROPERTIES) }>(None, PROPERTIES);
        const OF_A_KIND: &[u8] =
            &shape::<{ shape_bytes(Some("Employee"), PROPERTIES) }>(Some("Employee"), PROPERTIES);
        const EMPTY: &[u8] = &shape::<{ shape_bytes(None, &[]) }>(None, &[]);
        assert_eq!(ALONE, write(None).view().parts().0);
        assert_eq!(OF_A_KIND, write(Some("Employee")).view().parts().0);
        assert_eq!(EMPTY, RowWriter::new().finish().view().parts().0);
    }

    #[test]
    fn a_row_of_another_shape_is_read_by_its_names() {
        const SHAPE: &[u8] = &shape::<{ shape_bytes(None, PROPERTIES) }>(None, PROPERTIES);
        let mut writer = RowWriter::new();
        writer.property("FirstName", ValueRef::String("Ada"));
        writer.property("Active", ValueRef::Boolean(true));
        let row = writer.finish();
        for row in [row, write(None)] {
            let mut reader = Reader::new(row.view());
            reader.expect(SHAPE);
            assert_eq!(reader.text("FirstName"), Some("Ada"));
            let size = reader.fixed("Größe", EdmType::Int32).map(i32::from_le_bytes);
            let wanted = row.view().find("Größe", &mut 0).unwrap().map(Value::from);
            assert_eq!(size.map(Value::from), wanted);
            assert_eq!(reader.fixed("Active", EdmType::Boolean), Some([1]));
        }
    }
}
