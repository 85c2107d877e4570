//! A set: `impl FromEntity` that tells each row's type, and the proof that it can be told.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::expand::wrapped;
use crate::expand::writing::local;
use crate::model::set::{EntitySet, Member};

/// ```text
/// impl FromEntity for Staff {
///     fn from_entity(entity: EntityRef<'_>) -> Result<Self> {
///         if is_of(<Employee as Entity>::SCHEMA, entity)? {
///             return Result::map(<Employee as FromEntity>::from_entity(entity), Self::Employee);
///         }
///         … the same of the other members …
///         let bag: Result<TableEntity> = <TableEntity as FromEntity>::from_entity(entity);
///         Result::map(bag, Self::Other)
///     }
/// }
/// impl EntitySet for Staff { const MEMBERS: &'static [&'static EntitySchema] = &[<Employee as Entity>::SCHEMA, …]; }
/// impl SetOf<Employee> for Staff {}
/// impl ProjectionOf<Employee> for Staff {}
/// const _: () = require_members(<Staff as EntitySet>::MEMBERS, "Staff");
/// ```
pub(crate) fn set(set: &EntitySet<'_>) -> TokenStream {
    let ident = &set.original.ident;
    let name = ident.unraw().to_string();
    let entity = local("entity");
    let reads = set.members.iter().map(member);
    let other = set.other.map(|(variant, ty)| {
        let bag = local("bag");
        quote_spanned! {ty.span()=>
            let #bag: __table::Result<#ty> = <__table::TableEntity as __table::FromEntity>::from_entity(#entity);
            ::core::result::Result::map(#bag, Self::#variant)
        }
    });
    let schemas = set.types().map(schema);
    let memberships = set.types().map(|ty| {
        quote! {
            #[automatically_derived]
            impl __table::SetOf<#ty> for #ident {}
            #[automatically_derived]
            impl __table::ProjectionOf<#ty> for #ident {}
        }
    });
    let require = quote_spanned! {ident.span()=>
        const _: () = __table::require_members(<#ident as __table::EntitySet>::MEMBERS, #name);
    };
    wrapped(
        &set.runtime,
        &quote! {
            #[automatically_derived]
            impl __table::FromEntity for #ident {
                fn from_entity(#entity: __table::EntityRef<'_>) -> __table::Result<Self> {
                    #(#reads)*
                    #other
                }
            }
            #[automatically_derived]
            impl __table::EntitySet for #ident {
                const MEMBERS: &'static [&'static __table::EntitySchema] = &[#(#schemas),*];
            }
            #(#memberships)*
            #require
        },
    )
}

fn member(member: &Member<'_>) -> TokenStream {
    let Member { ident, ty, upgrades } = member;
    let entity = local("entity");
    let schema = schema(ty);
    let upgrades = upgrades.iter().map(|old| {
        let schema = self::schema(old);
        quote_spanned! {old.span()=>
            if __table::is_of(#schema, #entity)? {
                return ::core::result::Result::map(
                    <#old as __table::FromEntity>::from_entity(#entity),
                    |old| Self::#ident(<#ty as ::core::convert::From<#old>>::from(old)),
                );
            }
        }
    });
    quote_spanned! {ty.span()=>
        if __table::is_of(#schema, #entity)? {
            return ::core::result::Result::map(<#ty as __table::FromEntity>::from_entity(#entity), Self::#ident);
        }
        #(#upgrades)*
    }
}

/// The design of a type.
fn schema(ty: impl ToTokens) -> TokenStream {
    let ty = ty.to_token_stream();
    quote_spanned!(ty.span()=> <#ty as __table::Entity>::SCHEMA)
}

/// The traits without meaning, after a mistake.
pub(crate) fn stub(set: &EntitySet<'_>) -> TokenStream {
    let ident = &set.original.ident;
    wrapped(
        &set.runtime,
        &quote! {
            #[automatically_derived]
            impl __table::FromEntity for #ident {
                fn from_entity(_: __table::EntityRef<'_>) -> __table::Result<Self> {
                    __table::stub()
                }
            }
            #[automatically_derived]
            impl __table::EntitySet for #ident {
                const MEMBERS: &'static [&'static __table::EntitySchema] = &[];
            }
            #[automatically_derived]
            impl<E: __table::Entity> __table::SetOf<E> for #ident {}
        },
    )
}
