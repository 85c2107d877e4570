//! Checks the declarations of generic entities.

use quote::ToTokens;

use crate::ctxt::Ctxt;
use crate::model::Entity;

/// Reports each key field whose type depends on a generic parameter, and the first index of a generic entity.
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
