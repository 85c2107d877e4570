//! Kinds of rows: entities, index rows, and the library's internal rows. The kind of a row depends on its key.

use table_core::limits::SELECT_NAMES;
use table_core::query::{KeyRange, Select, TextRange};
use table_core::schema::{ENTITY_TYPE, Source, StoredIndex, StoredPiece, StoredSchema};
use table_core::{EntityKey, TableEntity, Value};

use crate::keys::{self, Part, Segment};
use crate::patterns::{EntityType, Pattern, Patterns};
use crate::value;

pub use crate::reserved::RESERVED;

/// The kind of a row.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// An entity of the type with this schema.
    Entity(&'a StoredSchema),
    /// An index row: a copy of an entity, or a list of keys.
    Index(&'a StoredSchema, &'a StoredIndex),
    /// An internal row. The field is the word in its RowKey: `outbox`, `poison`, `feed` or `guard`.
    Reserved(&'a str),
    /// A row that matches no schema and is not an internal row.
    Unknown,
}

impl PartialEq for Kind<'_> {
    /// Compares schemas by content. Two references to the same schema are equal without a comparison.
    fn eq(&self, other: &Self) -> bool {
        fn is_same<T: PartialEq>(one: &T, other: &T) -> bool {
            std::ptr::eq(one, other) || one == other
        }
        match (self, other) {
            (Self::Entity(one), Self::Entity(other)) => is_same(*one, *other),
            (Self::Index(one, index), Self::Index(other, other_index)) => {
                is_same(*index, *other_index) && is_same(*one, *other)
            }
            (Self::Reserved(one), Self::Reserved(other)) => one == other,
            (Self::Unknown, Self::Unknown) => true,
            _ => false,
        }
    }
}

impl Kind<'_> {
    /// Returns the name of the kind. Kind names are unique within a table.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Entity(schema) => &schema.entity,
            Self::Index(_, index) => &index.name,
            Self::Reserved(word) => word,
            Self::Unknown => "unexplained",
        }
    }

    /// Returns the pieces of `PartitionKey` and `RowKey`, or `None` if the kind has no schema.
    #[must_use]
    pub fn pieces(&self) -> Option<(&[StoredPiece], &[StoredPiece])> {
        match self {
            Self::Entity(schema) => Some((&schema.partition_key, &schema.row_key)),
            Self::Index(schema, index) => {
                Some((index.partition_key.as_ref().unwrap_or(&schema.partition_key), &index.row_key))
            }
            Self::Reserved(_) | Self::Unknown => None,
        }
    }
}

/// Classifies a row of `table`. `schemas` are the schemas of all tables in the store.
///
/// Several schemas may match the keys. Then the schema whose kind is the row's `EntityType` comes first, followed by schemas without a kind and indexes. Among
/// equals, the schema with the most literal characters comes first.
///
/// If the keys match a schema with a kind, but the row has a different `EntityType`, the row is `Unknown`. It is not `Unknown` if an index, or a schema that
/// declares `EntityType` as a property, also matches it.
///
/// ```
/// use table_core::TableEntity;
/// use table_core::schema::StoredSchema;
/// use table_inspect::kind::{self, Kind};
///
/// let schema: StoredSchema = "schema 1\nentity Employee\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
///     RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\n"
///     .parse()?;
/// let schemas = [("company".to_owned(), schema)];
/// assert_eq!(kind::of("Company", &TableEntity::new("Sales", "empid_000223")?, &schemas).name(), "Employee");
/// assert_eq!(kind::of("Company", &TableEntity::new("Sales", "223")?, &schemas), Kind::Unknown);
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn of<'a>(table: &str, row: &'a TableEntity, schemas: &'a [(String, StoredSchema)]) -> Kind<'a> {
    Kinds::new(table, schemas).of(row)
}

/// A classifier for many rows of a table.
#[derive(Clone, Debug)]
pub struct Kinds<'a> {
    patterns: Patterns<Kind<'a>>,
}

impl<'a> Kinds<'a> {
    /// Collects the kinds of rows that the schemas of all tables in the store declare for `table`.
    #[must_use]
    pub fn new(table: &str, schemas: &'a [(String, StoredSchema)]) -> Self {
        Self { patterns: patterns(table, schemas, |kind| kind) }
    }

