//! Generates the schemas of entities as constants.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{LitStr, Type};

use crate::expand::key::{Design, KeyField};
use crate::expand::relations;
use crate::model::key::{Key, Part, Piece};
use crate::model::property::Property;
use crate::model::{Entity, Field};
use crate::symbol::{HOT_PARTITION, LOW_CARDINALITY};

/// The constants for the pieces of both keys, and the compile-time checks that the keys are valid.
pub(super) struct Keys {
    /// `const __ROW_KEY: &KeyOf<2> = &KeyOf::new([KeyPiece::Literal("empid_"), …]);`, and a similar constant for the other key.
    pub(super) constants: TokenStream,
    /// Statements for a constant whose evaluation fails if a key is invalid.
    pub(super) proof: TokenStream,
}

/// Generates a single constant that contains the compile-time checks for all keys of an entity, because each constant costs compile time.
pub(super) fn proven(proofs: &TokenStream) -> TokenStream {
    quote!(const _: () = { #proofs };)
}

/// Generates the constants for the pieces of both keys.
pub(super) fn keys(design: &Design<'_>) -> Keys {
    let entity = design.entity.name.clone();
    let mut keys = vec![("ROW_KEY", "RowKey", design.row_key)];
    // An index without a `PartitionKey` uses the entity's `PartitionKey`, which has already been checked.
    if design.index.is_none_or(|(_, index)| index.partition_key.is_some()) {
        keys.insert(0, ("PARTITION_KEY", "PartitionKey", design.partition_key));
    }
    let (mut constants, mut proof) = (TokenStream::new(), TokenStream::new());
    for (constant, word, key) in keys {
        let constant = design.constant(constant);
        let (word, levels_of) = match design.index {
            None => (word.to_owned(), entity.clone()),
            Some((_, index)) => {
                let name = index.attr.name.unraw();
                (format!("{word} of the index `{name}`"), format!("{entity}::{name}"))
            }
        };
        let (count, pieces) = (key.pieces.len(), pieces(design, key));
        // The check has the span of the attribute's name, which rustc shows when the evaluation fails.
        let at = key.original.path().span();
        proof.extend([if key.levels {
            quote_spanned!(at=> __table::require_levels(#constant, #levels_of);)
        } else if key.unread {
            quote_spanned!(at=> __table::require_ambiguous(#constant, #word, #entity);)
        } else {
            quote_spanned!(at=> __table::require_key(#constant, #word, #entity);)
        }]);
        constants.extend([quote! {
            const #constant: &__table::KeyOf<#count> = &__table::KeyOf::new([#pieces]);
        }]);
    }
    let cardinality = design.index.is_none().then(|| cardinality(design, &entity)).flatten();
    let spread = design.index.is_none().then(|| spread(design, &entity)).flatten();
    proof.extend(cardinality.into_iter().chain(spread));
    Keys { constants, proof }
}

/// Generates the compile-time check that the partition key does not consist only of times, unless the declaration waives the check (PAT-ANTI-1).
fn spread(design: &Design<'_>, entity: &str) -> Option<TokenStream> {
    let key = design.partition_key;
    let is_hot = design.entity.allows.get(HOT_PARTITION).is_some();
    if is_hot || key.parts().any(|part| part.codec.is_bucket()) {
        return None;
    }
    let fields: Vec<_> = key.parts().filter_map(|part| design.field(part)).collect();
    let facts = fields.iter().map(|field| field.item("FACTS"));
    let at = key.original.path().span();
    (!fields.is_empty())
        .then(|| quote_spanned!(at=> __table::require_spread(&[#(#facts.follows_time),*], #entity);))
}

/// Generates the compile-time check that the partition key starts with a field that can have many values, unless the declaration waives it (HPK-9).
fn cardinality(design: &Design<'_>, entity: &str) -> Option<TokenStream> {
    let first = design.partition_key.first_level().filter(|part| part.codec.is_decodable())?;
    if design.entity.allows.get(LOW_CARDINALITY).is_some() {
        return None;
    }
    let field = design.field(first)?;
    let (name, facts) = (&field.names.name, field.item("FACTS"));
    Some(
        quote_spanned!(first.name.span()=> __table::require_cardinality(#facts.cardinality, #name, #entity);),
    )
}

/// Generates `const SCHEMA: &'static EntitySchema = &EntitySchema { entity: "Employee", table: "Company", … };`.
pub(super) fn schema(design: &Design<'_>) -> TokenStream {
    let entity = design.entity.schema_name.as_ref().map_or_else(|| design.entity.name.clone(), LitStr::value);
    let table = &design.entity.table.0;
    let properties =
        if design.entity.parameters.is_empty() { quote!(__PROPERTIES) } else { list(design.entity) };
    let kind = option(design.entity.kind.as_ref().map(|kind| quote!(#kind)));
    let indexes = design.entity.indexes.iter().map(|index| {
        let marker = index.marker(design.entity);
        quote!(*<#marker as __table::Index>::SCHEMA)
    });
    let feed = design.entity.feed.is_some().then(|| "feed".to_owned());
    let rest = design.entity.rest().map(|_| "rest".to_owned());
    let keeps = relations::names(design.entity).chain(feed).chain(rest);
    quote! {
        const SCHEMA: &'static __table::EntitySchema = &__table::EntitySchema {
            entity: #entity,
            table: #table,
            kind: #kind,
            partition_key: &__PARTITION_KEY.pieces,
            row_key: &__ROW_KEY.pieces,
            properties: #properties,
            indexes: &[#(#indexes),*],
            keeps: &[#(#keeps),*],
        };
    }
}

/// Generates `const __PROPERTIES: &[PropertySchema] = &[property_schema("Age", "age", …)];`, which the indexes share, and the shape of a row with all
/// properties. Returns `None` for a generic entity, whose types are known only inside its `impl`s.
pub(super) fn properties(entity: &Entity<'_>) -> Option<TokenStream> {
    let properties = list(entity);
    entity.parameters.is_empty().then(|| {
        quote! {
            const __PROPERTIES: &[__table::PropertySchema] = #properties;
            static __SHAPE: __table::Shape = __table::Shape::new();
        }
    })
}

/// Returns the tokens for the shape of the entity's rows (the names and types of their properties), or for an empty slice if the shape is unknown.
pub(super) fn shape(entity: &Entity<'_>) -> TokenStream {
    if !entity.parameters.is_empty() {
        return quote!(&[]);
    }
    let kind = option(entity.kind.as_ref().map(|kind| quote!(#kind)));
    // The function is called by its path, because in a method call, the method of a blanket trait could take precedence.
    quote!(__table::Shape::bytes(&__SHAPE, #kind, __PROPERTIES))
}

fn list(entity: &Entity<'_>) -> TokenStream {
    let properties =
        entity.properties().map(|(field, property)| self::property(field, property, &property.name, false));
    // Additional chunks come last, so the other properties remain in field order.
    let chunks = entity.properties().flat_map(|(field, property)| {
        property.more_chunks().map(move |name| self::property(field, property, &name, true))
    });
    let all = properties.chain(chunks);
    quote!(&[#(#all),*])
}

/// Returns the schema of one property. `is_more` is `true` for every chunk except the first, because these chunks may be absent.
fn property(field: &Field<'_>, property: &Property, name: &str, is_more: bool) -> TokenStream {
    let ident = field.ident.unraw().to_string();
    if property.chunks {
        let ty = field.ty;
        let optional = if is_more { quote!(true) } else { quote!(<#ty as __table::Chunked>::OPTIONAL) };
        return quote_spanned! {field.span=>
            __table::PropertySchema { name: #name, field: #ident, edm: <#ty as __table::Chunked>::EDM, optional: #optional }
        };
    }
    let stored = AsProperty(field);
    let ty = field.ty;
    if field.attrs.json.is_some() || is_json(ty) {
        // An inherent constant of `MayBeNull` takes precedence over the trait's.
        return quote_spanned! {field.span=>
            {
                #[allow(unused_imports, reason = "generated")]
                use __table::NotNull as _;
                __table::json_schema(#name, #ident, #stored::FACTS, __table::MayBeNull::<#ty>::IS)
            }
        };
    }
    // The check has the span of the field's type, which rustc shows when the evaluation fails.
    quote_spanned! {field.span=>
        __table::property_schema(#name, #ident, #stored::FACTS)
    }
}

/// Returns `true` if a type is named `Json`.
fn is_json(ty: &Type) -> bool {
    matches!(ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == "Json"))
}

/// A field as a property, for paths such as `<i32 as Property>::EDM`. The type of a JSON field is named without its wrapper, so a type without serde's traits
/// is reported only once, under its own name.
pub(super) struct AsProperty<'f>(pub(super) &'f Field<'f>);

impl ToTokens for AsProperty<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let ty = self.0.ty;
        tokens.extend(if self.0.attrs.json.is_some() {
            quote!(<#ty as __table::JsonValue>)
        } else {
            quote!(<#ty as __table::Property>)
        });
    }
}

/// The stored type of a field. It appends its tokens directly, like [`Declared`](crate::model::generics::Declared).
pub(super) struct PropertyType<'f>(pub(super) &'f Field<'f>);

impl ToTokens for PropertyType<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let ty = self.0.ty;
        if self.0.attrs.json.is_some() {
            tokens.extend(quote!(__table::Json<#ty>));
        } else {
            ty.to_tokens(tokens);
        }
    }
}

fn pieces(design: &Design<'_>, key: &Key) -> TokenStream {
    let pieces = key.pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => quote!(__table::KeyPiece::Literal(#text)),
        Piece::Part(part) => {
            let Some(field) = design.field(part) else { return TokenStream::new() };
            let name = &field.names.name;
            if !part.codec.may_fault() || is_reported(design, part, &field) {
                let piece = field.item("PIECE");
                return quote!(__table::key_field(#name, #piece));
            }
            let (codec, form, facts) = (field.item("NAME"), field.item("FORM"), field.item("FACTS"));
            let declared = design.entity.fields.get(part.field);
            let is_stored = declared.is_some_and(|field| field.property.is_some());
            // The check has the span of the field's type, which rustc shows when the evaluation fails.
            let asked =
                if declared.is_some_and(|field| field.attrs.codec.is_some()) { "" } else { name.as_str() };
            let form = if is_stored && part.codec.may_be_finer() {
                quote_spanned!(field.span=> __table::require_stored(#facts, #asked, #form))
            } else {
                quote_spanned!(field.span=> __table::require_sound(#facts.fault, #asked, #form))
            };
            quote!(__table::KeyPiece::Field { field: #name, codec: #codec, form: #form })
        }
    });
    quote!(#(#pieces),*)
}

/// Returns `true` if the entity's key contains the same part, so mistakes in the part are already reported for the entity's key.
fn is_reported(design: &Design<'_>, part: &Part, field: &KeyField<'_>) -> bool {
    let own =
        [&design.entity.partition_key, &design.entity.row_key].into_iter().flatten().flat_map(Key::parts);
    let codec = field.names.codec.to_string();
    let mut same = own.filter(|own| {
        own.field == part.field && own.codec.ty(&field.names.ty, field.span).to_string() == codec
    });
    design.index.is_some() && same.next().is_some()
}

pub(super) fn option(tokens: Option<TokenStream>) -> TokenStream {
    tokens.map_or_else(|| quote!(__table::None), |tokens| quote!(__table::Some(#tokens)))
}
