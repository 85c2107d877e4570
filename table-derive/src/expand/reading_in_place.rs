//! Generates code that reads into an existing entity, reusing the memory of its strings and byte vectors.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{GenericArgument, PathArguments, Type};

use crate::expand::key::{self, Design};
use crate::expand::writing::local;
use crate::expand::{reading, schema};
use crate::model::Field;
use crate::model::key::Key;
use crate::model::property::Property;

/// Generates `read_again`, which reads into an existing entity:
///
/// ```text
/// fn read_again(&mut self, entity: EntityRef<'_>, is_same_partition: bool) -> Result<()> {
///     let reader = &mut EntityReader::again(entity, &__PARTITION_KEY.forms, is_same_partition);
///     let is_read = reader.part_again("department", &mut self.department, <<String as KeyPart>::Codec as KeyCodec<String>>::decode_again)
///         && reader.row_key(&__ROW_KEY.forms)
///         && … the same of the RowKey …
///         && reader.properties(__SHAPE)
///         && <i32 as Property>::read_again(&mut self.age, &mut reader.search, "Age");
///     reader.end(is_read)
/// }
/// ```
///
/// The function is generated only if memory can be reused and no key values have to be compared, because each function costs compile time. Otherwise, the
/// trait's provided method reads a new value.
pub(super) fn read_again(design: &Design<'_>) -> Option<TokenStream> {
    if !design.entity.fields.iter().any(|field| has_memory(field.ty)) || !is_plain(design) {
        return None;
    }
    let (entity, reader) = (local("entity"), local("reader"));
    let (is_same, is_read) = (local("is_same_partition"), local("is_read"));
    let shape = schema::shape(design.entity);
    let partition_forms = key::forms(&design.partition_constant());
    let row_forms = key::forms(&design.constant("ROW_KEY"));
    let (partition_key, row_key) = (parts(design, design.partition_key), parts(design, design.row_key));
    let kind = reading::kind(design.entity).map(|condition| quote!(&& #condition));
    let properties = design.entity.properties().map(|(field, property)| read_property(field, property));
    Some(quote! {
        #[inline]
        fn read_again(
            &mut self,
            #entity: __table::EntityRef<'_>,
            #is_same: ::core::primitive::bool,
        ) -> __table::Result<()> {
            let #reader = &mut __table::EntityReader::again(#entity, #partition_forms, #is_same);
            let #is_read = #(#partition_key &&)* #reader.row_key(#row_forms) #(&& #row_key)*
                && #reader.properties(#shape) #kind #(&& #properties)*;
            #reader.end(#is_read)
        }
    })
}

/// Generates `reader.part_again("id", &mut self.id, <Digits<6> as KeyCodec<u32>>::decode_again)` for each part of a key.
fn parts(design: &Design<'_>, key: &Key) -> Vec<TokenStream> {
    let reader = local("reader");
    let fields = key.parts().filter_map(|part| design.field(part));
    let read = fields.map(|field| {
        let (name, ident, decode) = (&field.names.name, field.field.ident, field.item("decode_again"));
        let value = quote!(&mut self.#ident);
        quote_spanned!(field.span=> #reader.part_again(#name, #value, #decode))
    });
    read.collect()
}

/// Generates `<i32 as Property>::read_again(&mut self.age, &mut reader.search, "Age")`.
fn read_property(field: &Field<'_>, property: &Property) -> TokenStream {
    let (name, ident, ty, reader) = (&property.name, field.ident, field.ty, local("reader"));
    quote!(<#ty as __table::Property>::read_again(&mut self.#ident, &mut #reader.search, #name))
}

/// Returns `true` if each field is stored only once: in a key part or in a property.
fn is_plain(design: &Design<'_>) -> bool {
    let entity = design.entity;
    let keys = [design.partition_key, design.row_key];
    let parts: Vec<_> = keys.iter().flat_map(|key| key.parts()).collect();
    let is_one = |field: usize| parts.iter().filter(|part| part.field == field).count() == 1;
    let are_parts_plain = parts.iter().all(|part| {
        let is_property = entity.fields.get(part.field).is_none_or(|field| field.property.is_some());
        part.codec.is_decodable() && !is_property && is_one(part.field)
    });
    let are_properties_plain = entity.properties().all(|(_, property)| !property.json && !property.chunks);
    are_parts_plain && are_properties_plain && entity.rest().is_none() && !entity.has_unread_key()
}

/// Returns `true` if a type, judged by its tokens, owns a reusable buffer: `String`, `Vec<u8>`, or an `Option` of either.
fn has_memory(ty: &Type) -> bool {
    let path = match ty {
        Type::Group(group) => return has_memory(&group.elem),
        Type::Path(path) => &path.path,
        _ => return false,
    };
    let Some(last) = path.segments.last() else { return false };
    if last.ident == "Option"
        && let PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(GenericArgument::Type(inner)) = arguments.args.first()
    {
        return has_memory(inner);
    }
    last.ident == "String" || last.ident == "Vec"
}
