//! Literals that look like fields: `"id"` or `"empid_{id}"` instead of `id`.

use syn::LitStr;
use syn::ext::IdentExt;

use crate::attr::container::KeyAttr;
use crate::attr::index::IndexAttr;
use crate::attr::piece::{PieceAttr, PieceList};
use crate::ctxt::Ctxt;
use crate::model::Field;
use crate::symbol::LITERAL;

/// Reports literals that spell the name of a field that no key of their row contains, or that contain a placeholder, because every entity would have
/// the same text there. A `PartitionKey` with such a literal is marked as broken, so it is not also reported as constant.
pub(super) fn check(
    ctxt: &Ctxt,
    fields: &[Field<'_>],
    partition: &mut Option<KeyAttr>,
    row: Option<&KeyAttr>,
    indexes: &[IndexAttr],
) {
    let row_key = row.map(|key| &key.list);
    if let Some(key) = partition {
        key.list.broken |= check_list(ctxt, fields, &parts([Some(&key.list), row_key]), &key.list);
    }
    let partition_key = partition.as_ref().map(|key| &key.list);
    if let Some(key) = row_key {
        check_list(ctxt, fields, &parts([partition_key, row_key]), key);
    }
    for index in indexes {
        let own = index.partition_key.as_ref();
        let parts = parts([own.or(partition_key), index.row_key.as_ref()]);
        for key in own.into_iter().chain(&index.row_key) {
            check_list(ctxt, fields, &parts, key);
        }
    }
}

/// Returns the fields that occur in the keys of one row.
fn parts(keys: [Option<&PieceList>; 2]) -> Vec<String> {
    let pieces = keys.into_iter().flatten().flat_map(|list| &list.pieces);
    let field = |piece: &PieceAttr| match piece {
        PieceAttr::Part { field, .. } => Some(field.unraw().to_string()),
        _ => None,
    };
    pieces.filter_map(field).collect()
}

/// Reports such literals in one key. Returns `true` if any was reported.
fn check_list(ctxt: &Ctxt, fields: &[Field<'_>], parts: &[String], list: &PieceList) -> bool {
    let mut wrong = false;
    for piece in &list.pieces {
        if let PieceAttr::Literal(text) = piece {
            wrong |= check_literal(ctxt, fields, parts, text);
        }
    }
    wrong
}

fn check_literal(ctxt: &Ctxt, fields: &[Field<'_>], parts: &[String], text: &LitStr) -> bool {
    let value = text.value();
    let name = |field: &Field<'_>| field.ident.unraw().to_string();
    let wanted = fields.iter().map(name).find(|name| *name == value && !parts.contains(name));
    let is_field = |inside: &str| fields.iter().any(|field| name(field) == inside);
    let braces = || placeholder(&value, is_field);
    let (wrong, right) = if let Some(name) = wanted {
        (
            format!("this is the text \"{name}\", not the field `{name}`"),
            format!("write the field without quotes: `{name}`"),
        )
    } else if let Some((_, inside, _)) = braces() {
        let right = pieces(&value, is_field);
        let wrong = format!("a literal is not a format string; `{{{inside}}}` would be written as it is");
        (wrong, format!("literals and fields are separate pieces: `{}`", right.join(", ")))
    } else {
        return false;
    };
    let help = format!("{right}; if you mean the text itself, write `{LITERAL}({value:?})`");
    ctxt.error("T038", text, wrong, help);
    true
}

/// Returns the literals and fields of a format string.
fn pieces(text: &str, is_field: impl Fn(&str) -> bool + Copy) -> Vec<String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, inside, after)) = placeholder(rest, is_field) {
        let before = before.strip_suffix('$').unwrap_or(before);
        pieces.extend(quoted(before).into_iter().chain([field_of(inside)]));
        rest = after;
    }
    pieces.extend(quoted(rest));
    pieces
}

/// Returns the text before the first placeholder, its content, and the text after it.
fn placeholder(text: &str, is_field: impl Fn(&str) -> bool) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let name = name_of(inside);
    let fills = name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) || is_field(name);
    fills.then_some((before, inside, after))
}

fn quoted(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("{text:?}"))
}

/// Returns the name in a placeholder, such as `id` in `id:06` or `self.id`.
fn name_of(inside: &str) -> &str {
    let name = inside.split(':').next().unwrap_or_default();
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns the piece for a placeholder, such as `id`, or `digits(6, id)` for `id:06`.
fn field_of(inside: &str) -> String {
    let name = name_of(inside);
    let name = if name.starts_with(|first: char| !first.is_ascii_digit()) { name } else { "field" };
    let width = inside.split_once(":0").or_else(|| inside.split_once(":D"));
    match width.and_then(|(_, width)| width.parse::<u8>().ok()) {
        Some(width @ 1..) => format!("digits({width}, {name})"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_format_would_fill_is_found() {
        let find = |text: &'static str| placeholder(text, |name| name == "id");
        assert_eq!(find("empid_{id}_x"), Some(("empid_", "id", "_x")));
        assert_eq!(find("{}"), Some(("", "", "")));
        assert_eq!(find("{0:D6}"), Some(("", "0:D6", "")));
        assert_eq!(find("{id:06}"), Some(("", "id:06", "")));
        assert_eq!((find("{"), find("{name}"), find("a}b{")), (None, None, None));
    }

    #[test]
    fn all_of_a_format_is_shown_as_pieces() {
        let shown = |text| pieces(text, |name| ["id", "name"].contains(&name)).join(", ");
        assert_eq!(shown("{name}_{id:06}"), r#"name, "_", digits(6, id)"#);
        assert_eq!(shown("e_{0:D4}"), r#""e_", digits(4, field)"#);
        assert_eq!(shown("emp_${id}"), r#""emp_", id"#);
        assert_eq!(shown("emp_${self.id}"), r#""emp_", id"#);
        assert_eq!(shown("a{}b{0}c"), r#""a", field, "b", field, "c""#);
        assert_eq!(shown("{id}{"), r#"id, "{""#);
    }
}
