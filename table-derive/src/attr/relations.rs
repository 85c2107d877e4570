//! Parses the relations of denormalised copies that a struct declares: `copied_by(Assignee)`, `copies_from(Owner, Reviewer)`.

use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Ident, Path, parenthesized};

use crate::ctxt::{self, Ctxt};
use crate::grammar;

/// Parses the relation types after the word `copied_by` or `copies_from`. Also returns `true` if all of them could be parsed. Duplicates are reported.
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
