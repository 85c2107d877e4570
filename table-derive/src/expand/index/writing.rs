//! Generates code that writes index rows: their keys and properties.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use crate::expand::key::{Design, KeyField};
use crate::expand::writing::{encode, local, write_property};
use crate::model::index::{Index, Stored};
use crate::model::key::{Key, Part};

/// Generates `encode_key`, which returns `false` if the index omits the entity:
///
/// ```text
/// fn encode_key(entity: &Employee, partition_key: &mut String, row_key: &mut String) -> Result<bool> {
///     if !__INDEX_0_WHEN(entity) { return Ok(false); }
///     let Some(email) = <Option<String> as IndexPart>::indexed(&entity.email) else { return Ok(false) };
///     entered([… the pieces, as those of the entity's own key …])
/// }
/// ```
pub(super) fn encode_key(design: &Design<'_>, index: &Index) -> TokenStream {
    let ident = design.ident();
    let (entity, partition_key, row_key) = (local("entity"), local("partition_key"), local("row_key"));
    let when = index.attr.when.as_ref().map(|_| {
        let when = design.constant("WHEN");
        quote!(if !#when(#entity) { return __table::Ok(false); })
    });
    let mut seen = Vec::new();
    let mut values = Vec::new();
    for part in index.keys(design.entity).flat_map(Key::parts) {
        let Some(field) = design.field(part).filter(|field| field.is_optional) else { continue };
        if seen.contains(&part.field) {
            continue;
        }
        seen.push(part.field);
        let (ident, ty) = (field.field.ident, field.field.ty);
        values.push(quote_spanned! {field.span=>
            let __table::Some(#ident) = <#ty as __table::IndexPart>::indexed(&#entity.#ident) else {
                return __table::Ok(false);
            };
        });
    }
    let value = |field: &KeyField<'_>| {
        let ident = field.field.ident;
        if field.is_optional { quote!(#ident) } else { quote!(&#entity.#ident) }
    };
    let partition_parts = encode(design, design.partition_key, &quote!(#partition_key), value);
    let row_parts = encode(design, design.row_key, &quote!(#row_key), value);
    quote! {
        fn encode_key(
            #entity: &#ident,
            #partition_key: &mut __table::String,
            #row_key: &mut __table::String,
        ) -> __table::Result<::core::primitive::bool> {
            #when
            #(#values)*
            __table::entered([#partition_parts #row_parts])
        }
    }
}

/// Generates `to_row`, which writes the properties of an index row:
///
/// ```text
/// fn to_row(entity: &Employee) -> Result<Row> {
///     let mut row = RowWriter::with_capacity(2);
///     written(
///         [
///             write_key_text("id", "EmployeeId", &entity.id, <Digits<6> as KeyCodec<u32>>::encode, &mut row),
///             <String as Property>::write_to(&entity.first_name, "FirstName", &mut row),
///         ],
///         row,
///     )
/// }
/// ```
pub(super) fn to_row(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let (of, entity, row) = (design.ident(), local("entity"), local("row"));
    let stored = index.stored(design.entity);
    let count = stored.len();
    let writes = stored.into_iter().map(|(at, field, stored)| {
        let ident = field.ident;
        match (stored, &field.property) {
            (Stored::Property, Some(property)) => {
                write_property(field, property, &entity, &row)
            }
            (Stored::KeyText(name), _) => {
                let Some(field) = own_part(primary, at).and_then(|part| primary.field(part)) else {
                    return TokenStream::new();
                };
                let (field_name, encode) = (field.field.ident.unraw().to_string(), field.item("encode"));
                quote! {
                    __table::write_key_text(#field_name, #name, &#entity.#ident, #encode, &mut #row)
                }
            }
            (Stored::Rest, _) => {
                let ty = field.ty;
                let design = quote!(<#of as __table::Entity>::SCHEMA, __table::Some(Self::SCHEMA));
                quote_spanned!(field.span=> <#ty as __table::Rest>::write_rest(&#entity.#ident, #design, &mut #row))
            }
            (Stored::Property, None) => TokenStream::new(),
        }
    });
    quote! {
        fn to_row(#entity: &#of) -> __table::Result<__table::Row> {
            let mut #row = __table::RowWriter::with_capacity(#count);
            __table::written([#(#writes),*], #row)
        }
    }
}

/// Returns the part of the entity's key that contains a field in decodable form.
pub(super) fn own_part<'e>(primary: &Design<'e>, field: usize) -> Option<&'e Part> {
    let mut parts = [primary.partition_key, primary.row_key].into_iter().flat_map(Key::parts);
    parts.find(|part| part.field == field && part.codec.is_decodable())
}
