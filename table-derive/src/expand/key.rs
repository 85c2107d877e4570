//! Generates code for key parts: types, codecs, arguments, and the calls that build a key.

use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Ident, Visibility};

use crate::expand::aliases::{Aliases, PartNames};
use crate::model::index::Index;
use crate::model::key::{Key, Part, Piece};
use crate::model::{Entity, Field};

/// The input for code generation: an entity or one of its indexes, with both keys.
pub(super) struct Design<'e> {
    pub(super) entity: &'e Entity<'e>,
    /// The type aliases created so far.
    pub(super) aliases: &'e Aliases,
    pub(super) partition_key: &'e Key,
    pub(super) row_key: &'e Key,
    /// The index and its number in declaration order, counted from zero, or `None` for the entity itself.
    pub(super) index: Option<(usize, &'e Index)>,
    /// `true` if the declaration is invalid. The generated functions then keep their names and return types, but they accept any arguments and have empty
    /// bodies. This prevents follow-up errors.
    pub(super) stub: bool,
}

/// A field in a key.
pub(super) struct KeyField<'e> {
    pub(super) field: &'e Field<'e>,
    /// The names of the field, its type and its codec.
    pub(super) names: Rc<PartNames>,
    /// The span of the field's type.
    pub(super) span: Span,
    /// `true` if the value might be absent. The compiler determines whether it actually can be; see `IndexPart`.
    pub(super) is_optional: bool,
    /// `true` if the part might support prefix queries.
    pub(super) may_be_text: bool,
    stub: bool,
    word: &'static str,
}

