//! Code generated for wide entities: an entity type for the key, and an `impl Wide` that assigns each property to a part.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Path, parse_quote};

use crate::expand::aliases::Aliases;
use crate::expand::key::Design;
use crate::expand::writing::local;
use crate::expand::{
    allow, columns, maintained, plain, reading, schema, selections, trait_stubs, wrapped, writing,
};
use crate::model::key::Key;
use crate::model::wide::{Part, Run, Stored, Wide};
use crate::model::{Entity, Field};

/// Expands a wide entity:
///
/// ```text
/// pub struct YearOfCountsKey { employee: u32, year: u16 }
/// … what `derive(Entity)` makes of it, without columns and selections …
/// const __SLOTS_1: &[&str] = slot_names!("Day", 1, 366);
/// const __PART_0: [&str; 251] = part(&[&["Office"], cut(__SLOTS_1, 0, 250)]);
/// impl YearOfCounts {
///     pub fn key(employee: …, year: …) -> Selection<YearOfCountsKey, Point> { … }
///     pub const OFFICE: WideProperty<Self, Option<String>> = WideProperty::new("Office");
///     pub const DAYS: WideSlots<Self, Vec<Option<i32>>> = WideSlots::new("Day", 3, 1..=366);
/// }
/// impl Wide for YearOfCounts {
///     type Header = YearOfCountsKey;
///     const PARTS: … = &[&__PART_0, &__PART_1];
///     fn header(&self) -> YearOfCountsKey { YearOfCountsKey { employee: u32::clone(&self.employee), … } }
///     fn write(&self, out: &mut WideWriter) -> Result<()> {
///         all([
///             put(out, "Office", &self.office, <Option<String> as Property>::write_to),
///             <Vec<Option<i32>> as Slots>::write(&self.days, __SLOTS_1, out),
///         ])
///     }
///     fn read(header: YearOfCountsKey, properties: &WideReader<'_>) -> Result<Self> { … }
/// }
/// ```
pub(crate) fn wide(wide: &Wide<'_>, header: &Entity<'_>) -> TokenStream {
    let (Some(partition_key), Some(row_key)) = (&header.partition_key, &header.row_key) else {
        return TokenStream::new();
    };
    let (ident, header_ident, runtime) =
        (&wide.entity.original.ident, &header.original.ident, &header.runtime);
    let aliases = Aliases::default();
    let design =
        Design { entity: header, aliases: &aliases, partition_key, row_key, index: None, stub: false };
    let schema::Keys { constants: keys, proof } = schema::keys(&design);
    let proof = schema::proven(&proof);
    let partition_text = design.partition_text();
    let properties = schema::properties(header);
    let schema = schema::schema(&design);
    let encode_key = writing::encode_key(&design);
    let to_row = writing::to_row(header);
    let from_entity = reading::from_entity(&design);
    let (plain, maintained) = (plain(header), maintained(header));
    let key = selections::key(&design, &quote!(#header_ident));
    let columns = wide.stored.iter().filter_map(|stored| column(wide, stored));
    let slots = wide.stored.iter().filter_map(|stored| slots(runtime, stored));
    let required = wide.stored.iter().filter_map(|stored| require_count(wide, stored));
    let parts = (0..).zip(&wide.parts).map(|(at, part)| constant(wide, at, part));
    let part_names = (0..wide.parts.len()).map(part_name);
    let (header_of, write, read) = (header_of(header), write(wide), read(wide, header));
    let aliases = aliases.items();
    let definition = definition(wide, header);
    let items = wrapped(
        runtime,
        &quote! {
            use #runtime::wide as __wide;
            #aliases
            #keys
            #proof
            #properties
            #partition_text
            #[automatically_derived]
            impl __table::Entity for #header_ident {
                #schema
                #maintained
                #encode_key
                #to_row
            }
            #[automatically_derived]
            impl __table::FromEntity for #header_ident {
                #from_entity
            }
            #plain
            #[automatically_derived]
            impl #ident {
                #key
                #(#columns)*
            }
            #(#slots)*
            #(#required)*
            #(#parts)*
            #[automatically_derived]
            impl __wide::Wide for #ident {
                type Header = #header_ident;
                const PARTS: &'static [&'static [&'static ::core::primitive::str]] = &[#(&#part_names),*];
                const ARE_NAMES_CHECKED: ::core::primitive::bool = true;
                #header_of
                #write
                #read
            }
        },
    );
    quote!(#definition #items)
}