    /// Classifies a row of the table like [`of`].
    #[must_use]
    pub fn of<'r>(&self, row: &'r TableEntity) -> Kind<'r>
    where
        'a: 'r,
    {
        let (partition_key, row_key) = (row.key().partition_key.as_str(), row.key().row_key.as_str());
        if let Some(rest) = row_key.strip_prefix(RESERVED) {
            return Kind::Reserved(rest.split('_').next().unwrap_or_default());
        }
        let entity_type = row.get(ENTITY_TYPE).map(|found| match found {
            Value::String(found) => found.as_str(),
            // A kind is never empty.
            _ => "",
        });
        self.patterns.of_keys(partition_key, row_key, entity_type).copied().unwrap_or(Kind::Unknown)
    }

    /// Adds `EntityType` to the properties in `shown`, because [`of`](Self::of) reads it. Returns `shown` unchanged if no kind has an `EntityType`, or if a
    /// query cannot select one more property.
    ///
    /// ```
    /// use table_core::query::Select;
    /// use table_core::schema::StoredSchema;
    /// use table_inspect::kind::Kinds;
    ///
    /// let cat: StoredSchema =
    ///     "schema 1\nentity Cat\ntable Pets\nkind Cat\nPartitionKey \"p\"\nRowKey name text 0..512 ordered legal\n".parse()?;
    /// let schemas = [("pets".to_owned(), cat)];
    /// let select = Kinds::new("Pets", &schemas).select(&Select::names(["Age"]));
    /// assert!(select.contains("EntityType") && select.contains("Age"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn select(&self, shown: &Select) -> Select {
        match shown {
            Select::Names(names) if names.len() < SELECT_NAMES && self.patterns.need_entity_type() => {
                Select::names(names.iter().cloned().chain([ENTITY_TYPE.into()]))
            }
            _ => shown.clone(),
        }
    }
}

/// Returns the key patterns of a table. Each has the value that `describe` returns for its kind. `schemas` are the schemas of all tables in the store.
///
/// See [`Patterns`] for an example.
pub fn patterns<'a, T>(
    table: &str,
    schemas: &'a [(String, StoredSchema)],
    describe: impl Fn(Kind<'a>) -> T,
) -> Patterns<T> {
    let pattern = |kind: Kind<'a>| {
        let (partition_key, row_key) = kind.pieces()?;
        let (partition_key, row_key) = (partition_key.to_vec(), row_key.to_vec());
        let entity_type = match kind {
            Kind::Entity(schema) => entity_type_of(schema),
            Kind::Index(..) | Kind::Reserved(_) | Kind::Unknown => EntityType::Any,
        };
        Some(Pattern { partition_key, row_key, entity_type, value: describe(kind) })
    };
    Patterns::new(of_table(table, schemas).filter_map(pattern).collect())
}

/// Returns the `EntityType` values that the entities of a type can have.
fn entity_type_of(schema: &StoredSchema) -> EntityType {
    match &schema.kind {
        Some(kind) => EntityType::Only(kind.clone()),
        None if schema.properties.iter().any(|property| property.name == ENTITY_TYPE) => EntityType::Any,
        None => EntityType::None,
    }
}

/// Returns the kinds of rows that the schemas of the store declare for a table. For each schema, its entities come first, then its index rows.
pub fn of_table<'a>(table: &str, schemas: &'a [(String, StoredSchema)]) -> impl Iterator<Item = Kind<'a>> {
    let folded = table.to_ascii_lowercase();
    schemas.iter().flat_map(move |(of, schema)| {
        let is_here = *of == folded;
        let indexes = schema.indexes.iter().filter({
            let folded = folded.clone();
            move |index| index.table.as_ref().map_or(is_here, |other| other.to_ascii_lowercase() == folded)
        });
        let entity = is_here.then_some(Kind::Entity(schema));
        entity.into_iter().chain(indexes.map(move |index| Kind::Index(schema, index)))
    })
}

/// Returns the segments of both keys, or `None` if the keys do not match the kind. Parts are named by [label](keys::labels).
#[must_use]
pub fn segments(kind: &Kind<'_>, key: &EntityKey) -> Option<(Vec<Segment>, Vec<Segment>)> {
    let (partition_pieces, row_pieces) = kind.pieces()?;
    let mut partition_key = keys::segments(partition_pieces, key.partition_key.as_str())?;
    let mut row_key = keys::segments(row_pieces, key.row_key.as_str())?;
    let names = partition_key.iter_mut().chain(&mut row_key).filter_map(|segment| match segment {
        Segment::Literal(_) => None,
        Segment::Part { name, .. } => Some(name),
    });
    for (name, label) in names.zip(keys::labels(partition_pieces, row_pieces)) {
        *name = label;
    }
    Some((partition_key, row_key))
}

