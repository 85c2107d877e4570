//! Attributes of a projection: `#[projection(of = Employee, crate = …)]`.

use syn::{DeriveInput, Path};

use crate::attr::Slot;
use crate::attr::member::paths;
use crate::attr::words::Words;
use crate::ctxt::Ctxt;
use crate::symbol::{CRATE, OF, PROJECTION};

/// What the attributes of the struct say.
pub(crate) struct ProjectionAttrs {
    /// `of = Employee`
    pub(crate) of: Option<Path>,
    /// `crate = …`
    pub(crate) runtime: Option<Path>,
    /// Whether something was wrong, and reported: what seems to be missing may be what it meant.
    pub(crate) broken: bool,
}

const WORDS: Words = Words {
    of: PROJECTION,
    form: "#[projection(of = Employee)]",
    known: &[(OF, "of = Employee"), (CRATE, "crate = path::to::table_core")],
    meant: &[
        ("entity", "write `of = Employee`"),
        ("from", "write `of = Employee`"),
        ("table", "write `of = Employee`"),
    ],
};

/// Reads the attributes of the struct.
pub(crate) fn parse(ctxt: &Ctxt, input: &DeriveInput) -> ProjectionAttrs {
    let (mut of, mut runtime) = (Slot::empty(OF.0), Slot::empty(CRATE.0));
    let mut broken = false;
    for attr in input.attrs.iter().filter(|attr| attr.path() == &PROJECTION) {
        broken |= !paths(ctxt, attr, &WORDS, &mut [(OF, &mut of), (CRATE, &mut runtime)]);
    }
    ProjectionAttrs { of: of.take(), runtime: runtime.take(), broken }
}
