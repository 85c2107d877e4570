//! Properties: stored name and type.

use proc_macro2::Span;
use syn::Ident;
use syn::ext::IdentExt;

use crate::attr::field::FieldAttrs;

/// A stored field.
#[derive(Clone)]
pub(crate) struct Property {
    /// The name in the store.
    pub(crate) name: String,
    /// The span of the name: the attribute's text or the field.
    pub(crate) span: Span,
    /// `true` if it is stored as JSON.
    pub(crate) json: bool,
    /// `true` if it is the first of several chunks.
    pub(crate) chunks: bool,
}

/// The maximum number of chunks; the runtime has the same constant.
const MOST_CHUNKS: usize = 16;

impl Property {
    /// Returns the property of a field.
    pub(crate) fn of(field: &Ident, attrs: &FieldAttrs) -> Self {
        let (name, span) = match &attrs.name {
            Some(name) => (name.value(), name.span()),
            None => (pascal_case(&field.unraw().to_string()), field.span()),
        };
        Self { name, span, json: attrs.json.is_some(), chunks: attrs.chunks.is_some() }
    }

    /// Iterates over all names that it is stored under.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.name.clone()).chain(self.more_chunks())
    }

    /// Iterates over the names of the chunks after the first: `Data1`, `Data2` and so on.
    pub(crate) fn more_chunks(&self) -> impl Iterator<Item = String> {
        let count = if self.chunks { MOST_CHUNKS } else { 1 };
        (1..count).map(|at| format!("{}{at}", self.name))
    }
}

/// Converts `first_name` to `FirstName`. Only an `_` before a letter is removed: `hour_00` becomes `Hour00`, and `a_1_1` becomes `A1_1`, which
/// differs from `a_11`.
pub(crate) fn pascal_case(name: &str) -> String {
    let mut pascal = String::with_capacity(name.len());
    let mut begins = true;
    let mut after_digit = false;
    for character in name.chars() {
        if character == '_' {
            begins = true;
            continue;
        }
        if begins {
            if after_digit && character.is_numeric() {
                pascal.push('_');
            }
            pascal.extend(character.to_uppercase());
        } else {
            pascal.push(character);
        }
        begins = false;
        after_digit = character.is_numeric();
    }
    pascal
}

/// Converts `first_name` to `FIRST_NAME`, the name of the typed column.
pub(crate) fn upper_case(name: &str) -> String {
    name.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pascal_case() {
        for (field, property) in [
            ("first_name", "FirstName"),
            ("id", "Id"),
            ("hour_00", "Hour00"),
            ("a_1_1", "A1_1"),
            ("a_11", "A11"),
            ("_private", "Private"),
            ("straße", "Straße"),
            ("x2_y", "X2Y"),
        ] {
            assert_eq!(pascal_case(field), property);
        }
    }
}
