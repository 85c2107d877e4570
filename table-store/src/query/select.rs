//! `$select`: the properties that a query returns (SEL rules).

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Result;
use crate::row::{Row, RowView, RowWriter};

/// The properties that a read requests (DQ-13). The keys, the Timestamp and the `ETag` are always returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Select {
    /// All properties of the entity.
    #[default]
    All,
    /// Only the named properties. A property that the entity does not have is absent from the result (SEL-3).
    Names(Arc<[Cow<'static, str>]>),
}

impl Select {
    /// Selects the properties with the given names. Duplicate names are ignored.
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

    /// Returns `true` if the named property is requested.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|wanted| wanted == name),
        }
    }

    /// Reduces a row to the requested properties (SEL-2). Requested properties that the row lacks are omitted (SEL-3).
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    ///
    /// ```
    /// use table_core::query::Select;
    /// use table_core::{ValueRef, row::RowWriter};
    ///
    /// let mut writer = RowWriter::new();
    /// writer.property("FirstName", ValueRef::String("Ada"));
    /// writer.property("Age", ValueRef::Int32(34));
    /// let narrowed = Select::names(["Age", "Email"]).project(writer.finish())?;
    /// assert_eq!(narrowed.view().len(), 1);
    /// assert_eq!(narrowed.view().find("Age", &mut 0)?, Some(ValueRef::Int32(34)));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn project(&self, row: Row) -> Result<Row> {
        let timestamp = row.view().timestamp();
        Ok(match self.narrow(row.view())? {
            Some(mut narrowed) => narrowed.close(timestamp).to_row(),
            None => row,
        })
    }

    /// Returns a writer containing the row's requested properties, or `None` if all properties are requested.
    #[inline]
    pub(crate) fn narrow(&self, row: RowView<'_>) -> Result<Option<RowWriter>> {
        match self {
            Self::All => Ok(None),
            Self::Names(names) => some_of(names, row).map(Some),
        }
    }
}

fn some_of(names: &[Cow<'static, str>], row: RowView<'_>) -> Result<RowWriter> {
    let mut writer = RowWriter::with_capacity(names.len());
    let mut hint = 0;
    for name in names {
        if let Some(value) = row.find(name, &mut hint)? {
            writer.property(name, value);
        }
    }
    Ok(writer)
}
