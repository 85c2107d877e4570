//! Generates code that writes an entity: its keys and its row.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use syn::Token;

use crate::expand::key::{Design, KeyField};
use crate::expand::schema::AsProperty;
use crate::model::key::{Key, Piece};
use crate::model::property::Property;
use crate::model::{Entity, Field};

/// Generates `encode_key`, which writes both keys of an entity:
///
/// ```text
/// fn encode_key(&self, partition_key: &mut String, row_key: &mut String) -> Result<()> {
///     encoded([
///         put(partition_key, "", "department", &self.department, <<String as KeyPart>::Codec as KeyCodec<String>>::encode),
///         put(row_key, "empid_", "id", &self.id, <Digits<6> as KeyCodec<u32>>::encode),
///     ])
/// }
/// ```
pub(super) fn encode_key(design: &Design<'_>) -> TokenStream {
    let (partition_key, row_key) = (local("partition_key"), local("row_key"));
    let value = |field: &KeyField<'_>| {
        let ident = field.field.ident;
        quote!(&self.#ident)
    };
    let partition_parts = encode(design, design.partition_key, &quote!(#partition_key), value);
    let row_parts = encode(design, design.row_key, &quote!(#row_key), value);
    quote! {
        fn encode_key(&self, #partition_key: &mut __table::String, #row_key: &mut __table::String) -> __table::Result<()> {
            __table::encoded([#partition_parts #row_parts])
        }
    }
}

/// Returns the calls that append the pieces of `key` to `out`. Each call evaluates to a `Result`. `value` returns an
/// expression for the value of a field.
pub(super) fn encode(
    design: &Design<'_>,
    key: &Key,
    out: &TokenStream,
    value: impl Fn(&KeyField<'_>) -> TokenStream,
) -> TokenStream {
    let mut writes = TokenStream::new();
    let mut literal = String::new();
    for piece in &key.pieces {
        match piece {
            Piece::Literal(text) => literal.push_str(&text.value()),
            Piece::Part(part) => {
                let Some(field) = design.field(part) else { continue };
                let (value, name, encode) = (value(&field), &field.names.name, field.item("encode"));
                writes.extend([
                    quote_spanned!(field.span=> __table::put(#out, #literal, #name, #value, #encode),),
                ]);
                literal.clear();
            }
        }
    }
    if !literal.is_empty() {
        writes.extend([quote!(__table::put_literal(#out, #literal),)]);
    }
    writes
}

/// Generates `to_row`, which writes the properties of an entity:
///
/// ```text
/// fn to_row(&self) -> Result<Row> {
///     let mut row = RowWriter::with_capacity(1);
///     written([<i32 as Property>::write_to(&self.age, "Age", &mut row)], row)
/// }
/// ```
pub(super) fn to_row(entity: &Entity<'_>) -> TokenStream {
    let row = local("row");
    let count = entity.properties().count() + usize::from(entity.kind.is_some());
    let rest = entity.rest().map(|field| {
        let (ident, ty) = (field.ident, field.ty);
        let design = quote!(<Self as __table::Entity>::SCHEMA, __table::None);
        quote_spanned!(field.span=> <#ty as __table::Rest>::write_rest(&self.#ident, #design, &mut #row))
    });
    let kind = entity.kind.as_ref().map(|kind| quote!(__table::write_kind(#kind, &mut #row),));
    let of = Token![self](Span::call_site());
    let writes = entity.properties().map(|(field, property)| write_property(field, property, &of, &row));
    quote! {
        fn to_row(&self) -> __table::Result<__table::Row> {
            let mut #row = __table::RowWriter::with_capacity(#count);
            __table::written([#kind #(#writes,)* #rest], #row)
        }
    }
}

/// Returns the call that appends a property of the variable `of` to a row.
pub(super) fn write_property(
    field: &Field<'_>,
    property: &Property,
    of: &impl ToTokens,
    row: &Ident,
) -> TokenStream {
    let (name, ident) = (&property.name, field.ident);
    if property.chunks {
        let ty = field.ty;
        quote_spanned!(field.span=> <#ty as __table::Chunked>::write_chunks(&#of.#ident, #name, &mut #row))
    } else {
        let stored = AsProperty(field);
        quote!(#stored::write_to(&#of.#ident, #name, &mut #row))
    }
}

/// Returns a local variable for generated code. It is hygienic, so it never conflicts with a field.
pub(super) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Returns a local variable like [`local`], located at `span` in rustc's error messages.
pub(super) fn local_at(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(span))
}
