//! Checks the declarations of generic entities.

use quote::ToTokens;
use syn::{GenericArgument, Ident, PathArguments, Type};

use crate::ctxt::Ctxt;
use crate::model::Entity;

/// Reports key fields whose type depends on a generic parameter, JSON fields whose type parameter lacks bounds, and the first index of a generic entity.
pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    if entity.parameters.is_empty() {
        return;
    }
    for (_, field) in entity.fields.iter().enumerate().filter(|(at, _)| entity.key_needs(*at)) {
        if let Some(parameter) = entity.parameters.named_in(field.ty.to_token_stream()) {
            let wrong = format!("the key contains `{}`, whose type depends on `{parameter}`", field.ident);
            let help = "a key's layout is constant; parameters are for the types of properties; for keys of \
                        several types write one struct for each";
            ctxt.error("T013", field.ty, wrong, help);
        }
    }
    for field in entity.fields.iter().filter(|field| field.attrs.json.is_some()) {
        let Some(parameter) = entity.parameters.named_in(field.ty.to_token_stream()) else { continue };
        // Any other type, such as an `Id<T>`, may not need the bounds.
        if !consists_of(field.ty, parameter) {
            continue;
        }
        let generics = &entity.original.generics;
        let mut declared = generics.type_params().filter(|it| it.ident == *parameter);
        if generics.where_clause.is_none() && declared.any(|it| it.bounds.is_empty()) {
            let wrong = format!(
                "`{}` is stored as JSON, but serde may be unable to write and read `{parameter}`",
                field.ident
            );
            let help = format!(
                "write the bounds of the parameter: `{}<{parameter}: serde::Serialize + serde::de::DeserializeOwned>`",
                entity.original.ident
            );
            ctxt.error("T050", field.ty, wrong, help);
        }
    }
    if let Some(index) = entity.indexes.first() {
        let help =
            "each index has a type, which belongs to one entity; write one struct for each concrete type";
        ctxt.error("T014", &index.attr.original, "a generic entity cannot have indexes", help);
    }
}

/// Standard-library types that serde can write if it can write their type arguments.
const CONTAINERS: [&str; 10] =
    ["Option", "Vec", "Box", "Arc", "Rc", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet"];

/// Returns `true` if a type is the parameter, or a standard-library container of it, such as `Vec<T>`.
fn consists_of(ty: &Type, parameter: &Ident) -> bool {
    let Type::Path(path) = ty else { return false };
    if path.path.is_ident(parameter) {
        return true;
    }
    let Some(last) = path.path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    let holds = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(ty) if consists_of(ty, parameter));
    CONTAINERS.iter().any(|container| last.ident == container) && arguments.args.iter().any(holds)
}
