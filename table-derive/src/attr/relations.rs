//! Parser for the copy relations of a struct, through which an entity stores copies of another entity's properties: `copied_by(Assignee)`, `copies_from(Owner,
//! Reviewer)`.

use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Ident, Path, parenthesized};

use crate::ctxt::{self, Ctxt};
use crate::grammar;

/// Parses the relation types after `copied_by` or `copies_from`, and reports duplicates. The second value is `true` if all of them were parsed.
pub(crate) fn parse(
    ctxt: &Ctxt,
    word: &Ident,
    form: &str,
    input: ParseStream,
) -> syn::Result<(Vec<Path>, bool)> {
    let content;
    parenthesized!(content in input);
    if content.is_empty() {
        return Err(content.error("expected a type"));
    }
    let mut relations: Vec<Path> = Vec::new();
    let sound = grammar::list(ctxt, &word.to_string(), form, &content, |input| {
        let relation = Path::parse_mod_style(input)?;
        let name = relation.to_token_stream().to_string();
        if relations.iter().any(|other| other.to_token_stream().to_string() == name) {
            let duplicate = format!("duplicate `{name}`");
            return Err(ctxt::mistake("T002", relation, duplicate, "name each relation once"));
        }
        relations.push(relation);
        Ok(())
    });
    Ok((relations, sound))
}
