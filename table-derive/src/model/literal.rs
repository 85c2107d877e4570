//! Literals of a key that look like fields: `"id"` and `"empid_{id}"` in place of `id`.

use syn::LitStr;
use syn::ext::IdentExt;

use crate::attr::container::KeyAttr;
use crate::attr::index::IndexAttr;
use crate::attr::piece::{PieceAttr, PieceList};
use crate::ctxt::Ctxt;
use crate::model::Field;
use crate::symbol::LITERAL;

/// Reports literals that spell a field of the struct which no key of their row holds, or that have the place of one in braces: every
/// entity would have one and the same text there.
pub(super) fn check(ctxt: &Ctxt, fields: &[Field<'_>], keys: [Option<&KeyAttr>; 2], indexes: &[IndexAttr]) {
    let [partition_key, row_key] = keys.map(|key| key.map(|key| &key.list));
    check_keys(ctxt, fields, [partition_key, row_key], true);
    for index in indexes {
        let own = index.partition_key.as_ref();
        check_keys(ctxt, fields, [own.or(partition_key), index.row_key.as_ref()], own.is_some());
    }
}

/// The keys of one row; the `PartitionKey` of an index may be the entity's, which is looked at already.
fn check_keys(ctxt: &Ctxt, fields: &[Field<'_>], keys: [Option<&PieceList>; 2], has_own_partition: bool) {
    let mut parts = Vec::new();
    for piece in keys.into_iter().flatten().flat_map(|list| &list.pieces) {
        if let PieceAttr::Part { field, .. } = piece {
            parts.push(field.unraw().to_string());
        }
    }
    let looked_at = keys.into_iter().skip(usize::from(!has_own_partition)).flatten();
    for piece in looked_at.flat_map(|list| &list.pieces) {
        if let PieceAttr::Literal(text) = piece {
            check_literal(ctxt, fields, &parts, text);
        }
    }
}

fn check_literal(ctxt: &Ctxt, fields: &[Field<'_>], parts: &[String], text: &LitStr) {
    let value = text.value();
    let name = |field: &Field<'_>| field.ident.unraw().to_string();
    let wanted = fields.iter().map(name).find(|name| *name == value && !parts.contains(name));
    let braces = || placeholder(&value, |inside| fields.iter().any(|field| name(field) == inside));
    let (wrong, right) = if let Some(name) = wanted {
        (
            format!("this is the text \"{name}\", and not the field `{name}`"),
            format!("write the field without quotes: `{name}`"),
        )
    } else if let Some((before, inside, after)) = braces() {
        let right =
            [quoted(before), Some(field_of(inside)), quoted(after)].into_iter().flatten().collect::<Vec<_>>();
        let wrong = format!("a literal is not a format string: `{{{inside}}}` stands in the key as it is");
        (wrong, format!("texts and fields are pieces of their own: `{}`", right.join(", ")))
    } else {
        return;
    };
    let help = format!("{right}; if the text itself is meant, write `{LITERAL}({value:?})`");
    ctxt.error("T038", text, wrong, help);
}

/// The text before the first `{…}` that a format would fill, what is in it, and the text after it.
fn placeholder(text: &str, is_field: impl Fn(&str) -> bool) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let name = inside.split(':').next().unwrap_or_default();
    let fills = name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) || is_field(name);
    fills.then_some((before, inside, after))
}

fn quoted(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("{text:?}"))
}

fn field_of(inside: &str) -> String {
    let name = inside.split(':').next().unwrap_or_default();
    if name.starts_with(|first: char| !first.is_ascii_digit()) { name.to_owned() } else { "field".to_owned() }
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
}
