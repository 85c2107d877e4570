//! Floats in index keys, recognised by name. If a type alias hides a float, the compiler reports it, once for each use.

use syn::{GenericArgument, PathArguments, Type};

use crate::ctxt::Ctxt;
use crate::model::Entity;
use crate::model::key::Key;

/// Reports floats, because their encoding does not sort, except with a custom codec.
pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let keys = entity.indexes.iter().flat_map(|index| index.keys(entity));
    let parts: Vec<_> = keys.flat_map(Key::parts).filter(|part| !part.codec.is_custom()).collect();
    for (at, field) in entity.fields.iter().enumerate() {
        let is_indexed = !entity.key_needs(at) && parts.iter().any(|part| part.field == at);
        if let Some(float) = float(field.ty).filter(|_| is_indexed) {
            let wrong = format!("`{float}` cannot be part of an index's key");
            let help = "use an integer of the smallest unit, such as tenths, or a newtype around it with `#[derive(KeyPart)]`";
            ctxt.error("T026", field.ty, wrong, help);
        }
    }
}

/// Returns `f64` for the types `f64` and `Option<f64>`, and `f32` accordingly.
fn float(ty: &Type) -> Option<&'static str> {
    let Type::Path(path) = ty else { return None };
    if let Some(float) = ["f32", "f64"].into_iter().find(|float| path.path.is_ident(float)) {
        return Some(float);
    }
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => float(inner),
        _ => None,
    }
}
