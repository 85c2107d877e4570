//! Inference of a kind's properties: names, types, and repetition of key parts.

use table_core::schema::ENTITY_TYPE;
use table_core::{EdmType, TableEntity, Value};

use crate::infer::key::Piece;
use crate::infer::part::Codec;

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
    /// The value in each row, in row order.
    values: Vec<Option<Value>>,
}

/// Infers the properties of rows, in order of first occurrence.
pub(super) fn of(rows: &[&TableEntity], has_kind: bool, notes: &mut Vec<String>) -> Vec<Property> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| row.iter()) {
        let is_kind = has_kind && name == ENTITY_TYPE;
        if !is_kind && !names.contains(&name) {
            names.push(name);
        }
    }
    let chunked: Vec<&str> = names.iter().copied().filter(|name| are_chunks(rows, name, &names)).collect();
    let is_chunk = |name: &str| {
        let base = name.trim_end_matches(|last: char| last.is_ascii_digit());
        base != name && chunked.contains(&base)
    };
    let whole = names.iter().copied().filter(|name| !is_chunk(name));
    whole.map(|name| property(rows, name, chunked.contains(&name), notes)).collect()
}

/// Returns `true` if the named properties are chunks of one value: in every row, each chunk but the last is full.
fn are_chunks(rows: &[&TableEntity], base: &str, names: &[&str]) -> bool {
    let name = |at: usize| if at == 0 { base.to_owned() } else { format!("{base}{at}") };
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let is_value = |row: &&TableEntity| {
        let chunks: Vec<_> = (0..).map_while(|at| row.get(&name(at))).collect();
        let numbered = row.iter().filter(|(name, _)| name.strip_prefix(base).is_some_and(is_number)).count();
        let before_last = chunks.len().saturating_sub(1);
        numbered == before_last && chunks.iter().take(before_last).all(|chunk| is_full(chunk))
    };
    names.contains(&name(1).as_str()) && rows.iter().all(is_value)
}

/// Returns `true` if a chunk has the maximum size of 64 KiB. A full text chunk may also be one code unit shorter, if a surrogate pair would not fit.
fn is_full(chunk: &Value) -> bool {
    match chunk {
        Value::Binary(bytes) => bytes.len() == 65_536,
        Value::String(text) => matches!(text.encode_utf16().count(), 32_767 | 32_768),
        _ => false,
    }
}

fn property(rows: &[&TableEntity], name: &str, is_chunked: bool, notes: &mut Vec<String>) -> Property {
    let values: Vec<Option<Value>> = rows.iter().map(|row| row.get(name).cloned()).collect();
    let count = |edm: EdmType| values.iter().flatten().filter(|value| value.edm_type() == edm).count();
    let edm = EdmType::ALL.into_iter().max_by_key(|edm| count(*edm)).unwrap_or(EdmType::String);
    let others = values.iter().flatten().count() - count(edm);
    if others > 0 {
        notes.push(format!("`{name}` is {edm} in most rows and of another type in {others}, which the declaration does not read"));
    }
    let optional = values.iter().any(Option::is_none);
    Property { name: name.to_owned(), field: String::new(), edm, optional, is_chunked, values }
}

/// Gives a key part the field of the property that equals it in every row, if any.
pub(super) fn unify(piece: &mut Piece, properties: &mut [Property]) {
    let Piece::Part { field, codec, texts, is_property } = piece else { return };
    let is_same = |property: &Property| {
        texts.len() > 1
            && texts
                .iter()
                .zip(&property.values)
                .all(|(text, value)| value.as_ref().is_some_and(|value| writes(codec, value, text)))
    };
    if let Some(property) = properties.iter_mut().find(|property| is_same(property)) {
        field.clone_from(&property.field);
        *is_property = true;
        property.is_chunked = false;
    }
}

/// Returns `true` if the codec encodes this value as `text`, and a field of the codec's type can be stored as a property of the value's type.
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
