//! Code generated for projections: an `impl FromEntity` that requests only the columns of the projection.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::expand::wrapped;
use crate::expand::writing::local;
use crate::model::projection::Projection;

/// Expands a projection. The compiler checks that each field has a column or key field of the same type.
///
/// ```text
/// impl FromEntity for NameOnly {
///     fn select() -> Select { select_of::<Employee, 1>([Projected::property(&Employee::FIRST_NAME)]) }
///     const IS_MIXED: bool = <Employee as FromEntity>::IS_MIXED;
///     const AROUND: Option<Around> = <Employee as FromEntity>::AROUND;
///     fn read_own(entity: EntityRef<'_>) -> Result<Option<Versioned<Self>>> { read_own_as::<Employee, Self>(entity) }
///     fn from_entity(entity: EntityRef<'_>) -> Result<Self> {
///         let first_name = read_field::<String, _>(&Employee::FIRST_NAME, entity, &mut hint);
///         let first_name = first_name?;
///         …
///     }
/// }
/// impl ProjectionOf<Employee> for NameOnly {}
/// impl<I: CopyIndex<Entity = Employee>> FromCopy<I> for NameOnly
/// where
///     I: Includes<{ Employee::FIRST_NAME.number() }, { Employee::FIRST_NAME.is_of_key() }>,
/// { … }
/// ```
pub(crate) fn projection(projection: &Projection<'_>) -> TokenStream {
    let ident = &projection.original.ident;
    let Some(of) = &projection.of else { return TokenStream::new() };
    let (entity, hint, names) = (local("entity"), local("hint"), local("names"));
    let properties = projection.fields.iter().map(|field| {
        let column = &field.column;
        quote!(__table::Projected::property(&<#of>::#column))
    });
    let reads = projection.fields.iter().map(|field| {
        let (ident, ty, column) = (field.ident, field.ty, &field.column);
        quote_spanned! {ty.span()=>
            let #ident = __table::read_field::<#ty, _>(&<#of>::#column, #entity, &mut #hint);
            let #ident = #ident?;
        }
    });
    let idents = projection.fields.iter().map(|field| field.ident);
    // `mixed_site` hides local variables, but not type parameters. User-defined types do not begin with `__`.
    let index = Ident::new("__Index", Span::mixed_site());
    let kept = projection.fields.iter().map(|field| {
        let column = &field.column;
        // The tokens have the field's span. If the index does not include the column, rustc reports it there. Both column types have the method `number`.
        quote_spanned! {field.ident.span()=>
            #index: __table::Includes<{ <#of>::#column.number() }, { <#of>::#column.is_of_key() }>
        }
    });
    // An inherent constant takes precedence over the constant of a trait. If the entity has no such inherent constant, rustc shows the message of `HasField`.
    let absent = projection.fields.iter().map(|field| &field.column);
    let absent = (!projection.fields.is_empty()).then(|| {
        quote! {
            #[allow(dead_code)]
            trait __Absent {
                #(const #absent: () = ();)*
            }
            impl<T: __table::HasField> __Absent for T {}
        }
    });
    let start = (!projection.fields.is_empty()).then(|| quote!(let mut #hint = 0;));
    let count = projection.fields.len();
    let columns = projection.fields.iter().map(|field| &field.column);
    let of_key = quote!(const { false #(|| <#of>::#columns.is_of_key())* });
    wrapped(
        &projection.runtime,
        &quote! {
            #absent
            #[automatically_derived]
            impl __table::FromEntity for #ident {
                fn select() -> __table::Select {
                    let #names: [::core::option::Option<&'static ::core::primitive::str>; #count] = [#(#properties),*];
                    __table::select_of::<#of, #count>(#names)
                }
                const IS_MIXED: ::core::primitive::bool = <#of as __table::FromEntity>::IS_MIXED;
                const AROUND: ::core::option::Option<__table::Around> = <#of as __table::FromEntity>::AROUND;
                fn read_own(#entity: __table::EntityRef<'_>) -> __table::Result<::core::option::Option<__table::Versioned<Self>>> {
                    __table::read_own_as::<#of, Self>(#entity)
                }
                fn from_entity(#entity: __table::EntityRef<'_>) -> __table::Result<Self> {
                    #start
                    #(#reads)*
                    ::core::result::Result::Ok(Self { #(#idents),* })
                }
            }
            #[automatically_derived]
            impl __table::ProjectionOf<#of> for #ident {}
            #[automatically_derived]
            impl<#index: __table::CopyIndex<Entity = #of>> __table::FromCopy<#index> for #ident
            where
                #(#kept,)*
            {
                fn select_copy() -> __table::Select {
                    __table::select_copies::<#index, #ident>(#of_key)
                }
                fn from_copy(#entity: __table::EntityRef<'_>) -> __table::Result<Self> {
                    __table::project::<#index, #ident>(#entity, #of_key)
                }
            }
        },
    )
}

/// Generates empty trait implementations for an invalid declaration.
pub(crate) fn stub(projection: &Projection<'_>) -> TokenStream {
    let ident = &projection.original.ident;
    let of = projection
        .of
        .as_ref()
        .map(|of| quote!(#[automatically_derived] impl __table::ProjectionOf<#of> for #ident {}));
    wrapped(
        &projection.runtime,
        &quote! {
            #[automatically_derived]
            impl __table::FromEntity for #ident {
                fn from_entity(_: __table::EntityRef<'_>) -> __table::Result<Self> {
                    __table::stub()
                }
            }
            #of
            #[automatically_derived]
            impl<__Index: __table::CopyIndex> __table::FromCopy<__Index> for #ident {
                fn from_copy(_: __table::EntityRef<'_>) -> __table::Result<Self> {
                    __table::stub()
                }
            }
        },
    )
}
