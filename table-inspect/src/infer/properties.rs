//! Infers the properties of a kind: their names and types, and which of them repeat a key part.

use std::collections::{HashMap, HashSet};

use table_core::schema::ENTITY_TYPE;
use table_core::{EdmType, TableEntity, Value};

use crate::infer::key::Piece;
use crate::infer::part::Codec;

/// The maximum number of properties that are declared. If a table uses values as property names, each row would otherwise add a property.
const PROPERTIES: usize = 1_000;

/// A property of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The stored property name.
    pub name: String,
    /// The struct field name.
    pub field: String,
    /// The type of the property in most rows.
    pub edm: EdmType,
    /// `true` if the property is absent from some rows.
    pub optional: bool,
    /// `true` if the value is split into several properties: `Data`, `Data1` and so on.
    pub is_chunked: bool,
    /// The value in each row, in row order. Empty if the property is absent from some rows.
    values: Vec<Value>,
}

/// Infers the properties of rows, in order of first occurrence.
pub(super) fn of(rows: &[&TableEntity], has_kind: bool, notes: &mut Vec<String>) -> Vec<Property> {
    let (mut positions, mut found) = (HashMap::<&str, usize>::new(), Vec::<(&str, Vec<&Value>)>::new());
    for (name, value) in rows.iter().flat_map(|row| row.iter()) {
        if has_kind && name == ENTITY_TYPE {
            continue;
        }
        let next = positions.len();
        let at = *positions.entry(name).or_insert(next);
        match found.get_mut(at) {
            Some((_, values)) => values.push(value),
            None if at < PROPERTIES => found.push((name, vec![value])),
            None => {}
        }
    }
    if let more @ 1.. = positions.len().saturating_sub(PROPERTIES) {
        notes.push(format!("{more} more properties are not declared"));
    }
    let chunked = chunked(rows, &found.iter().map(|(name, _)| *name).collect());
    let is_chunk = |name: &str| {
        let base = name.trim_end_matches(|last: char| last.is_ascii_digit());
        base != name && chunked.contains(base)
    };
    let whole = found.iter().filter(|(name, _)| !is_chunk(name));
    whole.map(|(name, values)| property(rows.len(), name, values, chunked.contains(name), notes)).collect()
}

/// Returns the names of values that are split into chunks. In every row, each chunk of such a value except the last must be full.
fn chunked<'a>(rows: &[&'a TableEntity], names: &HashSet<&'a str>) -> HashSet<&'a str> {
    let has_second = |name: &&&str| names.contains(format!("{name}1").as_str());
    let mut bases: HashSet<&str> = names.iter().filter(has_second).copied().collect();
    for row in rows {
        if bases.is_empty() {
            break;
        }
        // Counts, for each of these values, the properties of the row whose names are the value's name and a number.
        let mut numbered: HashMap<&str, usize> = HashMap::new();
        for (name, _) in row.iter() {
            if bases.contains(name) {
                numbered.entry(name).or_default();
            }
            let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
            for length in name.len() - digits..name.len() {
                if let Some(base) = name.get(..length).filter(|base| bases.contains(*base)) {
                    *numbered.entry(base).or_default() += 1;
                }
            }
        }
        for (base, numbered) in numbered {
            if !are_chunks(row, base, numbered) {
                bases.remove(base);
            }
        }
    }
    bases
}

/// Returns `true` if all numbered properties of a value are its chunks. Each chunk except the last must be full.
fn are_chunks(row: &TableEntity, base: &str, numbered: usize) -> bool {
    let name = |at: usize| if at == 0 { base.to_owned() } else { format!("{base}{at}") };
    let chunks: Vec<_> = (0..).map_while(|at| row.get(&name(at))).collect();
    let before_last = chunks.len().saturating_sub(1);
    numbered == before_last && chunks.iter().take(before_last).all(|chunk| is_full(chunk))
}

/// Returns `true` if a chunk has the maximum size of 64 KiB. A full text chunk may be one code unit shorter if a surrogate pair would not fit.
fn is_full(chunk: &Value) -> bool {
    match chunk {
        Value::Binary(bytes) => bytes.len() == 65_536,
        Value::String(text) => matches!(text.encode_utf16().count(), 32_767 | 32_768),
        _ => false,
    }
}

fn property(
    rows: usize,
    name: &str,
    values: &[&Value],
    is_chunked: bool,
    notes: &mut Vec<String>,
) -> Property {
    let count = |edm: EdmType| values.iter().filter(|value| value.edm_type() == edm).count();
    let edm = EdmType::ALL.into_iter().max_by_key(|edm| count(*edm)).unwrap_or(EdmType::String);
    let others = values.len() - count(edm);
    if others > 0 {
        notes.push(format!("`{name}` is {edm} in most rows and of another type in {others}, which the declaration does not read"));
    }
    let optional = values.len() < rows;
    let values = if optional { Vec::new() } else { values.iter().map(|value| (*value).clone()).collect() };
    Property { name: name.to_owned(), field: String::new(), edm, optional, is_chunked, values }
}

/// Uses the property's field for the key part if the property equals the key part in every row.
pub(super) fn unify(piece: &mut Piece, properties: &mut [Property]) {
    let Piece::Part { field, codec, texts, is_property } = piece else { return };
    let is_same = |property: &Property| {
        texts.len() > 1
            && texts.len() == property.values.len()
            && texts.iter().zip(&property.values).all(|(text, value)| writes(codec, value, text))
    };
    if let Some(property) = properties.iter_mut().find(|property| is_same(property)) {
        field.clone_from(&property.field);
        *is_property = true;
        property.is_chunked = false;
    }
}

/// Returns `true` if the codec encodes this value as `text`. A field of the codec's type must also be storable as a property of the value's type.
fn writes(codec: &Codec, value: &Value, text: &str) -> bool {
    match (codec, value) {
        (Codec::Text | Codec::Without(_), Value::String(value)) => value == text,
        (Codec::Guid, Value::Guid(value)) => value.to_string() == text,
        (Codec::GuidSimple, Value::Guid(value)) => value.simple().to_string() == text,
        (Codec::Ticks, Value::DateTime(at)) => {
            table_core::ticks::from_datetime(*at).is_some_and(|ticks| ticks.to_string() == text)
        }
        (Codec::InvertedTicks, Value::DateTime(at)) => table_core::ticks::from_datetime(*at)
            .and_then(table_core::ticks::invert)
            .is_some_and(|ticks| format!("{ticks:019}") == text),
        // A `u32` field is stored as `Edm.Int64`.
        (Codec::Digits(width @ 0..=9), Value::Int64(number)) => format!("{number:0width$}") == text,
        (Codec::Unpadded, Value::Int64(number)) => number.to_string() == text,
        _ => false,
    }
}