/// Generates empty trait implementations for an invalid declaration.
pub(crate) fn stub(wide: &Wide<'_>, header: &Entity<'_>) -> TokenStream {
    let (ident, header_ident, runtime) =
        (&wide.entity.original.ident, &header.original.ident, &header.runtime);
    let definition = definition(wide, header);
    let traits = trait_stubs(header);
    let (aliases, none) = (Aliases::default(), parse_quote!(#[none]));
    let placeholder = Key::placeholder(&none);
    let partition_key = header.partition_key.as_ref().unwrap_or(&placeholder);
    let row_key = header.row_key.as_ref().unwrap_or(&placeholder);
    let design =
        Design { entity: header, aliases: &aliases, partition_key, row_key, index: None, stub: true };
    let key = selections::key(&design, &quote!(#header_ident));
    let columns = wide.stored.iter().filter_map(|stored| column(wide, stored));
    let items = wrapped(
        runtime,
        &quote! {
            use #runtime::wide as __wide;
            #traits
            #[automatically_derived]
            impl #ident {
                #key
                #(#columns)*
            }
            #[automatically_derived]
            impl __wide::Wide for #ident {
                type Header = #header_ident;
                const PARTS: &'static [&'static [&'static ::core::primitive::str]] = &[];
                fn header(&self) -> #header_ident {
                    __wide::derived::stub()
                }
                fn write(&self, _: &mut __wide::WideWriter) -> __table::Result<()> {
                    __table::stub()
                }
                fn read(_: #header_ident, _: &__wide::WideReader<'_>) -> __table::Result<Self> {
                    __table::stub()
                }
            }
        },
    );
    quote!(#definition #items)
}

/// Generates the struct that contains only the key fields.
fn definition(wide: &Wide<'_>, header: &Entity<'_>) -> TokenStream {
    let (vis, ident) = (&wide.entity.original.vis, &header.original.ident);
    let doc = format!("The key of a [`{}`], shared by all its parts.", wide.entity.original.ident.unraw());
    let fields = header.fields.iter().map(|Field { ident, ty, vis, .. }| {
        let line = format!("The field `{}` of the key.", ident.unraw());
        quote!(#[doc = #line] #vis #ident: #ty)
    });
    let allow = allow();
    quote! {
        #[doc = #doc]
        #[allow(missing_debug_implementations, reason = "generated: a field of a key need not have one")]
        #allow
        #vis struct #ident { #(#fields),* }
    }
}

/// Generates `fn header(&self) -> YearOfCountsKey`.
fn header_of(header: &Entity<'_>) -> TokenStream {
    let header_ident = &header.original.ident;
    let fields = header.fields.iter().map(|Field { ident, ty, .. }| {
        quote_spanned!(ty.span()=> #ident: <#ty as ::core::clone::Clone>::clone(&self.#ident))
    });
    quote! {
        fn header(&self) -> #header_ident {
            #header_ident { #(#fields),* }
        }
    }
}

fn write(wide: &Wide<'_>) -> TokenStream {
    let out = local("out");
    let calls = wide.stored.iter().filter_map(|stored| {
        let field = wide.entity.fields.get(stored.field)?;
        let Field { ident, ty, .. } = field;
        let Some(property) = wide.property(stored) else {
            let names = slots_name(stored.field);
            return Some(quote!(<#ty as __wide::Slots>::write(&self.#ident, #names, #out)));
        };
        let name = &property.name;
        let property = schema::AsProperty(field);
        Some(quote!(__wide::derived::put(#out, #name, &self.#ident, #property::write_to)))
    });
    quote! {
        fn write(&self, #out: &mut __wide::WideWriter) -> __table::Result<()> {
            __wide::derived::all([#(#calls),*])
        }
    }
}

fn read(wide: &Wide<'_>, header: &Entity<'_>) -> TokenStream {
    let header_ident = &header.original.ident;
    let (header, properties) = (local("header"), local("properties"));
    let fields = wide.entity.fields.iter().enumerate().filter_map(|(at, field)| {
        let Field { ident, ty, .. } = field;
        if wide.entity.key_needs(at) {
            return Some(quote!(#ident: #header.#ident));
        }
        let stored = wide.stored.iter().find(|stored| stored.field == at)?;
        let Some(property) = wide.property(stored) else {
            let names = slots_name(at);
            return Some(quote!(#ident: <#ty as __wide::Slots>::read(#names, #properties)?));
        };
        let (name, stored) = (&property.name, schema::AsProperty(field));
        Some(quote!(#ident: __wide::derived::take(#properties, #name, #stored::from_value)?))
    });
    quote! {
        fn read(#header: #header_ident, #properties: &__wide::WideReader<'_>) -> __table::Result<Self> {
            __table::Ok(Self { #(#fields),* })
        }
    }
}

/// Generates `const __SLOTS_1: &[&str] = slot_names!("Day", 1, 366);`.
fn slots(runtime: &Path, stored: &Stored) -> Option<TokenStream> {
    let slots = stored.slots.as_ref()?;
    let (name, word) = (slots_name(stored.field), &slots.word);
    let [first, count] = [slots.first, slots.count()].map(Literal::usize_unsuffixed);
    Some(quote! {
        const #name: &[&::core::primitive::str] = #runtime::slot_names!(#word, #first, #count);
    })
}

/// Generates the column for patching a field, with the field's visibility and doc comment.
fn column(wide: &Wide<'_>, stored: &Stored) -> Option<TokenStream> {
    let field = wide.entity.fields.get(stored.field)?;
    let (constant, ty, vis) = (columns::constant(field), field.ty, field.vis);
    let mut docs = field.original.attrs.iter().filter(|attr| attr.path().is_ident("doc")).peekable();
    let gap = docs.peek().map(|_| quote!(#[doc = ""]));
    let (line, item) = if let Some(slots) = &stored.slots {
        let (word, digits) = (&slots.word, slots.last.to_string().len());
        let [first, last] = [slots.first, slots.last].map(Literal::usize_unsuffixed);
        let name = |number| format!("{}{number:0digits$}", word.value());
        let line = format!("The slots `{}` to `{}`.", name(slots.first), name(slots.last));
        (line, quote!(__wide::WideSlots<Self, #ty> = __wide::WideSlots::new(#word, #digits, #first..=#last)))
    } else {
        let (name, ty) = (&wide.property(stored)?.name, schema::PropertyType(field));
        (
            format!("The property `{name}`."),
            quote!(__wide::WideProperty<Self, #ty> = __wide::WideProperty::new(#name)),
        )
    };
    Some(quote! {
        #[doc = #line]
        #gap
        #(#docs)*
        #vis const #constant: #item;
    })
}

/// Generates the compile-time check that the length of an array equals the number of slots.
fn require_count(wide: &Wide<'_>, stored: &Stored) -> Option<TokenStream> {
    let slots = stored.slots.as_ref()?;
    let Field { ident, ty, .. } = wide.entity.fields.get(stored.field)?;
    let count = slots.count();
    let message = format!(
        "[T156] the length of `{}` is not its number of slots, {count}; write `[T; {count}]`, or change the range of `slots`",
        ident.unraw()
    );
    let values = quote!(<#ty as __wide::Slots>::COUNT);
    // The check has the span of the field's type, which rustc shows when the evaluation fails.
    Some(quote_spanned! {ty.span()=>
        const _: () = __wide::derived::require_slots(#values, #count, #message);
    })
}

/// Generates `const __PART_0: [&str; 251] = part(&[&["Office"], cut(__SLOTS_1, 0, 250)]);`.
fn constant(wide: &Wide<'_>, at: usize, part: &Part) -> TokenStream {
    let (name, count) = (part_name(at), part.count());
    let runs = part.runs.iter().filter_map(|run| {
        let Run { stored, from, count } = run;
        let stored = wide.stored.get(*stored)?;
        let Some(property) = wide.property(stored) else {
            let names = slots_name(stored.field);
            return Some(quote!(__wide::derived::cut(#names, #from, #count)));
        };
        let name = &property.name;
        Some(quote!(&[#name]))
    });
    quote! {
        const #name: [&::core::primitive::str; #count] = __wide::derived::part(&[#(#runs),*]);
    }
}

fn part_name(at: usize) -> Ident {
    format_ident!("__PART_{at}")
}

fn slots_name(field: usize) -> Ident {
    format_ident!("__SLOTS_{field}")
}
