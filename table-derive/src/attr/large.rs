//! The attributes of an entity with blobs: `#[blob]` on its fields, and `#[large(crate = …)]`.

use syn::{Attribute, Path};

use crate::attr::Slot;
use crate::attr::member::paths;
use crate::ctxt::Ctxt;
use crate::grammar::Words;
use crate::symbol::{BLOB, CRATE, LARGE};

const WORDS: Words = Words {
    of: LARGE,
    form: "#[large(crate = path::to::table_patterns)]",
    known: &[(CRATE, "crate = path::to::table_patterns")],
    suggested: &[],
};

/// Parses the struct's attributes. Returns the path in `crate = …`, or `None` if it is absent.
pub(crate) fn parse(ctxt: &Ctxt, attrs: &[Attribute]) -> Option<Path> {
    let mut runtime = Slot::empty(CRATE.0);
    for attr in attrs {
        if attr.path() == &LARGE {
            paths(ctxt, attr, &WORDS, &mut [(CRATE, &mut runtime)]);
        } else if attr.path() == &BLOB {
            let help =
                "write `#[blob]` above each field that holds an address: `#[blob] photo: Option<BlobRef>`";
            ctxt.error("T003", attr, "`blob` belongs on a field", help);
        }
    }
    runtime.take()
}

/// Returns `true` if a field has the `#[blob]` attribute.
pub(crate) fn is_blob(ctxt: &Ctxt, attrs: &[Attribute]) -> bool {
    let mut blob = Slot::empty(BLOB.0);
    for attr in attrs.iter().filter(|attr| attr.path() == &BLOB) {
        if attr.meta.require_path_only().is_err() {
            let help = "write `#[blob]`; name the property with `#[property(\"Name\")]`";
            ctxt.error("T004", attr, "`blob` takes no arguments", help);
        }
        blob.set(ctxt, attr, (), "a field holds the address of one blob");
    }
    blob.take().is_some()
}
