//! Schema fingerprints, which are hashes of the schemas' canonical bytes.

use std::fmt;

use table_store::fnv::fnv1a64;

use crate::schema::EntitySchema;
use crate::schema::stored::{Source, StoredPiece, StoredSchema};
use crate::schema::text::{VERSION, name_of, write_facts};

/// The 64-bit FNV-1a hash of a schema's canonical bytes. It detects accidental differences, but does not protect against forgery.
///
/// The canonical bytes are the UTF-8 text of the [stored schema](StoredSchema) with these differences:
/// - the `entity` line is omitted, and table names are in lower case (TBL-2);
/// - a field stored only in the entity's key is represented by its position in the key, such as `PartitionKey.0` or `RowKey.1`. Literals are not counted.
///
/// As a result, the fingerprint does not depend on the Rust names of types and key fields, on the declaration order of properties and indexes, or on how
/// adjacent literals are split.
///
/// It cannot detect that two parts with the same codec were swapped, because only their names differ. [`compare_schemas`](crate::schema::compare_schemas) also
/// compares the names.
///
/// ```
/// use table_core::Entity;
/// use table_core::schema::Fingerprint;
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
/// let fingerprint = Employee::SCHEMA.fingerprint();
/// assert_eq!(fingerprint.to_string(), "2f0c8ced834ea206");
/// assert_eq!(Fingerprint::parse("2f0c8ced834ea206"), Some(fingerprint));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Parses a fingerprint from its 16 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_text = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_text.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl EntitySchema {
    /// Computes the [`Fingerprint`] of this schema, a hash of the canonical text of its [`StoredSchema`].
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        StoredSchema::of(self).fingerprint()
    }
}

impl StoredSchema {
    /// Computes the [`Fingerprint`] of this schema, a hash of its canonical text.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(fnv1a64(self.canonical().as_bytes()))
    }

    fn canonical(&self) -> String {
        let mut text = format!("schema {VERSION}\ntable {}\n", self.table.to_ascii_lowercase());
        let mut folded = self.clone();
        folded
            .indexes
            .iter_mut()
            .filter_map(|index| index.table.as_mut())
            .for_each(|table| table.make_ascii_lowercase());
        // Writing to a `String` cannot fail.
        let _ = write_facts(&folded, &|source| self.place(source), &mut text);
        text
    }

    /// Returns the location of a key part's value in a stored entity. This is a property name, or a position in the key.
    fn place(&self, source: &Source) -> String {
        let Source::Key(label) = source else { return name_of(source) };
        let found = |derived| {
            [("PartitionKey", &self.partition_key), ("RowKey", &self.row_key)].into_iter().find_map(
                |(key, pieces)| {
                    let mut parts = pieces.iter().filter_map(|piece| match piece {
                        StoredPiece::Part { source, codec, .. } => Some((source, is_derived(codec))),
                        StoredPiece::Literal(_) => None,
                    });
                    let at = parts.position(|part| part == (source, derived))?;
                    Some(format!("{key}.{at}"))
                },
            )
        };
        found(false).or_else(|| found(true)).unwrap_or_else(|| label.clone())
    }
}

/// Returns `true` if the codec writes a bucket number, from which the field's value cannot be decoded.
pub(super) fn is_derived(codec: &str) -> bool {
    codec.starts_with("bucket(")
}

#[cfg(test)]
mod tests {
    use crate::schema::StoredSchema;

    const TEXT: &str = r#"schema 1
entity Employee
table Company
kind Employee
PartitionKey id bucket(digits(6):6,16) 2 unordered [0-9]
PartitionKey "_"
PartitionKey department without(_) 0..512 ordered legal
RowKey "empid_"
RowKey id digits(6) 6 ordered [0-9]
property Age Edm.Int32
property Nickname Edm.String optional
index ByAge copies unique sparse
index ByAge when is_active
index ByAge table Ages
index ByAge RowKey .Age padded 11 ordered [-0-9]
index ByAge RowKey id digits(6) 6 ordered [0-9]
index ByAge keeps *
index ByAge property Department Edm.String
index ByAge property Nickname Edm.String optional
"#;

    #[test]
    fn the_canonical_bytes_never_change() {
        let schema: StoredSchema = TEXT.parse().unwrap();
        let canonical = r#"schema 1
table company
kind Employee
PartitionKey RowKey.0 bucket(digits(6):6,16) 2 unordered [0-9]
PartitionKey "_"
PartitionKey PartitionKey.1 without(_) 0..512 ordered legal
RowKey "empid_"
RowKey RowKey.0 digits(6) 6 ordered [0-9]
property Age Edm.Int32
property Nickname Edm.String optional
index ByAge copies unique sparse
index ByAge when is_active
index ByAge table ages
index ByAge RowKey .Age padded 11 ordered [-0-9]
index ByAge RowKey RowKey.0 digits(6) 6 ordered [0-9]
index ByAge keeps *
index ByAge property Department Edm.String
index ByAge property Nickname Edm.String optional
"#;
        assert_eq!(schema.canonical(), canonical);
        assert_eq!(schema.fingerprint().to_string(), "d48416f710f40e82");
    }

    #[test]
    fn rust_names_order_and_case_do_not_affect_the_fingerprint() {
        let schema: StoredSchema = TEXT.parse().unwrap();
        let mut lines: Vec<_> = TEXT.lines().collect();
        lines.swap(9, 10);
        let other = lines.join("\n").replace("entity Employee", "entity Person");
        let other = other.replace("Company", "COMPANY").replace("Ages", "AGES");
        let other = other.replace(" id ", " number ").replace("\"empid_\"", "\"emp\"\nRowKey \"id_\"");
        assert_eq!(other.parse::<StoredSchema>().unwrap().fingerprint(), schema.fingerprint());
    }
}
