//! `Slot`: a value that an attribute may set at most once.

use std::fmt::Display;

use quote::ToTokens;

use crate::ctxt::Ctxt;

/// A value that may be given at most once. `set` reports any second value at that value's span, so callers need not handle duplicates.
pub(crate) struct Slot<T> {
    word: &'static str,
    value: Option<T>,
}

impl<T> Slot<T> {
    pub(crate) fn empty(word: &'static str) -> Self {
        Self { word, value: None }
    }

    pub(crate) fn set(&mut self, ctxt: &Ctxt, tokens: impl ToTokens, value: T, help: impl Display) {
        if self.value.is_some() {
            ctxt.error("T002", tokens, format!("duplicate `{}`", self.word), help);
        } else {
            self.value = Some(value);
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub(crate) fn take(self) -> Option<T> {
        self.value
    }
}
