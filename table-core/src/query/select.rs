//! `$select`: which properties come back (SEL rules).

use std::borrow::Cow;
use std::sync::Arc;

/// The properties that a read asks for (DQ-13). Keys, Timestamp and `ETag` come back in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Select {
    /// All.
    #[default]
    All,
    /// Those named; one that an entity lacks is absent (SEL-3).
    Names(Arc<[Cow<'static, str>]>),
}

impl Select {
    /// These names, each once.
    ///
    /// ```
    /// use table_core::query::Select;
    ///
    /// let select = Select::names(["FirstName", "Age"]);
    /// assert!(select.contains("Age") && !select.contains("LastName"));
    /// ```
    pub fn names<N: Into<Cow<'static, str>>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut once: Vec<Cow<'static, str>> = Vec::new();
        for name in names.into_iter().map(Into::into) {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        Self::Names(once.into())
    }

    /// Whether a property is asked for.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|wanted| wanted == name),
        }
    }
}
