//! The attribute of a projection: `#[projection(of = Employee, crate = …)]`.

use quote::ToTokens;
use syn::{DeriveInput, Ident, Path};

use crate::attr::Slot;
use crate::attr::member::paths;
use crate::ctxt::Ctxt;
use crate::grammar::Words;
use crate::grammar::names;
use crate::symbol::{CRATE, OF, PROJECTION};

/// The parsed attributes of the struct.
pub(crate) struct ProjectionAttrs {
    /// The entity type in `of = Employee`.
    pub(crate) of: Option<Path>,
    /// The path in `crate = …`.
    pub(crate) runtime: Option<Path>,
    /// `true` if a reported error may be the reason that a word is missing.
    pub(crate) broken: bool,
    /// The entity type to which a malformed attribute probably refers.
    pub(crate) suggested: Option<Path>,
}

/// The help text for a list of fields.
const FIELDS: &str = "remove it: a projection reads the fields that the struct declares";

const WORDS: Words = Words {
    of: PROJECTION,
    form: "#[projection(of = Employee)]",
    known: &[(OF, "of = Employee"), (CRATE, "crate = path::to::table_core")],
    suggested: &[
        ("entity", "write `of = Employee`"),
        ("from", "write `of = Employee`"),
        ("table", "write `of = Employee`"),
        ("select", FIELDS),
        ("fields", FIELDS),
        ("columns", FIELDS),
        ("include", FIELDS),
    ],
};

/// Parses the attributes of the struct.
pub(crate) fn parse(ctxt: &Ctxt, input: &DeriveInput) -> ProjectionAttrs {
    let (mut of, mut runtime) = (Slot::empty(OF.0), Slot::empty(CRATE.0));
    let (mut broken, mut suggested) = (false, None);
    for attr in input.attrs.iter().filter(|attr| attr.path() == &PROJECTION) {
        if !paths(ctxt, attr, &WORDS, &mut [(OF, &mut of), (CRATE, &mut runtime)]) {
            broken = true;
            let named = names(attr.meta.to_token_stream()).into_iter();
            suggested =
                named.map(Path::from).find(|path| path.get_ident().is_some_and(is_type)).or(suggested);
        }
    }
    ProjectionAttrs { of: of.take(), runtime: runtime.take(), broken, suggested }
}

/// Returns `true` if the name starts with a capital letter, as type names do.
fn is_type(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}
