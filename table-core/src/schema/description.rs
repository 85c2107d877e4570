//! Describes schemas for human readers, as keys with their parts and widths, properties with their sizes, and indexes.

use std::fmt;

use table_store::EdmType;

use crate::limits::{ENTITY_BYTES, ENTITY_RESERVE};
use crate::schema::{EntitySchema, IndexKind, KeyPiece, PropertySchema};

/// The columns of one line: key, content, encoding, width and remark.
type Line = [String; 5];

/// Prints the schema as a table with one fact per line.
///
/// ```
/// use table_core::Entity;
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee {
///     department: String,
///     #[digits(6)]
///     id: u32,
///     age: i32,
/// }
///
/// let text = Employee::SCHEMA.to_string();
/// assert!(text.starts_with("Employee in table `Company`, fingerprint "));
/// assert!(text.contains("the longest key has 512 and 12 UTF-16 code units"));
/// ```
impl fmt::Display for EntitySchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<Line> = Vec::new();
        key("PartitionKey", self.partition_key, &mut lines);
        key("RowKey", self.row_key, &mut lines);
        lines.extend(self.properties.iter().map(property));
        for index in self.indexes {
            let kind = match index.kind {
                IndexKind::Copies => "copies",
                IndexKind::List => "lists of keys",
            };
            let place = match (index.table, index.partition_key) {
                (Some(table), _) => format!("table `{table}`"),
                (None, Some(_)) => "other partitions".to_owned(),
                (None, None) => "the same partition".to_owned(),
            };
            let left_out = match index.when {
                Some(when) => format!("; only `{when}`"),
                None if index.sparse => "; only with a value".to_owned(),
                None => String::new(),
            };
            let kept =
                index.include.map_or("keeps all".to_owned(), |keep| format!("keeps {}", keep.join(", ")));
            let unique = if index.unique { "unique; " } else { "" };
            let remark = format!("{unique}{kept}{left_out}");
            lines.push([
                "index".into(),
                index.name.into(),
                format!("{kind} in {place}"),
                String::new(),
                remark,
            ]);
            key("  PartitionKey", index.partition_key.unwrap_or_default(), &mut lines);
            key("  RowKey", index.row_key, &mut lines);
        }
        writeln!(f, "{} in table `{}`, fingerprint {}", self.entity, self.table, self.fingerprint())?;
        write_lines(&lines, f)?;
        let (partition_key, row_key) = (longest(self.partition_key), longest(self.row_key));
        writeln!(f, "  the longest key has {partition_key} and {row_key} UTF-16 code units")?;
        let fixed: usize = self.properties.iter().map(fixed_bytes).sum();
        let fixed = fixed + 4 + 2 * (partition_key + row_key);
        write!(f, "  an entity has at most {fixed} bytes")?;
        let varying = self.properties.iter().filter(|property| is_varying(property)).count();
        if varying > 0 {
            write!(f, " and {varying} values of varying length, at most 65540 each")?;
        }
        writeln!(f, ", of {}", ENTITY_BYTES - ENTITY_RESERVE)
    }
}

fn write_lines(lines: &[Line], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut widths = [0; 5];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    for line in lines {
        let mut text = String::new();
        for (cell, width) in line.iter().zip(widths) {
            text.push_str("  ");
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width - cell.chars().count()));
        }
        writeln!(f, "{}", text.trim_end())?;
    }
    Ok(())
}

fn key(name: &str, pieces: &[KeyPiece], lines: &mut Vec<Line>) {
    lines.extend(pieces.iter().map(|piece| match piece {
        KeyPiece::Literal(text) => {
            let width = text.encode_utf16().count().to_string();
            [name.into(), String::new(), format!("'{text}'"), width, String::new()]
        }
        KeyPiece::Field { field, codec, form } => {
            let width = match (form.min, form.max) {
                (min, max) if min == max => min.to_string(),
                (min, max) => format!("{min}–{max}"),
            };
            let ordered = if form.ordered { "ordered" } else { "" };
            [name.into(), (*field).into(), (*codec).into(), width, ordered.into()]
        }
    }));
}

fn property(property: &PropertySchema) -> Line {
    let optional = if property.optional { "may be absent" } else { "" };
    [
        "property".into(),
        property.name.into(),
        property.edm.name().into(),
        width(property.edm),
        optional.into(),
    ]
}

fn width(edm: EdmType) -> String {
    value_bytes(edm).map_or_else(|| "varying".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// Returns the size of a value in bytes (SIZE-3), or `None` if the values of the type vary in size.
const fn value_bytes(edm: EdmType) -> Option<usize> {
    match edm {
        EdmType::Int32 => Some(4),
        EdmType::Int64 | EdmType::Double | EdmType::DateTime => Some(8),
        EdmType::Guid => Some(16),
        EdmType::Boolean => Some(1),
        EdmType::String | EdmType::Binary => None,
    }
}

const fn is_varying(property: &PropertySchema) -> bool {
    value_bytes(property.edm).is_none()
}

/// Returns the size of a property in bytes (SIZE-2). If the size of its value varies, the value is not included.
fn fixed_bytes(property: &PropertySchema) -> usize {
    8 + 2 * property.name.encode_utf16().count() + value_bytes(property.edm).unwrap_or_default()
}

fn longest(pieces: &[KeyPiece]) -> usize {
    let units = pieces.iter().map(|piece| match piece {
        KeyPiece::Literal(text) => text.encode_utf16().count(),
        KeyPiece::Field { form, .. } => form.max,
    });
    units.sum::<usize>()
}

#[cfg(test)]
#[expect(clippy::duplicated_attributes, reason = "each index declares its own uniqueness")]
mod tests {
    use crate::Entity;

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index(
        EmailDirectory,
        unique,
        partition_key("email_", email),
        row_key(department),
        include(age, nickname)
    )]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
        nickname: Option<String>,
        #[property("EmailAddress")]
        email: String,
    }

    #[test]
    fn the_description_has_a_line_for_every_fact() {
        let expected = "\
Employee in table `Company`, fingerprint 89d7c4421a3085ae
  PartitionKey    department      text                          0–512    ordered
  RowKey                          'empid_'                      6
  RowKey          id              digits(6)                     6        ordered
  property        Age             Edm.Int32                     4 bytes
  property        Nickname        Edm.String                    varying  may be absent
  property        EmailAddress    Edm.String                    varying
  index           ByEmail         copies in the same partition           unique; keeps all
    RowKey                        'email_'                      6
    RowKey        email           text                          0–512    ordered
  index           EmailDirectory  copies in other partitions             unique; keeps Age, Nickname
    PartitionKey                  'email_'                      6
    PartitionKey  email           text                          0–512    ordered
    RowKey        department      text                          0–512    ordered
  the longest key has 512 and 12 UTF-16 code units
  an entity has at most 1126 bytes and 2 values of varying length, at most 65540 each, of 1048488
";
        assert_eq!(Employee::SCHEMA.to_string(), expected);
    }
}
