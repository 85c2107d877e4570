//! The names of a store in the explorer's files.

/// The texts by which files refer to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreNames {
    /// The text under which entries are written.
    pub(crate) identity: String,
    /// The name as shown on pages, under which earlier releases wrote entries.
    pub(crate) shown: String,
}

impl StoreNames {
    /// Returns `true` if an entry with this text belongs to the store.
    pub(crate) fn contain(&self, text: &str) -> bool {
        text == self.identity || text == self.shown
    }
}
