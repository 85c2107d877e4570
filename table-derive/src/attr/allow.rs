//! Parses the lints that a declaration waives with `allow(low_cardinality, reason = "…")` in `#[entity(…)]`.

use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, parenthesized};

use crate::attr::Slot;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::symbol::{
    self, ALLOW, AMBIGUOUS_PARTITION_KEY, AMBIGUOUS_ROW_KEY, HOT_PARTITION, LOW_CARDINALITY, MANY_BUCKETS,
    REASON, Symbol,
};

/// All waivable lints.
const WORDS: [Symbol; 5] =
    [LOW_CARDINALITY, HOT_PARTITION, MANY_BUCKETS, AMBIGUOUS_PARTITION_KEY, AMBIGUOUS_ROW_KEY];

/// The lints waived by a declaration.
#[derive(Default)]
pub(crate) struct Allows {
    words: Vec<Ident>,
    /// `true` if an `allow` could not be parsed completely, so it may waive lints that are not recorded here.
    partial: bool,
}

impl Allows {
    /// Returns the word in `allow` that waives this lint, or `None` if the lint is not waived.
    pub(crate) fn get(&self, word: Symbol) -> Option<&Ident> {
        self.words.iter().find(|allowed| **allowed == word)
    }

    /// Returns `true` if this lint is waived, or may be waived once the reported errors are fixed.
    pub(crate) fn may_waive(&self, word: Symbol) -> bool {
        self.partial || self.get(word).is_some()
    }

    /// Records that an attribute that may waive lints could not be parsed.
    pub(crate) fn set_partial(&mut self) {
        self.partial = true;
    }

    /// Parses `(word, …, reason = "…")` after the word `allow`.
    pub(crate) fn parse(&mut self, ctxt: &Ctxt, allow: &Ident, input: ParseStream) -> syn::Result<()> {
        let content;
        parenthesized!(content in input);
        let (mut words, mut unknown) = (0, false);
        let mut reason = Slot::empty(REASON.0);
        let form = "allow(hot_partition, reason = \"…\")";
        let sound = grammar::list(ctxt, ALLOW.0, form, &content, |input| {
            let word = input.call(Ident::parse_any)?;
            if word == REASON {
                let text = grammar::value(input, <LitStr as Parse>::parse)?;
                reason.set(ctxt, &word, text, "one reason covers all words of the list");
            } else {
                words += 1;
                if !self.add(ctxt, word) {
                    unknown = true;
                    grammar::skip(input);
                }
            }
            Ok(())
        });
        self.partial |= !sound || unknown || words == 0;
        let help = "tell the next reader why: `allow(…, reason = \"…\")`";
        match reason.take() {
            _ if !sound => {}
            _ if words == 0 => {
                ctxt.error(
                    "T006",
                    allow,
                    "`allow` does not name a rule",
                    symbol::known("", WORDS.map(|word| word.0)),
                );
            }
            // The unknown word may be a misspelled `reason`.
            None if unknown => {}
            None => ctxt.error("T006", allow, "`allow` needs a `reason`", help),
            Some(empty) if empty.value().trim().is_empty() => {
                ctxt.error("T006", empty, "the `reason` is empty", help);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Adds a word. Reports unknown and duplicate words. Returns `false` if the word is unknown.
    fn add(&mut self, ctxt: &Ctxt, word: Ident) -> bool {
        let known = WORDS.iter().any(|known| word == *known);
        if !known {
            let help = symbol::known(&word.to_string(), WORDS.map(|word| word.0));
            ctxt.error("T001", &word, format!("unknown word `{word}` in `allow`"), help);
        } else if self.words.contains(&word) {
            ctxt.error("T002", &word, format!("duplicate `{word}`"), "waive it once, for one reason");
        } else {
            self.words.push(word);
        }
        known
    }
}
