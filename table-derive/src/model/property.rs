//! Properties: their stored names and types.

use proc_macro2::Span;
use syn::Ident;
use syn::ext::IdentExt;

use crate::attr::field::FieldAttrs;
use crate::casing::pascal_case;

/// The property that stores a field.
#[derive(Clone)]
pub(crate) struct Property {
    /// The name under which the property is stored.
    pub(crate) name: String,
    /// The span of the name in the attribute, or of the field if the name is derived from it.
    pub(crate) span: Span,
    /// `true` if the field is stored as JSON.
    pub(crate) json: bool,
    /// `true` if the property is the first of several chunks.
    pub(crate) chunks: bool,
}

/// The maximum number of chunks. The runtime defines the same constant.
const MOST_CHUNKS: usize = 16;

impl Property {
    /// Returns the property that stores a field.
    pub(crate) fn of(field: &Ident, attrs: &FieldAttrs) -> Self {
        let (name, span) = match &attrs.name {
            Some(name) => (name.value(), name.span()),
            None => (pascal_case(&field.unraw().to_string()), field.span()),
        };
        Self { name, span, json: attrs.json.is_some(), chunks: attrs.chunks.is_some() }
    }

    /// Returns the names of all properties that store the field.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.name.clone()).chain(self.more_chunks())
    }

    /// Returns the names of all chunks after the first: `Data1`, `Data2` and so on.
    pub(crate) fn more_chunks(&self) -> impl Iterator<Item = String> {
        let count = if self.chunks { MOST_CHUNKS } else { 1 };
        (1..count).map(|at| format!("{}{at}", self.name))
    }
}
