//! Attributes of sets and groups: `#[entity_set(crate = …)]`, `#[entity_group(under = Employee)]`, `#[other]`,
//! `#[upgrade(from = OldEmployee)]`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Path, Token};

use crate::attr::{Slot, piece};
use crate::ctxt::Ctxt;
use crate::symbol::{self, CRATE, ENTITY_GROUP, ENTITY_SET, FROM, OTHER, Symbol, UNDER, UPGRADE};

/// What the attributes of a set or group say.
pub(crate) struct ContainerAttrs {
    /// `under = Employee`
    pub(crate) under: Option<Path>,
    /// `crate = …`
    pub(crate) runtime: Option<Path>,
}

/// What the attributes of a variant or field say.
pub(crate) struct MemberAttrs {
    /// `#[other]`
    pub(crate) other: Option<Attribute>,
    /// The paths of `#[upgrade(from = OldEmployee)]`, in order.
    pub(crate) upgrades: Vec<(Attribute, Path)>,
}

/// Reads the attributes of a set.
pub(crate) fn parse_set(ctxt: &Ctxt, attrs: &[Attribute]) -> ContainerAttrs {
    let mut runtime = Slot::empty(CRATE.0);
    for attr in attrs.iter().filter(|attr| attr.path() == &ENTITY_SET) {
        paths(ctxt, attr, ENTITY_SET, &mut [(CRATE, &mut runtime)]);
    }
    ContainerAttrs { under: None, runtime: runtime.take() }
}

/// Reads the attributes of a group.
pub(crate) fn parse_group(ctxt: &Ctxt, attrs: &[Attribute]) -> ContainerAttrs {
    let (mut under, mut runtime) = (Slot::empty(UNDER.0), Slot::empty(CRATE.0));
    for attr in attrs.iter().filter(|attr| attr.path() == &ENTITY_GROUP) {
        paths(ctxt, attr, ENTITY_GROUP, &mut [(UNDER, &mut under), (CRATE, &mut runtime)]);
    }
    ContainerAttrs { under: under.take(), runtime: runtime.take() }
}

/// Reads the attributes of a variant or field.
pub(crate) fn parse_member(ctxt: &Ctxt, attrs: &[Attribute]) -> MemberAttrs {
    let (mut other, mut upgrades) = (Slot::empty(OTHER.0), Vec::new());
    for attr in attrs {
        if attr.path() == &OTHER {
            match attr.meta.require_path_only() {
                Ok(_) => other.set(ctxt, attr, attr.clone(), "write `#[other]` once"),
                Err(error) => ctxt.push(error),
            }
        } else if attr.path() == &UPGRADE {
            let mut from = Slot::empty(FROM.0);
            paths(ctxt, attr, UPGRADE, &mut [(FROM, &mut from)]);
            upgrades.extend(from.take().map(|from| (attr.clone(), from)));
        }
    }
    MemberAttrs { other: other.take(), upgrades }
}

/// Reads `word = path, …`.
pub(super) fn paths(ctxt: &Ctxt, attr: &Attribute, of: Symbol, slots: &mut [(Symbol, &mut Slot<Path>)]) {
    if let Err(error) = attr.parse_args_with(|input: ParseStream| words(ctxt, input, of, slots)) {
        ctxt.push(error);
    }
}

fn words(
    ctxt: &Ctxt,
    input: ParseStream,
    of: Symbol,
    slots: &mut [(Symbol, &mut Slot<Path>)],
) -> syn::Result<()> {
    while !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        if let Some((_, slot)) = slots.iter_mut().find(|(known, _)| word == *known) {
            input.parse::<Token![=]>()?;
            slot.set(ctxt, &word, input.call(Path::parse_mod_style)?, format!("write `{word} = …` once"));
        } else {
            let help = symbol::known(&word.to_string(), slots.iter().map(|(known, _)| known.0));
            ctxt.error("T001", &word, format!("unknown word `{word}` in `{of}`"), help);
            piece::skip_to_comma(input)?;
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}
