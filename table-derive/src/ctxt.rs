//! Collects the errors in a declaration and reports them together.

use std::cell::{Cell, RefCell};
use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// An error collector. Parsers and checks report errors to it and continue, instead of stopping at the first one.
///
/// Dropping a collector without calling `check` panics, because errors would be lost. This is always a bug in the macro.
pub(crate) struct Ctxt {
    errors: RefCell<Option<Vec<syn::Error>>>,
    /// `true` if no reported error prevents the expansion of the declaration.
    sound: Cell<bool>,
}

impl Ctxt {
    pub(crate) fn new() -> Self {
        Self { errors: RefCell::new(Some(Vec::new())), sound: Cell::new(true) }
    }

    /// Reports an error at the given tokens, with its number in `docs/errors.md`, a description and a help text.
    pub(crate) fn error(&self, number: &str, tokens: impl ToTokens, wrong: impl Display, help: impl Display) {
        self.push(mistake(number, tokens, wrong, help));
    }

    /// Reports an error at a span, with its number, a description and a help text.
    pub(crate) fn error_at(&self, number: &str, span: Span, wrong: impl Display, help: impl Display) {
        self.push(syn::Error::new(span, numbered_message(number, &wrong, &help)));
    }

    /// Reports an error that does not prevent the expansion. The declaration is expanded completely, so the compiler reports its type errors in the same run.
    pub(crate) fn error_and_expand(&self, number: &str, span: Span, wrong: impl Display, help: impl Display) {
        let sound = self.sound.get();
        self.error_at(number, span, wrong, help);
        self.sound.set(sound);
    }

    /// Reports an error returned by syn.
    pub(crate) fn push(&self, error: syn::Error) {
        self.sound.set(false);
        if let Some(errors) = self.errors.borrow_mut().as_mut() {
            errors.push(error);
        }
    }

    /// Returns the number of errors reported so far.
    pub(crate) fn count(&self) -> usize {
        self.errors.borrow().as_ref().map_or(0, Vec::len)
    }

    /// Combines the errors with this number that were reported after the first `count` errors into the first of them, with the help for each.
    pub(crate) fn join_after(&self, count: usize, number: &str) {
        let mut errors = self.errors.borrow_mut();
        let Some(errors) = errors.as_mut() else { return };
        let is_joined = |error: &syn::Error| error.to_string().starts_with(&format!("[{number}]"));
        let (joined, others): (Vec<_>, Vec<_>) = errors.split_off(count).into_iter().partition(is_joined);
        errors.extend(joined.into_iter().reduce(|earlier, error| with(&earlier, &error)));
        errors.extend(others);
    }

    /// Returns `true` if none of the reported errors prevents the expansion.
    pub(crate) fn is_sound(&self) -> bool {
        self.sound.get()
    }

    /// Returns all reported errors combined into one, in the order reported. Repetitions of one mistake are one error, with the help for each place.
    pub(crate) fn check(self) -> syn::Result<()> {
        let mut told: Vec<syn::Error> = Vec::new();
        for error in self.errors.take().unwrap_or_default() {
            match told.iter_mut().find(|earlier| are_alike(earlier, &error)) {
                Some(earlier) => *earlier = with(earlier, &error),
                None => told.push(error),
            }
        }
        let mut errors = told.into_iter();
        let Some(mut all) = errors.next() else { return Ok(()) };
        for error in errors {
            all.combine(error);
        }
        Err(all)
    }
}

/// Creates an error without reporting it.
pub(crate) fn mistake(
    number: &str,
    tokens: impl ToTokens,
    wrong: impl Display,
    help: impl Display,
) -> syn::Error {
    syn::Error::new_spanned(tokens, numbered_message(number, &wrong, &help))
}

/// The numbers of errors that one habit repeats, such as the words of another library in several attributes.
const REPEATED: [&str; 9] =
    ["[T001]", "[T003]", "[T004]", "[T005]", "[T009]", "[T015]", "[T024]", "[T038]", "[T101]"];

/// Returns `true` if two errors have one number in [`REPEATED`], and their facts differ only in the names. Unknown words are alike in one kind of attribute,
/// attributes of other libraries if both declare keys, and settings of other libraries if they have one name.
fn are_alike(earlier: &syn::Error, error: &syn::Error) -> bool {
    let [earlier, error] = [earlier, error].map(ToString::to_string);
    let Some(number) = REPEATED.iter().find(|number| error.starts_with(**number)) else { return false };
    let unnamed = |text: &str| -> String { fact(text).split('`').step_by(2).collect() };
    let name = |text: &str, at: usize| fact(text).split('`').skip(1).step_by(2).nth(at).map(str::to_owned);
    let is_key = |text: &str| text.contains("_key(") && !text.contains("#[index");
    unnamed(&earlier) == unnamed(&error)
        && match *number {
            "[T001]" => name(&earlier, 1) == name(&error, 1),
            "[T009]" => is_key(&earlier) && is_key(&error),
            "[T015]" => name(&earlier, 0) == name(&error, 0),
            _ => true,
        }
}

/// Returns the first paragraph of a message.
fn fact(text: &str) -> &str {
    text.split("\n\n").next().unwrap_or_default()
}

/// Returns the earlier error with the help of another one, and with its fact if that differs.
fn with(earlier: &syn::Error, error: &syn::Error) -> syn::Error {
    let [before, text] = [earlier, error].map(ToString::to_string);
    let (fact_of, help) = text.split_once("\n\n").unwrap_or((&text, ""));
    let own = fact_of.split_once("] ").map_or(fact_of, |(_, own)| own);
    let more = if before.contains(own) { help.to_owned() } else { format!("{own}\n\n{help}") };
    // The tokens of the error have its first and its last position.
    syn::Error::new_spanned(earlier.to_compile_error(), format!("{before}\n\n{more}"))
}

/// Formats a message with its number in `docs/errors.md`, followed by the help text.
fn numbered_message(number: &str, wrong: &dyn Display, help: &dyn Display) -> String {
    format!("[{number}] {wrong}\n\nhelp: {help}")
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        assert!(self.errors.borrow().is_none() || std::thread::panicking(), "a `Ctxt` was not checked");
    }
}
