//! Short aliases for types that occur repeatedly in an expansion.

use std::cell::RefCell;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Type, parse_quote_spanned};

use crate::codec::Codec;
use crate::model::Field;
use crate::model::key::Part;

/// The aliased types, in order of first use.
#[derive(Default)]
pub(super) struct Aliases {
    types: RefCell<Vec<(String, TokenStream)>>,
    /// A cache of the key parts named so far. An expansion refers to each part many times, and printing or parsing a type is slow in an unoptimised macro.
    parts: RefCell<Vec<(PartId, Rc<PartNames>)>>,
}

/// Identifies a key part by its field and codec. The flag is `true` for a part of an index whose value may be absent.
type PartId = (usize, Rc<Codec>, bool);

/// The names of a key part in generated code.
pub(super) struct PartNames {
    /// The field name without `r#`.
    pub(super) name: String,
    /// The encoded type: the type of the field, or the type inside its `Option` if the index is sparse.
    pub(super) ty: Type,
    /// The type of the field's codec.
    pub(super) codec: TokenStream,
    /// The alias of the codec type.
    pub(super) codec_alias: Ident,
    /// The alias of the encoded type, if it differs from the field's type.
    pub(super) ty_alias: Option<Ident>,
    /// A cache of the codec's items named so far, such as `encode`.
    items: RefCell<Vec<(&'static str, TokenStream)>>,
}

impl PartNames {
    /// Returns the encoded type, or its alias if it has one.
    pub(super) fn written(&self) -> &dyn ToTokens {
        self.ty_alias.as_ref().map_or(&self.ty as &dyn ToTokens, |alias| alias)
    }

    /// Returns the codec's item called `name`. `written` creates the item on first use.
    pub(super) fn item(&self, name: &'static str, written: impl FnOnce() -> TokenStream) -> TokenStream {
        let mut items = self.items.borrow_mut();
        if let Some((_, item)) = items.iter().find(|(known, _)| *known == name) {
            return item.clone();
        }
        let item = written();
        items.push((name, item.clone()));
        item
    }
}

impl Aliases {
    /// Returns the names of a key part, creating them on first use.
    pub(super) fn part(&self, field: &Field<'_>, part: &Part, is_optional: bool) -> Rc<PartNames> {
        let is_same = |(at, codec, lacks): &PartId| {
            *at == part.field && *lacks == is_optional && Rc::ptr_eq(codec, &part.codec)
        };
        let known = self.parts.borrow().iter().find(|(id, _)| is_same(id)).map(|(_, names)| Rc::clone(names));
        known.unwrap_or_else(|| {
            let names = Rc::new(self.named(field, &part.codec, is_optional));
            let id = (part.field, Rc::clone(&part.codec), is_optional);
            self.parts.borrow_mut().push((id, Rc::clone(&names)));
            names
        })
    }

    fn named(&self, field: &Field<'_>, codec: &Codec, is_optional: bool) -> PartNames {
        let (whole, span) = (field.ty, field.span);
        let (name, items) = (field.ident.unraw().to_string(), RefCell::default());
        if !is_optional {
            let codec = codec.ty(whole, span);
            let alias = self.name(codec.clone(), span);
            return PartNames { name, ty: whole.clone(), codec, codec_alias: alias, ty_alias: None, items };
        }
        let ty: Type = parse_quote_spanned!(span=> <#whole as __table::IndexPart>::Part);
        let codec = codec.ty(&ty, span);
        let alias = self.name(codec.clone(), span);
        let written = self.name(ty.to_token_stream(), span);
        PartNames { name, ty, codec, codec_alias: alias, ty_alias: Some(written), items }
    }

    /// Returns the alias of a type, as an identifier with the given span.
    fn name(&self, ty: TokenStream, span: Span) -> Ident {
        let (mut types, text) = (self.types.borrow_mut(), ty.to_string());
        let at = types.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
            types.push((text, ty));
            types.len() - 1
        });
        let mut name = name(at);
        name.set_span(span);
        name
    }

    /// Generates the definition of each alias: `type __Type0 = Digits<6>;`.
    pub(super) fn items(&self) -> TokenStream {
        let types = self.types.borrow();
        let items = types.iter().enumerate().map(|(at, (_, ty))| {
            let name = name(at);
            quote!(type #name = #ty;)
        });
        quote!(#(#items)*)
    }
}

fn name(at: usize) -> Ident {
    format_ident!("__Type{at}")
}
