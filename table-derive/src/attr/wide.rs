//! Field attributes of a wide entity: `#[slots("Day", 1..=366)]`, `#[part(2)]`.

use syn::parse::ParseStream;
use syn::{Attribute, LitInt, LitStr, Token};

use crate::attr::Slot;
use crate::ctxt::Ctxt;
use crate::symbol::{PART, SLOTS};

/// The parsed attributes of one field.
pub(crate) struct PlaceAttrs {
    /// The `#[slots("Day", 1..=366)]` attribute.
    pub(crate) slots: Option<SlotsAttr>,
    /// The `#[part(2)]` attribute.
    pub(crate) part: Option<PartAttr>,
}

/// A parsed `slots` attribute.
pub(crate) struct SlotsAttr {
    pub(crate) original: Attribute,
    /// The prefix of the slot names.
    pub(crate) word: LitStr,
    /// The first slot number.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// A parsed `part` attribute.
pub(crate) struct PartAttr {
    pub(crate) original: Attribute,
    /// The part number. Parts are numbered from 1.
    pub(crate) number: usize,
}

/// Parses the `slots` and `part` attributes of a field.
pub(crate) fn parse(ctxt: &Ctxt, attrs: &[Attribute]) -> PlaceAttrs {
    let (mut slots, mut part) = (Slot::empty(SLOTS.0), Slot::empty(PART.0));
    for attr in attrs {
        if attr.path() == &SLOTS {
            let Ok((word, first, last)) = attr.parse_args_with(range) else {
                // A lone number is the number of slots.
                let last =
                    attr.parse_args::<LitInt>().and_then(|last| last.base10_parse::<usize>()).unwrap_or(366);
                let first = format!("{:0width$}", 1, width = last.to_string().len());
                let help = format!(
                    "a prefix and the first and last slot number: `#[slots(\"Day\", 1..={last})]` names `Day{first}` to `Day{last}`"
                );
                ctxt.error("T154", attr, "`slots` takes a prefix and a range of numbers", help);
                continue;
            };
            let read = SlotsAttr { original: attr.clone(), word, first, last };
            slots.set(ctxt, attr, read, "a field holds one range of slots");
        } else if attr.path() == &PART {
            let number = attr.parse_args::<LitInt>().and_then(|number| number.base10_parse());
            let Ok(number) = number else {
                let help = "the number of the part that starts with this field: `#[part(2)]`";
                ctxt.error("T153", attr, "`part` takes a number", help);
                continue;
            };
            part.set(ctxt, attr, PartAttr { original: attr.clone(), number }, "a field starts one part");
        }
    }
    PlaceAttrs { slots: slots.take(), part: part.take() }
}

/// Parses a prefix and a range, such as `"Day", 1..=366`.
fn range(input: ParseStream) -> syn::Result<(LitStr, usize, usize)> {
    let word: LitStr = input.parse()?;
    input.parse::<Token![,]>()?;
    let first: LitInt = input.parse()?;
    input.parse::<Token![..=]>()?;
    let last: LitInt = input.parse()?;
    Ok((word, first.base10_parse()?, last.base10_parse()?))
}
