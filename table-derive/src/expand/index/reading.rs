//! Reads from index rows: the key of the entity, the whole entity, and the properties that only the copy's key contains.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;

use crate::expand::index::writing::own_part;
use crate::expand::key::{Design, KeyField};
use crate::expand::reading::{Reading, bind, read_property, read_rest};
use crate::expand::writing::{encode, local, write_property};
use crate::model::Field;
use crate::model::index::{Index, Stored};

/// ```text
/// fn owner(entry: EntityRef<'_>) -> Result<EntityKey> {
///     … let department = …; let id = …;
///     let (mut partition_key, mut row_key) = (String::new(), String::new());
///     … as `Entity::encode_key` …
///     EntityKey::new(partition_key, row_key)
/// }
/// ```
pub(super) fn owner(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let (entity, partition_key, row_key) = (local("entity"), local("partition_key"), local("row_key"));
    let reads = reads(design, primary, index, false, &|at| design.entity.key_needs(at));
    let value = |field: &KeyField<'_>| {
        let ident = field.field.ident;
        quote!(&#ident)
    };
    let partition_parts = encode(primary, primary.partition_key, &quote!(&mut #partition_key), value);
    let row_parts = encode(primary, primary.row_key, &quote!(&mut #row_key), value);
    quote! {
        fn owner(#entity: __table::EntityRef<'_>) -> __table::Result<__table::EntityKey> {
            #reads
            let (mut #partition_key, mut #row_key) = (__table::String::new(), __table::String::new());
            __table::encoded([#partition_parts #row_parts])?;
            __table::EntityKey::new(#partition_key, #row_key)
        }
    }
}

/// Generates `impl CopyIndex`, the included fields, and the whole entity if all fields are included.
pub(super) fn copies(design: &Design<'_>, primary: &Design<'_>, index: &Index) -> TokenStream {
    let (ident, marker) = (design.ident(), index.marker(design.entity));
    let (entity, row) = (local("entity"), local("row"));
    let fields = || design.entity.fields.iter().enumerate();
    // A field of the entity's key is relevant if it is also a property.
    let is_given = |at: usize| {
        let is_property = design.entity.fields.get(at).is_some_and(|field| field.property.is_some());
        is_property && index.gives(design.entity, at)
    };
    let given: Vec<_> = fields()
        .filter(|(at, _)| is_given(*at))
        .filter_map(|(_, field)| Some((field, field.property.as_ref()?)))
        .collect();
    let write_key_properties = (!given.is_empty()).then(|| {
        let names = given.iter().map(|(_, property)| &property.name);
        let reads = reads(design, primary, index, false, &is_given);
        let writes = given.iter().map(|(field, property)| {
            let ident = field.ident;
            write_property(field, property, &quote!(&#ident), &row)
        });
        quote! {
            const KEY_PROPERTIES: &'static [&'static ::core::primitive::str] = &[#(#names),*];
            fn write_key_properties(#entity: __table::EntityRef<'_>, #row: &mut __table::RowWriter) -> __table::Result<()> {
                #reads
                let mut #row = #row;
                __table::encoded([#(#writes),*])
            }
        }
    });
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
            impl<const PROPERTY: ::core::primitive::u64> __table::Includes<PROPERTY> for #marker {}
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
        let reads = reads(design, primary, index, true, &|_| true);
        let idents = design.entity.fields.iter().map(|field| field.ident);
        quote! {
            #[automatically_derived]
            impl __table::FromCopy<#marker> for #ident {
                fn from_copy(#entity: __table::EntityRef<'_>) -> __table::Result<Self> {
                    #reads
                    __table::Ok(Self { #(#idents),* })
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl __table::CopyIndex for #marker {
            #write_key_properties
            #owner_of
        }
        #keeps
        #whole
    }
}

/// Binds the requested fields to locals with the same names. If `whole` is `true`, all places that contain a value are compared.
fn reads(
    design: &Design<'_>,
    primary: &Design<'_>,
    index: &Index,
    whole: bool,
    wanted: &dyn Fn(usize) -> bool,
) -> TokenStream {
    let (entity, reader) = (local("entity"), local("reader"));
    // A read of the whole entity reads all stored properties in order.
    let shape = if whole {
        let marker = index.marker(design.entity);
        quote! {{
            static SHAPE: __table::Shape =
                __table::Shape::new(__table::None, <#marker as __table::Index>::SCHEMA.properties);
            SHAPE.bytes()
        }}
    } else {
        quote!(&[])
    };
    let mut reading = Reading::new(design, shape, whole);
    let keys = reading.keys(&entity, wanted);
    let stored = index.stored(design.entity).into_iter().filter(|(at, ..)| wanted(*at));
    let properties = stored.map(|(at, field, stored)| match (stored, &field.property) {
        (Stored::Property, Some(property)) => read_property(field, property),
        (Stored::KeyText(property), _) => {
            let Some(field) = own_part(primary, at).and_then(|part| primary.field(part)) else {
                return TokenStream::new();
            };
            let (ident, name, decode) = (field.field.ident, &field.name, field.item("decode"));
            let value = quote!(#reader.key_text(#name, #property, #decode));
            bind(field.ty.span(), &quote!(#ident), &value)
        }
        (Stored::Rest, _) => {
            let marker = index.marker(design.entity);
            read_rest(field, &quote!(__table::Some(<#marker as __table::Index>::SCHEMA)))
        }
        (Stored::Property, None) => TokenStream::new(),
    });
    let compared = &reading.compared;
    quote! {
        #keys
        #(#properties)*
        #(#compared)*
    }
}

/// Returns the number that identifies a property in types: the same FNV-1a hash that the runtime computes. Projections of copies refer to it.
fn number(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
