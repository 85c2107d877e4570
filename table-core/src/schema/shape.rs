//! The shape of a declared entity's rows. This byte string identifies such rows in one comparison.

use std::sync::OnceLock;

use table_store::EdmType;

use crate::row::VERSION;
use crate::schema::{ENTITY_TYPE, PropertySchema};

/// The shape of a declared entity's rows. It contains the property names and types.
///
/// The shape is computed on first use. As a constant, it would take more compile time than any function generated for the entity.
#[derive(Debug)]
pub struct Shape {
    bytes: OnceLock<Vec<u8>>,
}

impl Shape {
    /// Creates a shape whose bytes have not been computed. The shape does not refer to the properties. Otherwise, the compiler would evaluate them for the
    /// `static` that contains the shape.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: OnceLock::new() }
    }

    /// Returns the bytes of the shape. A row writer produces these bytes for rows with all of these properties in this order, preceded by `EntityType` if the
    /// entity has a kind. A row that lacks one of the properties has a different shape.
    ///
    /// Every call must pass the same arguments.
    #[inline]
    #[must_use]
    pub fn bytes(&self, kind: Option<&'static str>, properties: &[PropertySchema]) -> &[u8] {
        self.bytes.get_or_init(|| make(kind, properties))
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no row has a count or an end above these bytes")]
fn make(kind: Option<&str>, properties: &[PropertySchema]) -> Vec<u8> {
    let kind = kind.map(|_| (ENTITY_TYPE, EdmType::String));
    let labels = || kind.into_iter().chain(properties.iter().map(|property| (property.name, property.edm)));
    let mut bytes = vec![VERSION, 0];
    bytes.extend((labels().count() as u16).to_le_bytes());
    let mut end = 0;
    for (name, edm) in labels() {
        end += name.len();
        bytes.extend(((end << 8) as u32 | edm as u32).to_le_bytes());
    }
    bytes.extend(labels().flat_map(|(name, _)| name.bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowReader, RowWriter};
    use table_store::{Value, ValueRef};

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
    fn the_bytes_equal_those_of_a_writer() {
        for kind in [None, Some("Employee")] {
            assert_eq!(Shape::new().bytes(kind, PROPERTIES), write(kind).view().parts().0);
        }
        assert_eq!(Shape::new().bytes(None, &[]), RowWriter::new().finish().view().parts().0);
    }

    #[test]
    fn a_row_of_another_shape_is_read_by_its_names() {
        let shape = Shape::new();
        let mut writer = RowWriter::new();
        writer.property("FirstName", ValueRef::String("Ada"));
        writer.property("Active", ValueRef::Boolean(true));
        let row = writer.finish();
        for row in [row, write(None)] {
            let mut reader = RowReader::new(row.view());
            reader.expect(shape.bytes(None, PROPERTIES));
            assert_eq!(reader.text("FirstName"), Some("Ada"));
            let size = reader.fixed("Größe", EdmType::Int32).map(i32::from_le_bytes);
            let wanted = row.view().find("Größe", &mut 0).unwrap().map(Value::from);
            assert_eq!(size.map(Value::from), wanted);
            assert_eq!(reader.fixed("Active", EdmType::Boolean), Some([1]));
        }
    }
}
