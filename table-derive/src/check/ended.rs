//! Suggests key pieces that can be followed by further pieces. A string's value could contain any separator, so it is suggested with a terminator that its
//! encoding cannot contain.

use syn::Ident;

use crate::check::missing::may_be_part;
use crate::check::unsuitable::argument;
use crate::codec::Codec;
use crate::grammar;
use crate::model::index::Index;
use crate::model::key::Piece;
use crate::model::{Entity, Field};

/// Returns the pieces of an index's `RowKey`, followed by the separator that further pieces require: `"age_", age, "_"`.
pub(super) fn row_key(entity: &Entity<'_>, index: &Index) -> Vec<String> {
    let mut written = index.row_key_pieces();
    let pieces = index.row_key.as_ref().map_or(&[][..], |key| &key.pieces);
    let Some(last) = pieces.iter().rposition(|piece| matches!(piece, Piece::Part(_))) else {
        // An empty literal is allowed only as the entire key.
        written.retain(|literal| literal != "\"\"");
        return written;
    };
    let Some(Piece::Part(part)) = pieces.get(last) else { return written };
    let after = pieces.get(last + 1..).unwrap_or_default();
    let Some(place) = written.get_mut(last) else { return written };
    let (text, end) = ended(entity, part.field, &part.codec, std::mem::take(place));
    *place = text;
    // The next literal may already end the part.
    let is_ended = matches!(after.first(), Some(Piece::Literal(literal)) if end.is_none_or(|end| literal.value().starts_with(end)));
    if !is_ended {
        written.truncate(last + 1);
        written.push(literal(end));
    }
    written
}

/// Returns fields as key pieces, with separators between them: `escaped(name), "!", id`. Each field uses the codec in its attribute.
pub(super) fn fields<'n>(entity: &Entity<'_>, names: impl IntoIterator<Item = &'n Ident>) -> Vec<String> {
    // A key may contain two parts of one field, such as its bucket and its value.
    let mut once: Vec<&Ident> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    let Some((last, before)) = once.split_last() else { return Vec::new() };
    let before = before.iter().flat_map(|name| field(entity, name));
    before.chain([last.to_string()]).collect()
}

/// Returns a field as a key piece, followed by the separator that further pieces require.
pub(super) fn field(entity: &Entity<'_>, name: &Ident) -> [String; 2] {
    let mut fields = entity.fields.iter().enumerate();
    let Some((at, field)) = fields.find(|(_, field)| field.ident == name) else {
        return [name.to_string(), literal(None)];
    };
    let codec = Codec::Natural.or_own(field.attrs.codec.as_ref().map(|(_, codec)| codec));
    let (text, end) = ended(entity, at, &codec, name.to_string());
    [text, literal(end)]
}

/// Returns `true` if a field may be part of an index key, where its type may also be an `Option`.
pub(super) fn may_be_indexed(field: &Field<'_>) -> bool {
    may_be_part(field, argument(field.ty, "Option").unwrap_or(field.ty))
}

/// Returns the literal that ends a part, `_` by default. Any separator may follow a part with a restricted alphabet or a fixed width.
fn literal(end: Option<char>) -> String {
    format!("{:?}", end.unwrap_or('_').to_string())
}

/// Returns a part and its terminator. If `written`, the part as declared, needs a terminator but has none, it is rewritten. The terminator is `None` if any
/// separator can end the part.
fn ended(entity: &Entity<'_>, field: usize, codec: &Codec, written: String) -> (String, Option<char>) {
    if codec.is_hash() || codec.is_bucket() {
        return (written, None);
    }
    let mut innermost = codec;
    while let Some(inner) = innermost.inner() {
        innermost = inner;
    }
    if let Some(end) = innermost.end() {
        return (written, Some(end));
    }
    let Some(field) = entity.fields.get(field) else { return (written, None) };
    let is_open = match innermost {
        Codec::Natural | Codec::Level => is_text(field),
        other => other.writes_text(),
    };
    if !is_open {
        return (written, None);
    }
    let name = field.ident.to_string();
    let end_of_field = written.rfind(&name).map_or(written.len(), |at| at + name.len());
    // A codec in the field's attribute does not appear in the key.
    let word = innermost.word().and_then(|word| written.rfind(&format!("{}(", word.name)));
    let inner = match word {
        Some(start) => start..(end_of_field + 1).min(written.len()),
        None => end_of_field.saturating_sub(name.len())..end_of_field,
    };
    if written.get(inner.clone()).is_none() {
        return (written, None);
    }
    let mut escaped = written;
    escaped.replace_range(inner, &format!("escaped({name})"));
    (escaped, Some('!'))
}

/// Returns `true` if a field's type is `String` or `Option<String>`.
fn is_text(field: &Field<'_>) -> bool {
    let ty = grammar::type_text(field.ty);
    ty == "String" || ty == "Option<String>"
}
