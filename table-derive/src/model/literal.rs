//! Literals that look like fields: `"id"` or `"empid_{id}"` instead of `id`.

use syn::ext::IdentExt;
use syn::{LitStr, Type};

use crate::attr::container::KeyAttr;
use crate::attr::format;
use crate::attr::index::IndexAttr;
use crate::attr::piece::{PieceAttr, PieceList};
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::Field;
use crate::symbol::LITERAL;

/// Reports literals that contain a placeholder, or that are spelled like a field missing from the row's keys. Every entity's key would contain the text of such
/// a literal instead of the field's value. A reported literal is marked as wrong, so no other rule reports it again.
pub(super) fn check(
    ctxt: &Ctxt,
    fields: &[Field<'_>],
    partition: &mut Option<KeyAttr>,
    row: &mut Option<KeyAttr>,
    indexes: &mut [IndexAttr],
) {
    let lists = |key: &Option<KeyAttr>| key.as_ref().map(|key| parts(&key.list)).unwrap_or_default();
    let (of_partition, of_row) = (lists(partition), lists(row));
    let of_entity = [of_partition.as_slice(), &of_row].concat();
    for key in [partition, row].into_iter().flatten() {
        check_list(ctxt, fields, &of_entity, &mut key.list);
    }
    for index in indexes {
        let own = index.partition_key.as_ref().map_or_else(|| of_partition.clone(), parts);
        let of_index = [own, index.row_key.as_ref().map(parts).unwrap_or_default()].concat();
        for list in index.partition_key.iter_mut().chain(&mut index.row_key) {
            check_list(ctxt, fields, &of_index, list);
        }
    }
}

/// Returns the names of the fields in a key.
fn parts(list: &PieceList) -> Vec<String> {
    list.pieces.iter().filter_map(field_of).collect()
}

fn field_of(piece: &PieceAttr) -> Option<String> {
    match piece {
        PieceAttr::Part { field, .. } => Some(field.unraw().to_string()),
        PieceAttr::Literal(_) | PieceAttr::Meant(_) | PieceAttr::Wrong(_) => None,
    }
}

fn check_list(ctxt: &Ctxt, fields: &[Field<'_>], parts: &[String], list: &mut PieceList) {
    for at in 0..list.pieces.len() {
        let mut rest = list.pieces.iter().skip(at);
        let Some(PieceAttr::Literal(text)) = rest.next() else { continue };
        let next = rest.find_map(field_of);
        if check_literal(ctxt, fields, parts, text, next.as_deref()) {
            let names = grammar::names(text.value().parse().unwrap_or_default());
            list.broken = true;
            if let Some(piece) = list.pieces.get_mut(at) {
                *piece = PieceAttr::Wrong(names);
            }
        }
    }
}

/// Reports a literal that looks like a field. Returns `true` if it has been reported.
fn check_literal(
    ctxt: &Ctxt,
    fields: &[Field<'_>],
    parts: &[String],
    text: &LitStr,
    next: Option<&str>,
) -> bool {
    let value = text.value();
    let name = |field: &Field<'_>| field.ident.unraw().to_string();
    let wanted = fields.iter().map(name).find(|name| *name == value && !parts.contains(name));
    let is_field = |inside: &str| fields.iter().any(|field| name(field) == inside);
    let braces = || format::placeholder(&value, is_field);
    let (wrong, right) = if let Some(name) = wanted {
        (
            format!("this is the text `\"{name}\"`, not the field `{name}`"),
            format!("write `{name}`, the field without quotes"),
        )
    } else if let Some((_, inside, _)) = braces() {
        let mut right = format::pieces(&value, next, is_field);
        for piece in right.iter_mut().filter(|piece| piece.starts_with("pattern(")) {
            // A format such as `%Y-%m-%d` drops the smaller units of a timestamp, so the suggested piece needs `truncate`.
            let is_instant =
                |field: &Field<'_>| piece.ends_with(&format!(", {})", name(field))) && is_time(field.ty);
            if fields.iter().any(is_instant) {
                *piece = format!("truncate({piece})");
            }
        }
        let wrong = format!("a literal is not a format string; `{{{inside}}}` would be written as it is");
        (wrong, format!("write `{}`: literals and fields are separate pieces", right.join(", ")))
    } else {
        return false;
    };
    let help = format!("{right}; if you mean the text itself, write `{LITERAL}({value:?})`");
    ctxt.error("T038", text, wrong, help);
    true
}

fn is_time(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "DateTime"))
}
