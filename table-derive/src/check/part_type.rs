//! Recognises types that cannot be part of a key by their tokens. The compiler rejects any other unsupported type, but for an index, it repeats the error at
//! each use.

use syn::ext::IdentExt;
use syn::{Ident, Type};

use crate::casing::pascal_case;
use crate::check::ended;
use crate::check::unsuitable::{Wrong, argument, wrong};
use crate::ctxt::Ctxt;
use crate::grammar::type_text as text;
use crate::model::Entity;
use crate::model::key::Key;
use crate::model::key_part::{KeyPart, Kind};

/// Reports each key field whose type has no encoding, unless the field has a custom codec. The key of an index may contain an `Option`.
pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let own = [&entity.partition_key, &entity.row_key].into_iter().flatten();
    let of_indexes = entity.indexes.iter().flat_map(|index| index.keys(entity));
    let has = |key: &Key, at: usize| key.parts().any(|part| part.field == at && !part.codec.is_custom());
    let (own, of_indexes): (Vec<_>, Vec<_>) = (own.collect(), of_indexes.collect());
    for (at, field) in entity.fields.iter().enumerate() {
        // A `rest` field in a key gets a different error message.
        let wrong = if field.attrs.rest.is_some() {
            None
        } else if own.iter().any(|key| has(key, at)) {
            let wrong = wrong(&field.ident.unraw(), field.ty);
            let help = argument(field.ty, "Option").and_then(|inner| optional(entity, at, inner));
            wrong.map(|wrong| Wrong { help: help.unwrap_or(wrong.help), ..wrong })
        } else if !entity.key_needs(at) && of_indexes.iter().any(|key| has(key, at)) {
            wrong(&field.ident.unraw(), argument(field.ty, "Option").unwrap_or(field.ty))
        } else {
            None
        };
        report(ctxt, field.ty, wrong);
    }
}

/// Returns the help text for an `Option` in the `RowKey`: a value for its absence, or an index in place of the part. Returns `None` if the `RowKey` has no other
/// field.
fn optional(entity: &Entity<'_>, at: usize, inner: &Type) -> Option<String> {
    let key = entity.row_key.as_ref()?;
    let name = &key.parts().find(|part| part.field == at)?.name;
    let others: Vec<&Ident> = key.parts().filter(|part| part.field != at).map(|part| &part.name).collect();
    let first = others.first()?;
    let literal =
        Some(key.literal_from(0)).filter(|text| !text.is_empty()).unwrap_or_else(|| format!("{first}_"));
    let own = ended::fields(entity, others.iter().copied()).join(", ");
    let (plain, owner) = (name.unraw(), &entity.original.ident);
    let index = [ended::field(entity, name).join(", "), own.clone()].join(", ");
    Some(format!(
        "write `{plain}: {}`, with a value that no `{owner}` has for an absent one; or keep the `Option`, and write \
         `#[row_key({literal:?}, {own})] #[index(By{}, row_key(\"{plain}_\", {index}))]` above the struct: an index may contain an `Option`",
        text(inner),
        pascal_case(&plain.to_string()),
    ))
}

/// Reports a key newtype whose inner type cannot be part of a key.
pub(crate) fn check_inside(ctxt: &Ctxt, part: &KeyPart<'_>) {
    match &part.kind {
        Kind::Newtype { ty, codec, .. } if !codec.is_custom() => report(ctxt, ty, wrong(&"value", ty)),
        Kind::Newtype { .. } | Kind::Enum(_) => {}
    }
}

fn report(ctxt: &Ctxt, ty: &Type, wrong: Option<Wrong>) {
    if let Some(Wrong { fact, help }) = wrong {
        ctxt.error("T026", ty, format!("`{}` cannot be part of a key: {fact}", text(ty)), help);
    }
}