impl KeyField<'_> {
    /// Returns the path of a codec item for this field's type, such as `<Digits<6> as KeyCodec<u32>>::encode`.
    ///
    /// All tokens have the span of the field's type, so rustc reports a wrong type only once, at the field.
    pub(super) fn item(&self, name: &'static str) -> TokenStream {
        self.names.item(name, || self.item_of(self.word, name))
    }

    /// Returns an item of the trait `word`, which the codec implements.
    pub(super) fn item_of(&self, word: &str, name: &str) -> TokenStream {
        let span = self.span;
        let (word, name) = (Ident::new(word, span), Ident::new(name, span));
        let (codec, ty) = (&self.names.codec_alias, self.names.written());
        quote_spanned!(span=> <#codec as __table::#word<#ty>>::#name)
    }

    /// Returns the path of a runtime function, instantiated for the codec and its type, such as `place::<Digits<6>, u32>`.
    pub(super) fn function(&self, name: &str) -> TokenStream {
        let span = self.span;
        let name = Ident::new(name, span);
        let (codec, ty) = (&self.names.codec_alias, self.names.written());
        quote_spanned!(span=> __table::#name::<#codec, #ty>)
    }

    /// Returns the function parameter for a value of the field, such as `id: impl KeyArg<u32>`.
    pub(super) fn argument(&self) -> TokenStream {
        let (name, ty) = (self.field.ident, &self.names.ty);
        if self.stub {
            any()
        } else if self.is_optional {
            // The bound has the field's span, so a type that cannot be in a key is reported once at the field instead of once per function.
            quote_spanned!(self.span=> #name: impl __table::KeyArg<#ty>)
        } else {
            quote!(#name: impl __table::KeyArg<#ty>)
        }
    }

    /// Returns the call that appends the field's argument to a key. The argument must already be a reference.
    fn append_borrowed(&self) -> TokenStream {
        let (argument, name, encode) = (self.field.ident, &self.names.name, self.item("encode"));
        quote_spanned!(self.span=> .part(#name, #argument, #encode))
    }

    /// Returns the call that appends the field's argument to a key: `.part("id", &id, …::encode)`.
    pub(super) fn append(&self) -> TokenStream {
        let (argument, name, encode) = (self.field.ident, &self.names.name, self.item("encode"));
        quote_spanned!(self.span=> .part(#name, &#argument, #encode))
    }
}

impl<'e> Design<'e> {
    pub(super) fn ident(&self) -> &'e Ident {
        &self.entity.original.ident
    }

    pub(super) fn vis(&self) -> &'e Visibility {
        &self.entity.original.vis
    }

    /// Returns the visibility with the given span. rustc reports an item at its first token, which is the visibility, so it also needs the span.
    pub(super) fn vis_at(&self, span: Span) -> Visibility {
        let mut vis = self.vis().clone();
        match &mut vis {
            Visibility::Public(word) => word.span = span,
            Visibility::Restricted(restricted) => restricted.pub_token.span = span,
            Visibility::Inherited => {}
        }
        vis
    }

    /// Returns the field of a key part. The result is never `None`, because all field names have already been resolved.
    pub(super) fn field(&self, part: &Part) -> Option<KeyField<'e>> {
        let field = self.entity.fields.get(part.field)?;
        let is_optional =
            self.index.is_some() && !self.entity.key_needs(part.field) && !part.codec.is_custom();
        let names = self.aliases.part(field, part, is_optional);
        let word = if part.codec.is_decodable() { "KeyCodec" } else { "DerivedPart" };
        let (span, may_be_text) = (field.span, part.codec.may_be_text());
        Some(KeyField { field, names, span, is_optional, may_be_text, stub: self.stub, word })
    }

    /// Returns the selection type for a cost class.
    pub(super) fn selection(&self, class: &str) -> TokenStream {
        self.selection_at(Span::call_site(), class)
    }

    /// Returns the selection type for a cost class, with all tokens at the given span.
    pub(super) fn selection_at(&self, span: Span, class: &str) -> TokenStream {
        let (ty, class) = (self.entity.ty(), Ident::new(class, span));
        if self.index.is_none() {
            return quote_spanned!(span=> __table::Selection<#ty, __table::#class>);
        }
        let source = self.source(span);
        quote_spanned!(span=> __table::Selection<#ty, __table::#class, #source>)
    }

    /// Returns the type that indicates the source of the rows: the entity, its copies or its lists.
    pub(super) fn source(&self, span: Span) -> TokenStream {
        let Some((_, index)) = self.index else { return quote_spanned!(span=> __table::Primary) };
        let marker = index.marker(self.entity);
        let source = Ident::new(if index.attr.list { "Lists" } else { "Copies" }, span);
        quote_spanned!(span=> __table::#source<#marker>)
    }

    /// Returns the name of the constant that contains the pieces of a key, such as `__ROW_KEY`.
    pub(super) fn constant(&self, key: &str) -> Ident {
        match self.index {
            None => format_ident!("__{key}"),
            Some((at, _)) => format_ident!("__INDEX_{at}_{key}"),
        }
    }

    /// Returns the name of the constant that contains the pieces of the `PartitionKey`. An index without a `PartitionKey` uses the entity's constant.
    pub(super) fn partition_constant(&self) -> Ident {
        match self.index {
            Some((_, index)) if index.partition_key.is_none() => format_ident!("__PARTITION_KEY"),
            _ => self.constant("PARTITION_KEY"),
        }
    }

    /// Returns the name of the function that selects rows, and the name of its return type: `rows` and `EmployeeRows`.
    pub(super) fn rows_names(&self) -> (Ident, Ident) {
        match self.index {
            None => (format_ident!("rows"), format_ident!("{}Rows", self.ident().unraw())),
            Some((_, index)) => {
                (format_ident!("{}_rows", index.method()), format_ident!("{}Rows", index.marker(self.entity)))
            }
        }
    }

    /// Returns function parameters for the fields on which the given keys depend, without duplicates.
    ///
    /// A field is a parameter even if the keys contain it only in lossy form, such as a hash. If `with_buckets`
    /// is `false`, a field that the keys contain only as a bucket is skipped.
    pub(super) fn arguments(&self, keys: &[&Key], with_buckets: bool) -> Vec<TokenStream> {
        let fields = self.argument_fields(keys, with_buckets);
        let mut arguments: Vec<TokenStream> = fields.iter().map(KeyField::argument).collect();
        arguments.extend(keys.iter().flat_map(|key| (0..key.placeholders).map(|_| any())));
        arguments
    }

    /// Returns the fields of [`arguments`](Self::arguments).
    pub(super) fn argument_fields(&self, keys: &[&Key], with_buckets: bool) -> Vec<KeyField<'e>> {
        let given = |part: &Part| keys.iter().any(|key| key.can_decode(part.field));
        let mut seen = Vec::new();
        let mut fields = Vec::new();
        for part in keys.iter().flat_map(|key| key.parts()) {
            let is_asked = with_buckets || !part.codec.is_bucket();
            let is_argument = part.codec.is_decodable() || (is_asked && !given(part));
            if !is_argument || seen.contains(&part.field) {
                continue;
            }
            seen.push(part.field);
            fields.extend(self.field(part));
        }
        fields
    }

    /// Returns `argument` as the function parameter. In a stub, the parameter accepts any type instead.
    pub(super) fn parameter(&self, argument: TokenStream) -> TokenStream {
        if self.stub { any() } else { argument }
    }

    /// Returns `body` as the body of a function. A stub gets `loop {}` instead.
    pub(super) fn body(&self, body: TokenStream) -> TokenStream {
        if self.stub { quote!(loop {}) } else { body }
    }

    /// Generates the function that all selections call to get the `PartitionKey`: `fn __partition_key(department:
    /// &impl KeyArg<String>) -> KeyText`.
    pub(super) fn partition_text(&self) -> TokenStream {
        let fields = self.partition_fields();
        let arguments = fields.iter().map(|KeyField { field, names, .. }| {
            let (name, ty) = (field.ident, &names.ty);
            quote!(#name: &impl __table::KeyArg<#ty>)
        });
        let calls = self.partition_key.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => quote!(.literal(#text)),
            Piece::Part(part) => self.field(part).map(|field| field.append_borrowed()).unwrap_or_default(),
        });
        quote! {
            fn __partition_key(#(#arguments),*) -> __table::KeyText {
                __table::KeyText::new() #(#calls)*
            }
        }
    }

    /// Returns the fields of the entity's `PartitionKey`, without duplicates.
    fn partition_fields(&self) -> Vec<KeyField<'e>> {
        let mut seen = Vec::new();
        let parts = self.partition_key.parts().filter(|part| {
            let is_new = !seen.contains(&part.field);
            seen.push(part.field);
            is_new
        });
        parts.filter_map(|part| self.field(part)).collect()
    }

    /// Returns an expression that builds the `PartitionKey` from the function's arguments, for selections that do not enumerate buckets.
    pub(super) fn partition_of_arguments(&self) -> TokenStream {
        if self.index.is_some_and(|(_, index)| index.partition_key.is_some()) {
            return self.text(self.partition_key, false);
        }
        let names = self.partition_fields().into_iter().map(|field| field.field.ident);
        quote!(__partition_key(#(&#names),*))
    }

    /// Returns the calls that build a key from arguments named after the fields. If `each_bucket` is `true`, the calls enumerate all buckets. Otherwise, they
    /// compute each bucket from its field's value.
    pub(super) fn text(&self, key: &Key, each_bucket: bool) -> TokenStream {
        let start =
            if each_bucket { quote!(__table::KeyTexts::new()) } else { quote!(__table::KeyText::new()) };
        let calls = key.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => quote!(.literal(#text)),
            Piece::Part(part) => {
                let Some(field) = self.field(part) else { return TokenStream::new() };
                if each_bucket && part.codec.is_bucket() && !key.can_decode(part.field) {
                    let bucket = &field.names.codec_alias;
                    quote_spanned!(field.span=> .buckets(<#bucket>::COUNT, <#bucket>::encode_bucket))
                } else {
                    field.append()
                }
            }
        });
        quote!(#start #(#calls)*)
    }

    /// Returns `true` if the key contains a value only as a bucket. Selecting a single partition then requires the value.
    pub(super) fn is_spread(&self) -> bool {
        let key = self.partition_key;
        key.parts().any(|part| part.codec.is_bucket() && !key.can_decode(part.field))
    }
}

/// Returns a parameter type that accepts any argument.
fn any() -> TokenStream {
    quote!(_: impl ::core::marker::Sized)
}

/// Returns the pieces of a key without field names, as stored in the key's constant: `&__ROW_KEY.forms`.
pub(super) fn forms(constant: &Ident) -> TokenStream {
    quote!(&#constant.forms)
}

/// Formats a key for documentation, such as `` `"empid_" + id` ``.
pub(super) fn describe(key: &Key) -> String {
    let pieces = key.pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => format!("{:?}", text.value()),
        Piece::Part(part) if !part.codec.is_decodable() => {
            let word = part.codec.word().map_or("part", |word| word.name);
            format!("{word} of {}", part.name.unraw())
        }
        Piece::Part(part) => part.name.unraw().to_string(),
    });
    format!("`{}`", pieces.collect::<Vec<_>>().join(" + "))
}

/// Returns the parts of a key, each with its position.
pub(super) fn parts(key: &Key) -> impl Iterator<Item = (usize, &Part)> {
    key.pieces.iter().enumerate().filter_map(|(at, piece)| match piece {
        Piece::Literal(_) => None,
        Piece::Part(part) => Some((at, part)),
    })
}