/// Returns the key parts of a row of this kind. The list is empty if the key does not match the kind.
#[must_use]
pub fn parts(kind: &Kind<'_>, key: &EntityKey) -> Vec<Part> {
    let Some((partition_key, row_key)) = segments(kind, key) else { return Vec::new() };
    let part = |segment: Segment| match segment {
        Segment::Literal(_) => None,
        Segment::Part { name, value, .. } => Some(Part { name, value }),
    };
    partition_key.into_iter().chain(row_key).filter_map(part).collect()
}

/// The location of an index row.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexRow<'a> {
    /// The index.
    pub index: &'a StoredIndex,
    /// The name of the table that contains the row.
    pub table: &'a str,
    /// The row's key, or a key range if a key part cannot be computed.
    pub keys: KeyRange,
}

/// Returns the locations of the index rows of an entity. An index is omitted if the entity lacks a value for a part of the index key.
#[must_use]
pub fn index_rows<'a>(schema: &'a StoredSchema, entity: &TableEntity) -> Vec<IndexRow<'a>> {
    let key = entity.key();
    let own = KeyParts::new([
        (&schema.partition_key, key.partition_key.as_str()),
        (&schema.row_key, key.row_key.as_str()),
    ]);
    let property = |name: &str| entity.get(name).map(value::show);
    let range = |pieces: &[StoredPiece]| {
        let mut prefix = String::new();
        for piece in pieces {
            match own
                .text(piece)
                .or_else(|| encoded(piece, own.value(piece).or_else(|| property(name_of(piece)))))
            {
                Some(text) => prefix.push_str(&text),
                None => return TextRange::prefix(&prefix),
            }
        }
        TextRange::exactly(prefix)
    };
    let row = |index: &'a StoredIndex| {
        let mut pieces = index.row_key.iter().chain(index.partition_key.iter().flatten());
        let has_all = pieces.all(|piece| {
            let is_literal = matches!(piece, StoredPiece::Literal(_));
            is_literal || own.has(piece) || property(name_of(piece)).is_some()
        });
        let partition_key = match &index.partition_key {
            Some(pieces) => range(pieces),
            None => TextRange::exactly(key.partition_key.as_str()),
        };
        let keys = KeyRange { partition_key, row_key: range(&index.row_key) };
        has_all.then(|| IndexRow { index, table: index.table.as_deref().unwrap_or(&schema.table), keys })
    };
    schema.indexes.iter().filter_map(row).collect()
}

/// Returns the key of the entity from which an index row was copied. Returns `None` if the row is a list of keys, or does not contain all parts of the entity's
/// key.
#[must_use]
pub fn owner(schema: &StoredSchema, index: &StoredIndex, row: &TableEntity) -> Option<EntityKey> {
    let partition_key = index.partition_key.as_ref().unwrap_or(&schema.partition_key);
    let key = row.key();
    let own =
        KeyParts::new([(partition_key, key.partition_key.as_str()), (&index.row_key, key.row_key.as_str())]);
    let text = |piece: &StoredPiece| {
        own.text(piece).or_else(|| match own.value(piece) {
            Some(value) => encoded(piece, Some(value)),
            None => stored(piece, row.get(name_of(piece)).map(value::show)?),
        })
    };
    let partition_key: String = schema.partition_key.iter().map(text).collect::<Option<_>>()?;
    let row_key: String = schema.row_key.iter().map(text).collect::<Option<_>>()?;
    EntityKey::new(partition_key, row_key).ok()
}

/// The parts of a row's keys, each with its source, codec and encoded value.
struct KeyParts(Vec<(Source, String, String)>);

impl KeyParts {
    fn new(keys: [(&Vec<StoredPiece>, &str); 2]) -> Self {
        Self(keys.iter().flat_map(|(pieces, text)| keys::parts(pieces, text).unwrap_or_default()).collect())
    }

    /// Returns `true` if a part of the keys has the same field as `piece`.
    fn has(&self, piece: &StoredPiece) -> bool {
        self.0.iter().any(|(source, ..)| keys::name_of(source) == name_of(piece))
    }

    /// Returns the text of a literal. For a part, returns the encoded value of the key part with the same field and codec.
    fn text(&self, piece: &StoredPiece) -> Option<String> {
        let StoredPiece::Part { source, codec, .. } = piece else {
            return Some(literal_of(piece).to_owned());
        };
        let is_same = |(other, written, _): &&(Source, String, String)| {
            keys::name_of(other) == keys::name_of(source) && written == codec
        };
        self.0.iter().find(is_same).map(|(.., text)| text.clone())
    }

