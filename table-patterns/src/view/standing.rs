//! What is stored of a view itself: whether it is built, and which one it is.

use table_core::error::Result;
use table_core::row::{Row, RowView, RowWriter};
use table_core::value::ValueRef;
use uuid::Uuid;

/// Of the view in a table. One that is made anew in the place of a deleted one is another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) ready: bool,
    pub(super) id: Uuid,
}

/// A view that was just made.
impl Default for Standing {
    fn default() -> Self {
        Self { ready: false, id: Uuid::new_v4() }
    }
}

impl Standing {
    pub(super) fn row(self) -> Row {
        let mut writer = RowWriter::with_capacity(2);
        writer.property("Id", ValueRef::Guid(self.id));
        writer.property("Ready", ValueRef::Boolean(self.ready));
        writer.finish()
    }

    pub(super) fn read(row: RowView<'_>) -> Result<Self> {
        let ready = row.find("Ready", &mut 0)? == Some(ValueRef::Boolean(true));
        let id = match row.find("Id", &mut 0)? {
            Some(ValueRef::Guid(id)) => id,
            // From before views had one.
            _ => Uuid::nil(),
        };
        Ok(Self { ready, id })
    }
}
