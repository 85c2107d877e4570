//! Generates code that reads an entity. It splits the keys into pieces and then searches for the properties in the order they are written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Lifetime;

use crate::expand::key::{self, Design, KeyField};
use crate::expand::schema::{self, AsProperty};
use crate::expand::writing::local;
use crate::model::key::{Key, Part};
use crate::model::property::Property;
use crate::model::{Entity, Field};

/// Generates `from_entity`, which reads an entity:
///
/// ```text
/// fn from_entity(entity: EntityRef<'_>) -> Result<Self> {
///     let reader = &mut EntityReader::new(entity, &__PARTITION_KEY.forms);
///     'fail: {
///         let Some(department) = reader.part("department", <<String as KeyPart>::Codec as KeyCodec<String>>::decode) else { break 'fail; };
///         reader.row_key(&__ROW_KEY.forms);
///         … the same of the RowKey …
///         if !reader.properties(__SHAPE) { break 'fail; }
///         let Some(age) = <i32 as Property>::read_next(&mut reader.search, "Age") else { break 'fail; };
///         return Ok(Self { department, id, age });
///     }
///     reader.fail()
/// }
/// ```
///
/// If a property or another part contains the same value as a part, the part is kept as a string and compared once the value is known. A bucket is handled in
/// the same way.
pub(super) fn from_entity(design: &Design<'_>) -> TokenStream {
    let entity = local("entity");
    let mut reading = Reading::new(design, schema::shape(design.entity));
    let is_from_key = |at: usize| design.entity.fields.get(at).is_some_and(|field| field.property.is_none());
    let keys = reading.keys(&entity, &is_from_key);
    let properties = design.entity.properties().map(|(field, property)| read_property(field, property));
    let kind = kind(design.entity).map(|condition| require(&condition));
    let rest = design.entity.rest().map(|field| read_rest(field, &quote!(__table::None)));
    let compared = &reading.compared;
    let fields = design.entity.fields.iter().map(|field| field.ident);
    let value = quote!(Self { #(#fields),* });
    let value = if design.entity.has_unread_key() {
        quote!(__table::of_its_key(#value, #entity))
    } else {
        quote!(__table::Ok(#value))
    };
    let body = body(&keys, &quote!(#kind #(#properties)* #rest #(#compared)*), &value);
    quote! {
        fn from_entity(#entity: __table::EntityRef<'_>) -> __table::Result<Self> {
            #body
        }
    }
}

/// Generates `let Some(age) = <i32 as Property>::read_next(&mut reader.search, "Age") else { break 'fail; };`.
pub(super) fn read_property(field: &Field<'_>, property: &Property) -> TokenStream {
    let (name, ident, stored) = (&property.name, field.ident, AsProperty(field));
    let reader = local("reader");
    if property.chunks {
        let ty = field.ty;
        let value =
            quote_spanned!(field.span=> <#ty as __table::Chunked>::read_chunks(&mut #reader.search, #name));
        return bind(field.span, ident, &value);
    }
    let fail = fail();
    quote! {
        let __table::Some(#ident) = #stored::read_next(&mut #reader.search, #name) else { break #fail; };
    }
}

/// Generates `let Some(rest) = <BTreeMap<String, Value> as Rest>::find_rest(&mut reader.search, <Self as Entity>::SCHEMA, None) else { … };`.
pub(super) fn read_rest(field: &Field<'_>, index: &TokenStream) -> TokenStream {
    let (ident, ty, reader) = (field.ident, field.ty, local("reader"));
    let design = quote!(<Self as __table::Entity>::SCHEMA, #index);
    let value = quote_spanned!(field.span=> <#ty as __table::Rest>::find_rest(&mut #reader.search, #design));
    bind(field.span, ident, &value)
}

/// Generates `let Some(pattern) = value else { break 'fail; };`.
pub(super) fn bind(span: Span, pattern: &impl ToTokens, value: &TokenStream) -> TokenStream {
    let fail = fail();
    quote_spanned!(span=> let __table::Some(#pattern) = #value else { break #fail; };)
}

/// Generates the check that a stored entity has the kind of its type: `reader.is_kind("Employee")`. In a set, a type without a kind accepts only entities
/// without a kind, as the set does. A type that has its own `EntityType` property, as a field or in a `rest` field, is exempt.
pub(super) fn kind(entity: &Entity<'_>) -> Option<TokenStream> {
    let reader = local("reader");
    if let Some(kind) = &entity.kind {
        return Some(quote!(#reader.is_kind(#kind)));
    }
    let declares =
        || entity.properties().any(|(_, property)| property.names().any(|name| name == "EntityType"));
    (entity.set.is_some() && entity.rest().is_none() && !declares()).then(|| quote!(#reader.has_no_kind()))
}

fn require(condition: &TokenStream) -> TokenStream {
    let fail = fail();
    quote!(if !#condition { break #fail; })
}

/// The first part of a function that reads keys: it creates the reader and reads the key parts.
pub(super) struct Keys {
    reader: TokenStream,
    parts: TokenStream,
}

/// Returns the body of a function that reads keys and properties. All failures exit through one block because each call to `fail` costs compile time.
pub(super) fn body(keys: &Keys, properties: &TokenStream, value: &TokenStream) -> TokenStream {
    let (reader, fail) = (local("reader"), fail());
    let Keys { reader: start, parts } = keys;
    quote! {
        #start
        #fail: {
            #parts
            #properties
            return #value;
        }
        #reader.fail()
    }
}

/// Returns the label of the block through which failures exit. The label is hygienic, so it never conflicts with a user's label.
fn fail() -> Lifetime {
    Lifetime::new("'fail", Span::mixed_site())
}

/// The state while generating code that reads both keys, part by part.
pub(super) struct Reading<'d> {
    design: &'d Design<'d>,
    /// The constant for the shape of the rows (the names and types of their properties).
    shape: TokenStream,
    given: Vec<usize>,
    /// The comparisons made by the generated code once all values are known.
    pub(super) compared: Vec<TokenStream>,
}

impl<'d> Reading<'d> {
    pub(super) fn new(design: &'d Design<'d>, shape: TokenStream) -> Self {
        Self { design, shape, given: Vec::new(), compared: Vec::new() }
    }

    /// Generates code that binds the `wanted` key fields to local variables of the same names.
    pub(super) fn keys(&mut self, entity: &Ident, wanted: &dyn Fn(usize) -> bool) -> Keys {
        let reader = local("reader");
        let partition_forms = key::forms(&self.design.partition_constant());
        let row_forms = key::forms(&self.design.constant("ROW_KEY"));
        let partition_key = self.key(self.design.partition_key, wanted);
        let row_key = self.key(self.design.row_key, wanted);
        // The call goes through a reference, so the reader's methods take precedence over those of a blanket trait.
        let shape = &self.shape;
        let end = require(&quote!(#reader.properties(#shape)));
        Keys {
            reader: quote!(let #reader = &mut __table::EntityReader::new(#entity, #partition_forms);),
            parts: quote! {
                #partition_key
                #reader.row_key(#row_forms);
                #row_key
                #end
            },
        }
    }

    fn key(&mut self, key: &Key, wanted: &dyn Fn(usize) -> bool) -> TokenStream {
        if key.unread {
            let reader = local("reader");
            return quote!(#reader.pass(););
        }
        let parts = key.parts().filter_map(|part| Some((part, self.design.field(part)?)));
        let parts: Vec<_> = parts.collect();
        parts.iter().map(|(part, field)| self.part(part, field, wanted)).collect()
    }

    fn part(&mut self, part: &Part, field: &KeyField<'_>, wanted: &dyn Fn(usize) -> bool) -> TokenStream {
        let reader = local("reader");
        let (ident, name, span) = (field.field.ident, &field.names.name, field.span);
        if part.codec.is_decodable() && !self.given.contains(&part.field) && wanted(part.field) {
            self.given.push(part.field);
            let decode = field.item("decode");
            let value = quote_spanned!(span=> #reader.part(#name, #decode));
            let read = bind(span, ident, &value);
            let unwrap = field.is_optional.then(|| {
                let ty = field.field.ty;
                quote_spanned!(span=> let #ident = <#ty as __table::IndexPart>::from_part(#ident);)
            });
            return quote!(#read #unwrap);
        }
        let kept = local(&format!("text_{}", self.compared.len()));
        let value = if field.is_optional {
            quote_spanned!(span=> __table::indexed(#name, &#ident)?)
        } else {
            quote!(&#ident)
        };
        let property = field.field.property.as_ref().filter(|_| !wanted(part.field));
        let compared = if !part.codec.is_decodable() {
            let check = field.item("check");
            quote_spanned!(span=> #reader.is_right(#name, #check(#value, #kept)))
        } else if let Some(Property { name: property, .. }) = property {
            let encode = field.item("encode");
            quote_spanned!(span=> #reader.is_also(#name, #property, #value, #kept, #encode))
        } else {
            let encode = field.item("encode");
            quote_spanned!(span=> #reader.is_same(#name, #value, #kept, #encode))
        };
        self.compared.push(require(&compared));
        bind(span, &kept, &quote!(#reader.text()))
    }
}