    /// Returns the human-readable value of the field of `piece`. Returns `None` if no key part determines it.
    fn value(&self, piece: &StoredPiece) -> Option<String> {
        let determines = |(source, codec, _): &&(Source, String, String)| {
            keys::name_of(source) == name_of(piece) && !keys::is_derived(codec)
        };
        self.0.iter().find(determines).map(|(_, codec, text)| keys::decode_text(codec, text))
    }
}

/// Encodes a value. Returns `None` if the part cannot have the value, or if only the program can compute its encoding.
fn encoded(piece: &StoredPiece, value: Option<String>) -> Option<String> {
    let StoredPiece::Part { codec, .. } = piece else { return None };
    let value = value.filter(|_| !keys::is_derived(codec))?;
    keys::row_range(std::slice::from_ref(piece), |_| Some(&value)).single().map(str::to_owned)
}

/// Returns the encoded value of a part that is not in the index row's key. `text` is the value of the property that stores the part.
fn stored(piece: &StoredPiece, text: String) -> Option<String> {
    let StoredPiece::Part { codec, form, .. } = piece else { return None };
    let fits = (form.min..=form.max).contains(&text.encode_utf16().count())
        && text.chars().all(|character| form.alphabet.contains(character));
    if fits && !keys::is_derived(codec) { Some(text) } else { encoded(piece, Some(text)) }
}

/// Returns the name of a part's field, or an empty string for a literal.
fn name_of(piece: &StoredPiece) -> &str {
    keys::source_of(piece).map(keys::name_of).unwrap_or_default()
}

/// Returns the text of a literal, or an empty string for a part.
fn literal_of(piece: &StoredPiece) -> &str {
    match piece {
        StoredPiece::Literal(literal) => literal,
        StoredPiece::Part { .. } => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schemas() -> Vec<(String, StoredSchema)> {
        let ticket: StoredSchema =
            "schema 1\nentity Ticket\ntable Desk\nPartitionKey tenant text 0..512 ordered legal\n\
            RowKey \"ticket_\"\nRowKey number digits(6) 6 ordered [0-9]\nproperty Status Edm.String\n"
                .parse()
                .unwrap();
        let number = ticket.row_key[1].clone();
        let by_status = StoredIndex {
            name: "ByStatus".into(),
            kind: table_core::schema::IndexKind::Copies,
            unique: false,
            sparse: false,
            when: None,
            table: None,
            partition_key: None,
            row_key: vec![
                StoredPiece::Literal("status_".into()),
                StoredPiece::Part {
                    source: Source::Property("Status".into()),
                    codec: "text".into(),
                    form: match &ticket.partition_key[0] {
                        StoredPiece::Part { form, .. } => *form,
                        StoredPiece::Literal(_) => unreachable!("the partition is one part"),
                    },
                },
                StoredPiece::Literal("_".into()),
                number,
            ],
            include: None,
            properties: Vec::new(),
        };
        let mut ticket = ticket;
        ticket.indexes.push(by_status);
        vec![("desk".to_owned(), ticket)]
    }

    #[test]
    fn rows_are_distinguished_and_linked_both_ways() {
        let schemas = schemas();
        let ticket = TableEntity::new("contoso", "ticket_000017").unwrap().with("Status", "Open");
        let Kind::Entity(schema) = of("Desk", &ticket, &schemas) else { panic!("an entity") };
        let rows = index_rows(schema, &ticket);
        assert_eq!(rows[0].keys, KeyRange::point("contoso", "status_Open_000017"));
        let copy = TableEntity::new("contoso", "status_Open_000017").unwrap();
        let Kind::Index(schema, index) = of("desk", &copy, &schemas) else { panic!("a copy") };
        assert_eq!(owner(schema, index, &copy).as_ref(), Some(ticket.key()));
        let feed = TableEntity::new("contoso", "\u{FFFC}feed_0001").unwrap();
        assert_eq!(of("Desk", &feed, &schemas), Kind::Reserved("feed"));
    }

    #[test]
    fn an_entity_without_a_value_has_no_index_row() {
        let schemas = schemas();
        let ticket = TableEntity::new("contoso", "ticket_000017").unwrap();
        assert!(index_rows(&schemas[0].1, &ticket).is_empty());
    }
}
