//! Generates code that reads the key of an index row. It obtains the entity's key, and the properties stored only in the copy's key.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

use crate::expand::index::writing::own_part;
use crate::expand::key::{self, Design, KeyField};
use crate::expand::schema::{AsProperty, option};
use crate::expand::writing::local;
use crate::model::Field;
use crate::model::index::{Index, Stored};
use crate::model::key::{Key, Part, Piece};
use crate::model::property::Property;

/// Generates `owner`, which reads the entity's key from an index row:
///
/// ```text
/// fn owner(entity: EntityRef<'_>) -> Result<EntityKey> {
///     OwnerKey::new(entity, Some(&__PARTITION_KEY.forms), Some(&__INDEX_0_ROW_KEY.forms))
///         .part("", "department", 0, <… as KeyCodec<String>>::decode, <… as KeyCodec<String>>::encode)
///         .row_key("")
///         .key_text("empid_", "id", "Id", <Digits<6> as KeyCodec<u32>>::decode, <Digits<6> as KeyCodec<u32>>::encode)
///         .finish("")
/// }
/// ```
pub(super) fn owner(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let entity = local("entity");
    let keys = keys(design);
    let stored = index.stored(design.entity);
    let mut calls = TokenStream::new();
    let mut literal = String::new();
    for (at, key) in [primary.partition_key, primary.row_key].into_iter().enumerate() {
        if at == 1 {
            // The last literal of the `PartitionKey` is an argument of the call that starts the `RowKey`.
            let end = std::mem::take(&mut literal);
            calls.extend([quote!(.row_key(#end))]);
        }
        for piece in &key.pieces {
            match piece {
                Piece::Literal(text) => literal.push_str(&text.value()),
                Piece::Part(part) => {
                    calls.extend(append(design, primary, &stored, part, &literal));
                    literal.clear();
                }
            }
        }
    }
    quote! {
        fn owner(#entity: __table::EntityRef<'_>) -> __table::Result<__table::EntityKey> {
            __table::OwnerKey::new(#entity, #keys) #calls .finish(#literal)
        }
    }
}

/// Returns the call that appends one part of the entity's key. The part is read from the property or key part of the index row that contains its field.
fn append(
    design: &Design<'_>,
    primary: &Design<'_>,
    stored: &[(usize, &Field<'_>, Stored)],
    part: &Part,
    literal: &str,
) -> Option<TokenStream> {
    let own = primary.field(part)?;
    let (name, span, encode) = (&own.names.name, own.span, own.item("encode"));
    if let Some((place, of_index)) = place(design, part.field) {
        let decode = of_index.item("decode");
        return Some(quote_spanned!(span=> .part(#literal, #name, #place, #decode, #encode)));
    }
    let (at, field, stored) = stored.iter().find(|(at, ..)| *at == part.field)?;
    match (stored, &field.property) {
        (Stored::KeyText(property), _) => {
            let decode = own_part(primary, *at).and_then(|part| primary.field(part))?.item("decode");
            Some(quote_spanned!(span=> .key_text(#literal, #name, #property, #decode, #encode)))
        }
        (Stored::Property, Some(property)) => {
            let (property_name, read) = (&property.name, read(field, property));
            Some(quote_spanned!(span=> .property(#literal, #name, #property_name, #read, #encode)))
        }
        _ => None,
    }
}

/// Returns the path of the function that reads a property.
fn read(field: &Field<'_>, property: &Property) -> TokenStream {
    let ty = field.ty;
    if property.chunks {
        return quote_spanned!(field.span=> <#ty as __table::Chunked>::read_chunks);
    }
    let stored = AsProperty(field);
    quote!(#stored::read_next)
}

/// Generates `KEY_PROPERTIES` and `write_key_properties` if the key of a copy contains properties.
///
/// ```text
/// fn write_key_properties(entity: EntityRef<'_>, row: &mut RowWriter) -> Result<()> {
///     KeyProperties::new(entity, Some(&__PARTITION_KEY.forms), Some(&__INDEX_0_ROW_KEY.forms), row)
///         .property("email", 1, <… as KeyCodec<String>>::decode, <String as IndexPart>::from_part, "Email", <String as Property>::write_to)
///         .finish()
/// }
/// ```
pub(super) fn key_properties(design: &Design<'_>, index: &Index) -> Option<TokenStream> {
    let (entity, row) = (local("entity"), local("row"));
    let properties: Vec<_> = design
        .entity
        .properties()
        .filter_map(|(field, property)| given(design, index, field, property))
        .collect();
    if properties.is_empty() {
        return None;
    }
    let keys = keys(design);
    let names = properties.iter().map(|(property, _)| &property.name);
    let calls = properties.iter().map(|(_, call)| call);
    Some(quote! {
        const KEY_PROPERTIES: __table::Names = &[#(#names),*];
        fn write_key_properties(#entity: __table::EntityRef<'_>, #row: &mut __table::RowWriter) -> __table::Result<()> {
            __table::KeyProperties::new(#entity, #keys, #row) #(#calls)* .finish()
        }
    })
}

/// Returns the call that appends a property whose field is part of the copy's key.
fn given<'p>(
    design: &Design<'_>,
    index: &Index,
    field: &Field<'_>,
    property: &'p Property,
) -> Option<(&'p Property, TokenStream)> {
    let at = design.entity.fields.iter().position(|other| std::ptr::eq(other, field))?;
    if !index.can_decode(design.entity, at) {
        return None;
    }
    let (place, of_index) = place(design, at)?;
    let (name, ty, span) = (&of_index.names.name, field.ty, of_index.span);
    let (decode, property_name) = (of_index.item("decode"), &property.name);
    let from_part = if of_index.is_optional {
        quote_spanned!(span=> <#ty as __table::IndexPart>::from_part)
    } else {
        quote!(::core::convert::identity)
    };
    let write = if property.chunks {
        quote_spanned!(field.span=> <#ty as __table::Chunked>::write_chunks)
    } else {
        let stored = AsProperty(field);
        quote!(#stored::write_to)
    };
    let call = quote_spanned!(span=> .property(#name, #place, #decode, #from_part, #property_name, #write));
    Some((property, call))
}

/// Returns the pieces of both keys of an index row as arguments, with `None` for a key that is not read.
fn keys(design: &Design<'_>) -> TokenStream {
    let pieces = |key: &Key, constant: &Ident| option((!key.unread).then(|| key::forms(constant)));
    let partition_key = pieces(design.partition_key, &design.partition_constant());
    let row_key = pieces(design.row_key, &design.constant("ROW_KEY"));
    quote!(#partition_key, #row_key)
}

/// Returns the key part that contains a field, and its index among the parts of both keys of the index row.
fn place<'e>(design: &Design<'e>, field: usize) -> Option<(usize, KeyField<'e>)> {
    let keys = [design.partition_key, design.row_key].into_iter().filter(|key| !key.unread);
    let (at, part) = keys
        .flat_map(Key::parts)
        .enumerate()
        .find(|(_, part)| part.field == field && part.codec.is_decodable())?;
    Some((at, design.field(part)?))
}
