//! Generates code that reads copies: the included properties, or the entire entity.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::index::key_parts;
use crate::expand::index::writing::own_part;
use crate::expand::key::Design;
use crate::expand::reading::{Reading, bind, body, read_property, read_rest};
use crate::expand::writing::local;
use crate::model::Field;
use crate::model::index::{Index, Stored};

/// Generates `impl CopyIndex` and the included fields. If all fields are included, the function that reads the entire entity is generated as well.
pub(super) fn copies(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let (ident, marker) = (design.ident(), index.marker(design.entity));
    let entity = local("entity");
    let fields = || design.entity.fields.iter().enumerate();
    let key_properties = key_parts::key_properties(design, index);
    let stored = index.stored(design.entity).into_iter().filter(|(at, ..)| design.entity.key_needs(*at));
    let names = stored.filter_map(|(_, field, stored)| match stored {
        Stored::KeyText(name) => Some(name),
        Stored::Property => field.property.as_ref().map(|property| property.name.clone()),
        Stored::Rest => None,
    });
    let mut names = names.peekable();
    let owner_of = names
        .peek()
        .is_some()
        .then(|| quote!(const OWNER: &'static [&'static ::core::primitive::str] = &[#(#names),*];));
    let is_kept = |(at, field): (usize, &Field<'_>)| {
        let is_of_key_alone = field.property.is_none() && field.attrs.rest.is_none();
        is_of_key_alone || index.has(design.entity, at, field)
    };
    let all = fields().all(is_kept);
    let keeps = if all {
        quote! {
            #[automatically_derived]
            impl<const __PROPERTY: ::core::primitive::u64> __table::Includes<__PROPERTY> for #marker {}
        }
    } else {
        let kept = fields().filter(|(at, field)| index.has(design.entity, *at, field));
        let numbers =
            kept.filter_map(|(_, field)| field.property.as_ref().map(|property| number(&property.name)));
        quote! {#(
            #[automatically_derived]
            impl __table::Includes<#numbers> for #marker {}
        )*}
    };
    let whole = all.then(|| {
        let body = body_of_whole(design, primary, index);
        quote! {
            #[automatically_derived]
            impl __table::FromCopy<#marker> for #ident {
                fn from_copy(#entity: __table::EntityRef<'_>) -> __table::Result<Self> {
                    #body
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl __table::CopyIndex for #marker {
            #key_properties
            #owner_of
        }
        #keeps
        #whole
    }
}

/// Returns the body of `from_copy`. If a copy contains a value more than once, the generated code checks that the occurrences are equal.
fn body_of_whole(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let (entity, reader) = (local("entity"), local("reader"));
    let marker = index.marker(design.entity);
    let shape = quote! {{
        static SHAPE: __table::Shape = __table::Shape::new();
        __table::Shape::bytes(&SHAPE, __table::None, <#marker as __table::Index>::SCHEMA.properties)
    }};
    let mut reading = Reading::new(design, shape);
    let keys = reading.keys(&entity, &|_| true);
    let stored = index.stored(design.entity).into_iter();
    let properties = stored.map(|(at, field, stored)| match (stored, &field.property) {
        (Stored::Property, Some(property)) => read_property(field, property),
        (Stored::KeyText(property), _) => {
            let Some(field) = own_part(primary, at).and_then(|part| primary.field(part)) else {
                return TokenStream::new();
            };
            let (ident, name, decode) = (field.field.ident, &field.names.name, field.item("decode"));
            let value = quote!(#reader.key_text(#name, #property, #decode));
            bind(field.span, ident, &value)
        }
        (Stored::Rest, _) => {
            let marker = index.marker(design.entity);
            read_rest(field, &quote!(__table::Some(<#marker as __table::Index>::SCHEMA)))
        }
        (Stored::Property, None) => TokenStream::new(),
    });
    let compared = &reading.compared;
    let idents = design.entity.fields.iter().map(|field| field.ident);
    body(&keys, &quote!(#(#properties)* #(#compared)*), &quote!(__table::Ok(Self { #(#idents),* })))
}

/// Returns the number that represents a property in types: the FNV-1a hash of its name. The runtime computes the same hash. Projections of copies use it to
/// check which properties an index includes.
fn number(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
