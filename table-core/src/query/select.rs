//! `$select`: the properties to return (SEL rules).

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Result;
use crate::row::{Row, RowView, RowWriter};

/// The properties that a read asks for (DQ-13). Keys, Timestamp and `ETag` come back in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Select {
    /// All.
    #[default]
    All,
    /// The named properties; one that an entity lacks is absent (SEL-3).
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

    /// A row with the properties asked for and no others (SEL-2); one that it lacks stays absent (SEL-3).
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

    /// The properties asked for, in a writer of their own; `None` if all are.
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
