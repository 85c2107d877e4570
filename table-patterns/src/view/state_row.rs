//! A view's state row: the view's name, identifier and latest version, and a flag that is set once the view is built.

use table_core::row::{Row, RowView, RowWriter};
use table_core::{Error, Result, ValueRef};
use uuid::Uuid;

use crate::view::fault::ViewFault;

/// The state of a view, as stored in its table.
#[derive(Clone, Debug)]
pub(super) struct StateRow {
    /// The name of the view that owns the table.
    pub(super) name: String,
    /// The latest version of the view that is known to be ready; 0 if none was recorded.
    pub(super) latest: u32,
    pub(super) ready: bool,
    /// A random identifier that distinguishes the view from an earlier view in a table with the same name.
    pub(super) id: Uuid,
}

impl StateRow {
    /// Creates the state of a new view that has not been built.
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), latest: 0, ready: false, id: Uuid::new_v4() }
    }

    pub(super) fn row(&self) -> Row {
        let mut writer = RowWriter::with_capacity(4);
        writer.property("Id", ValueRef::Guid(self.id));
        writer.property("Name", ValueRef::String(&self.name));
        writer.property("Latest", ValueRef::Int64(self.latest.into()));
        writer.property("Ready", ValueRef::Boolean(self.ready));
        writer.finish()
    }

    pub(super) fn read(row: RowView<'_>) -> Result<Self> {
        let ready = row.find("Ready", &mut 0)? == Some(ValueRef::Boolean(true));
        let id = match row.find("Id", &mut 0)? {
            Some(ValueRef::Guid(id)) => id,
            _ => Uuid::nil(),
        };
        let name = match row.find("Name", &mut 0)? {
            Some(ValueRef::String(name)) => name.to_owned(),
            _ => return Err(Error::of(ViewFault::Record(None)).with_property("Name")),
        };
        let latest = match row.find("Latest", &mut 0)? {
            Some(ValueRef::Int64(latest)) => u32::try_from(latest).unwrap_or(0),
            _ => 0,
        };
        Ok(Self { name, latest, ready, id })
    }
}
