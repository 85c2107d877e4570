//! Code generated for entity groups: an `impl EntityGroup` that assigns the rows of a range to the fields, and a compile-time check that the range contains
//! these rows.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::expand::wrapped;
use crate::expand::writing::local;
use crate::model::group::{EntityGroup, Member};

/// Expands an entity group:
///
/// ```text
/// impl EntityGroup for EmployeeWithReviews {
///     type Named = Point;
///     fn from_rows<'a>(rows: impl Iterator<Item = EntityRef<'a>>) -> Result<Self> {
///         let mut employee = Vec::new();
///         let mut reviews = Vec::new();
///         for entity in rows {
///             if is_of(Employee::SCHEMA, entity)? {
///                 employee.push(read_member(entity)?);
///             } else if is_of(Review::SCHEMA, entity)? {
///                 reviews.push(read_member(entity)?);
///             } else {
///                 skip("EmployeeWithReviews", &MEMBERS, entity)?;
///             }
///         }
///         Ok(Self { employee: GroupField::gather("employee", employee)?, reviews: … })
///     }
/// }
/// ```
pub(crate) fn group(group: &EntityGroup<'_>) -> TokenStream {
    let ident = &group.original.ident;
    let (entity, rows) = (local("entity"), local("rows"));
    // The lists get their types from `gather`, so rustc reports a wrong field type only there.
    let lists =
        group.members.iter().map(|Member { ident, .. }| quote!(let mut #ident = __table::Vec::new();));
    let tells = group.members.iter().map(|it| {
        let (field, schema) = (it.ident, schema(it));
        quote_spanned! {it.ty.span()=>
            if __table::is_of(#schema, #entity)? {
                __table::Vec::push(&mut #field, __table::read_member(#entity)?);
            } else
        }
    });
    let gathers = group.members.iter().map(|Member { ident, ty, .. }| {
        let name = ident.unraw().to_string();
        quote_spanned!(ty.span()=> #ident: <#ty as __table::GroupField>::gather(#name, #ident)?)
    });
    let (other_list, other_push, other_field) = other(group);
    let named = named(group);
    let proofs = proofs(group);
    wrapped(
        &group.runtime,
        &quote! {
            #[automatically_derived]
            impl __table::EntityGroup for #ident {
                type Named = #named;
                fn from_rows<'a>(
                    #rows: impl ::core::iter::Iterator<Item = __table::EntityRef<'a>>,
                ) -> __table::Result<Self> {
                    #(#lists)*
                    #other_list
                    for #entity in #rows {
                        #(#tells)* {
                            #other_push
                        }
                    }
                    ::core::result::Result::Ok(Self { #(#gathers,)* #other_field })
                }
            }
            #proofs
        },
    )
}

/// Returns the cost class of the selection that identifies the group: a single entity or a partition.
fn named(group: &EntityGroup<'_>) -> TokenStream {
    if group.under.is_some() { quote!(__table::Point) } else { quote!(__table::Partition) }
}

/// Returns the code for rows that match no member: the declaration of a list, the statement that adds a row to it, and the initializer of the field.
fn other(group: &EntityGroup<'_>) -> (TokenStream, TokenStream, TokenStream) {
    let entity = local("entity");
    let name = group.original.ident.unraw().to_string();
    let Some((field, ident)) = group.other.and_then(|field| Some((field, field.ident.as_ref()?))) else {
        let skip = quote!(__table::skip(#name, &MEMBERS, #entity)?;);
        return (TokenStream::new(), skip, TokenStream::new());
    };
    let ty = &field.ty;
    (
        quote_spanned!(ty.span()=> let mut #ident: #ty = __table::Vec::<__table::TableEntity>::new();),
        quote! {
            __table::Vec::push(&mut #ident, <__table::TableEntity as __table::FromEntity>::from_entity(#entity)?);
        },
        quote!(#ident),
    )
}

/// Generates the compile-time checks that the members can be told apart and that the range contains them, and the
/// types of the selections that return the group.
fn proofs(group: &EntityGroup<'_>) -> TokenStream {
    let ident = &group.original.ident;
    let name = ident.unraw().to_string();
    let (schemas, count) = (group.members.iter().map(schema), group.members.len());
    let range = if let Some(owner) = &group.under {
        quote_spanned! {owner.span()=>
            const _: () = __table::require_one_partition(&[<#owner as __table::Entity>::SCHEMA, MEMBERS[0]], #name);
            const _: () = __table::require_under(&MEMBERS, <#owner as __table::Entity>::SCHEMA, #name);
            #[automatically_derived]
            impl __table::GroupOf<#owner> for #ident {}
        }
    } else {
        // The entity type is written out instead of as an associated type of the field's type, because rustc would treat two implementations for such
        // associated types as conflicting.
        let of = group.members.iter().map(|Member { entity, .. }| {
            quote! {
                #[automatically_derived]
                impl __table::GroupOf<#entity> for #ident {}
            }
        });
        quote!(#(#of)*)
    };
    let require = quote_spanned! {ident.span()=>
        const _: () = __table::require_members(&MEMBERS, &[], #name);
        const _: () = __table::require_one_partition(&MEMBERS, #name);
    };
    quote! {
        const MEMBERS: [&__table::EntitySchema; #count] = [#(#schemas),*];
        #require
        #range
    }
}

/// Returns the schema of the entity type in a field.
fn schema(member: &Member<'_>) -> TokenStream {
    let ty = member.ty;
    quote_spanned!(ty.span()=> <<#ty as __table::GroupField>::Member as __table::Entity>::SCHEMA)
}

/// Generates empty trait implementations for an invalid declaration.
pub(crate) fn stub(group: &EntityGroup<'_>) -> TokenStream {
    let ident = &group.original.ident;
    let named = named(group);
    wrapped(
        &group.runtime,
        &quote! {
            #[automatically_derived]
            impl __table::EntityGroup for #ident {
                type Named = #named;
                fn from_rows<'a>(
                    _: impl ::core::iter::Iterator<Item = __table::EntityRef<'a>>,
                ) -> __table::Result<Self> {
                    __table::stub()
                }
            }
            #[automatically_derived]
            impl<__Entity: __table::Entity> __table::GroupOf<__Entity> for #ident {}
        },
    )
}
