//! Code generated for entity sets: an `impl FromEntity` that determines the type of each row, and a compile-time check that the types can be told apart.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::expand::wrapped;
use crate::expand::writing::local;
use crate::model::set::{EntitySet, Member};

/// Expands an entity set:
///
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
/// impl ToEntity for Staff where for<'m> Employee: ToEntity, … { … each as its own member does … }
/// impl SetOf<Employee> for Staff {}
/// impl ProjectionOf<Employee> for Staff {}
/// const _: () = require_members(<Staff as EntitySet>::MEMBERS, &[], "Staff");
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
    let write = write(set);
    let current = current(set);
    let require = quote_spanned! {ident.span()=>
        const _: () = __table::require_members(<#ident as __table::EntitySet>::MEMBERS, &[#(#current),*], #name);
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
            #[automatically_derived]
            impl __table::Declared for #ident {
                const SCHEMAS: &'static [&'static __table::EntitySchema] = <Self as __table::EntitySet>::MEMBERS;
            }
            #write
            #(#memberships)*
            #require
        },
    )
}

/// For each type, returns the index of its current version in the list of types. Returns an empty list if no type has earlier versions.
fn current(set: &EntitySet<'_>) -> Vec<usize> {
    if set.members.iter().all(|member| member.upgrades.is_empty()) {
        return Vec::new();
    }
    let mut current = Vec::new();
    for member in &set.members {
        current.extend(vec![current.len(); 1 + member.upgrades.len()]);
    }
    current
}

/// Generates the code that writes values of the set. Each call, including the ETag update after a write, is forwarded to the member's own type.
fn write(set: &EntitySet<'_>) -> TokenStream {
    let ident = &set.original.ident;
    let schema_table = set.members.first().map(|member| {
        let schema = schema(member.ty);
        quote! {
            fn schema_table() -> ::core::option::Option<&'static ::core::primitive::str> {
                ::core::option::Option::Some(#schema.table)
            }
        }
    });
    let table = set.members.first().map_or_else(
        || quote!(__table::AnyTable),
        |member| {
            let ty = member.ty;
            quote!(<#ty as __table::ToEntity>::Table)
        },
    );
    // The `for<'m>` defers the error for a member that `Table` cannot write: it is reported only where the set is written.
    let types = set.members.iter().map(|member| member.ty).chain(set.other.map(|(_, ty)| ty));
    let bounds = types.map(|ty| quote_spanned!(ty.span()=> for<'m> #ty: __table::ToEntity));
    let variants: Vec<_> =
        set.members.iter().map(|member| member.ident).chain(set.other.map(|(ident, _)| ident)).collect();
    let member = local("member");
    let each = |method: TokenStream| quote!(match self { #(Self::#variants(#member) => #method,)* });
    let key = each(quote!(__table::ToEntity::entity_key(#member)));
    let row = each(quote!(__table::ToEntity::entity_row(#member)));
    let merge = each(quote!(__table::ToEntity::merge_row(#member)));
    let own = each(quote!(__table::ToEntity::own_schema(#member)));
    let (etag, ticks) = (local("etag"), local("ticks"));
    let written = each(quote!(__table::ToEntity::on_written(#member, #etag, #ticks)));
    quote! {
        #[automatically_derived]
        impl __table::ToEntity for #ident
        where
            #(#bounds,)*
        {
            type Table = #table;
            fn entity_key(&self) -> __table::Result<__table::EntityKey> {
                #key
            }
            fn entity_row(&self) -> __table::Result<__table::Row> {
                #row
            }
            fn merge_row(&self) -> __table::Result<__table::Row> {
                #merge
            }
            #schema_table
            fn schemas() -> &'static [&'static __table::EntitySchema] {
                <Self as __table::EntitySet>::MEMBERS
            }
            fn own_schema(&self) -> &'static [&'static __table::EntitySchema] {
                #own
            }
            fn on_written(&mut self, #etag: &__table::ETag, #ticks: ::core::primitive::u64) {
                #written
            }
        }
    }
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

/// Returns the schema of a member's type.
fn schema(ty: impl ToTokens) -> TokenStream {
    let ty = ty.to_token_stream();
    quote_spanned!(ty.span()=> <#ty as __table::Entity>::SCHEMA)
}

/// Generates empty trait implementations for an invalid declaration.
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
            impl<__Entity: __table::Entity> __table::SetOf<__Entity> for #ident {}
            #[automatically_derived]
            impl __table::Declared for #ident {
                const SCHEMAS: &'static [&'static __table::EntitySchema] = &[];
            }
            #[automatically_derived]
            impl __table::ToEntity for #ident {
                type Table = __table::AnyTable;
                fn entity_key(&self) -> __table::Result<__table::EntityKey> {
                    __table::stub()
                }
                fn entity_row(&self) -> __table::Result<__table::Row> {
                    __table::stub()
                }
            }
        },
    )
}
