//! Attributes of a projection: `#[projection(of = Employee, crate = …)]`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{DeriveInput, Ident, Path, Token};

use crate::attr::{Slot, piece};
use crate::ctxt::Ctxt;
use crate::symbol::{self, CRATE, OF, PROJECTION};

/// What the attributes of the struct say.
pub(crate) struct ProjectionAttrs {
    /// `of = Employee`
    pub(crate) of: Option<Path>,
    /// `crate = …`
    pub(crate) runtime: Option<Path>,
}

/// Reads the attributes of the struct.
pub(crate) fn parse(ctxt: &Ctxt, input: &DeriveInput) -> ProjectionAttrs {
    let mut of = Slot::empty(OF.0);
    let mut runtime = Slot::empty(CRATE.0);
    for attr in input.attrs.iter().filter(|attr| attr.path() == &PROJECTION) {
        let words = |input: ParseStream| parse_words(ctxt, input, &mut of, &mut runtime);
        if let Err(error) = attr.parse_args_with(words) {
            ctxt.push(error);
        }
    }
    ProjectionAttrs { of: of.take(), runtime: runtime.take() }
}

fn parse_words(
    ctxt: &Ctxt,
    input: ParseStream,
    of: &mut Slot<Path>,
    runtime: &mut Slot<Path>,
) -> syn::Result<()> {
    while !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        if word == OF || word == CRATE {
            input.parse::<Token![=]>()?;
            let slot = if word == OF { &mut *of } else { &mut *runtime };
            slot.set(ctxt, &word, input.call(Path::parse_mod_style)?, format!("write `{word} = …` once"));
        } else {
            let help = symbol::known(&word.to_string(), [OF.0, CRATE.0]);
            ctxt.error("T001", &word, format!("unknown word `{word}` in `projection`"), help);
            piece::skip_to_comma(input)?;
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}
