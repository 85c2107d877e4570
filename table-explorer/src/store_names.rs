//! `StoreNames`: the identifiers of a store in the explorer's files.

/// The strings that refer to a store in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreNames {
    /// The identifier under which entries are written.
    pub(crate) identity: String,
    /// The name shown on pages. Earlier releases wrote entries under this name.
    pub(crate) shown: String,
}

impl StoreNames {
    /// Returns `true` if an entry with the given string belongs to the store.
    pub(crate) fn contain(&self, text: &str) -> bool {
        text == self.identity || text == self.shown
    }
}
