//! Generates a typed column for each field, such as `Employee::AGE`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;

use crate::casing::upper_case;
use crate::expand::key::Design;
use crate::expand::schema::PropertyType;
use crate::model::key::Part;
use crate::model::{Entity, Field};

/// Generates `const AGE: Column<Self, i32> = Column::new("Age");` for each property, with the visibility and doc comment of the field.
pub(super) fn columns(entity: &Entity<'_>) -> TokenStream {
    let columns = entity.fields.iter().enumerate().filter_map(|(at, field)| {
        let property = field.property.as_ref().filter(|property| !property.chunks)?;
        // The duplicate constant name has already been reported.
        if entity.same_constant(at).is_some() {
            return None;
        }
        let name = &property.name;
        // A `Table` patch does not update the entity's other rows, such as index or feed rows. No patch can change a key.
        let is_indexed = entity.is_indexed(at) || entity.feed.is_some() || entity.has_copies();
        let marker = if entity.key_needs(at) {
            Some(quote!(, __table::OfKey))
        } else {
            is_indexed.then(|| quote!(, __table::Indexed))
        };
        let column = constant(field);
        let (vis, ty) = (field.vis, PropertyType(field));
        let mut own = field.original.attrs.iter().filter(|attr| attr.path().is_ident("doc")).peekable();
        let gap = own.peek().map(|_| quote!(#[doc = ""]));
        let line = format!("The property `{name}`.");
        Some(quote! {
            #[doc = #line]
            #gap
            #(#own)*
            #vis const #column: __table::Column<Self, #ty #marker> = __table::Column::new(#name);
        })
    });
    quote!(#(#columns)*)
}

/// Generates `const ID: KeyColumn<Self, u32> = KeyColumn::of_row_key("id", …, Digits::<6>::decode);` for each field stored only in the key.
pub(super) fn key_columns(design: &Design<'_>) -> TokenStream {
    let fields = design.entity.fields.iter().enumerate();
    let columns = fields.filter(|(_, field)| is_of_key_alone(field)).filter_map(|(at, field)| {
        let (key, forms, of) = if design.partition_key.can_decode(at) {
            (design.partition_key, quote!(__PARTITION_KEY), quote!(of_partition_key))
        } else {
            (design.row_key, quote!(__ROW_KEY), quote!(of_row_key))
        };
        let can_decode = |part: &Part| part.field == at && part.codec.is_decodable();
        let (place, part) = key.parts().enumerate().find(|(_, part)| can_decode(part))?;
        let part = design.field(part)?;
        let (vis, ty, column, name, decode) =
            (field.vis, field.ty, constant(field), &part.names.name, part.item("decode"));
        let line = format!("The field `{name}` of the key, for projections.");
        // The tokens have the span of the field's type; see `KeyField::item`.
        let value = quote_spanned! {field.span=>
            __table::KeyColumn::#of(#name, &#forms.forms, #place, #decode)
        };
        Some(quote! {
            #[doc = #line]
            #vis const #column: __table::KeyColumn<Self, #ty> = #value;
        })
    });
    quote!(#(#columns)*)
}

/// Generates stubs of the key columns for an invalid declaration.
pub(super) fn key_column_stubs(entity: &Entity<'_>) -> TokenStream {
    let fields = entity.fields.iter().enumerate();
    let fields = fields.filter(|(at, field)| is_of_key_alone(field) && entity.same_constant(*at).is_none());
    let columns = fields.map(|(_, field)| {
        let (vis, ty, column) = (field.vis, field.ty, constant(field));
        quote! {
            #vis const #column: __table::KeyColumn<Self, #ty> =
                __table::KeyColumn::of_row_key("", &[], 0, |_| __table::stub());
        }
    });
    quote!(#(#columns)*)
}

/// Returns `true` if the field is stored only in the key.
fn is_of_key_alone(field: &Field<'_>) -> bool {
    field.property.is_none() && field.attrs.rest.is_none()
}

/// Returns the name of the constant for a field.
pub(super) fn constant(field: &Field<'_>) -> Ident {
    Ident::new(&upper_case(&field.ident.unraw().to_string()), field.ident.span())
}
