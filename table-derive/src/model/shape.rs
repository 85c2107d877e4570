//! Checks the form of a declaration (its fields and parameters) before the details are read.

use syn::{Data, DataStruct, DeriveInput, Fields, FieldsNamed};

use crate::ctxt::Ctxt;

/// Returns the fields of a struct with named fields, and reports an error for any other declaration. `what` is the subject of the message, such as `an entity
/// group`.
pub(super) fn named_fields<'a>(
    ctxt: &Ctxt,
    input: &'a DeriveInput,
    what: &str,
    help: &str,
) -> Option<&'a FieldsNamed> {
    let Data::Struct(DataStruct { fields: Fields::Named(named), .. }) = &input.data else {
        ctxt.error("T010", &input.ident, format!("{what} must be a struct with named fields"), help);
        return None;
    };
    Some(named)
}

/// Checks that a declaration has no generic parameters. Reports them and returns `None` if it has any.
pub(super) fn no_parameters(ctxt: &Ctxt, input: &DeriveInput, what: &str, help: &str) -> Option<()> {
    if !input.generics.params.is_empty() {
        ctxt.error("T011", &input.generics, format!("{what} cannot have generic parameters"), help);
        return None;
    }
    Some(())
}
