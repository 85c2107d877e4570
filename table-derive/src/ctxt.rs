//! Collected errors of one declaration, so that all are reported at once.

use std::cell::{Cell, RefCell};
use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// Passed by reference to every parser and rule. They report here and go on; none returns at the first mistake.
///
/// Dropping it unchecked is a defect of the macro and panics: errors would be lost.
pub(crate) struct Ctxt {
    errors: RefCell<Option<Vec<syn::Error>>>,
    /// Whether the declaration can be expanded as it stands.
    sound: Cell<bool>,
}

impl Ctxt {
    pub(crate) fn new() -> Self {
        Self { errors: RefCell::new(Some(Vec::new())), sound: Cell::new(true) }
    }

    /// Reports a mistake at these tokens: its number in `docs/errors.md`, what is wrong, and what to write.
    pub(crate) fn error(&self, number: &str, tokens: impl ToTokens, wrong: impl Display, help: impl Display) {
        self.push(mistake(number, tokens, wrong, help));
    }

    /// Reports a mistake at a place.
    pub(crate) fn error_at(&self, number: &str, span: Span, wrong: impl Display, help: impl Display) {
        self.push(syn::Error::new(span, told(number, &wrong, &help)));
    }

    /// Reports a mistake at a place without which the same would be expanded. The whole is, so that the compiler judges the types at once: a
    /// stub would hide them until this mistake is mended.
    pub(crate) fn error_beside(&self, number: &str, span: Span, wrong: impl Display, help: impl Display) {
        let sound = self.sound.get();
        self.error_at(number, span, wrong, help);
        self.sound.set(sound);
    }

    /// Reports an error of syn's.
    pub(crate) fn push(&self, error: syn::Error) {
        self.sound.set(false);
        if let Some(errors) = self.errors.borrow_mut().as_mut() {
            errors.push(error);
        }
    }

    /// Whether nothing reported so far forbids the expansion.
    pub(crate) fn is_sound(&self) -> bool {
        self.sound.get()
    }

    /// All mistakes as one error, in the order they were found.
    pub(crate) fn check(self) -> syn::Result<()> {
        let mut errors = self.errors.take().unwrap_or_default().into_iter();
        let Some(mut all) = errors.next() else { return Ok(()) };
        for error in errors {
            all.combine(error);
        }
        Err(all)
    }
}

/// A mistake that is reported later.
pub(crate) fn mistake(
    number: &str,
    tokens: impl ToTokens,
    wrong: impl Display,
    help: impl Display,
) -> syn::Error {
    syn::Error::new_spanned(tokens, told(number, &wrong, &help))
}

/// The one form of a message: the number is looked up in `docs/errors.md`.
fn told(number: &str, wrong: &dyn Display, help: &dyn Display) -> String {
    format!("[{number}] {wrong}\n\nhelp: {help}")
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        assert!(self.errors.borrow().is_none() || std::thread::panicking(), "a `Ctxt` was not checked");
    }
}
