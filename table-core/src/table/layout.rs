//! The stored design of a table, compared when it is opened.
//!
//! Designs are entities of an ordinary table, [`LAYOUTS`], so that every backend can keep them and any tool can show them.

mod admission;
mod designs;
mod record;
mod standing;

use std::sync::Arc;

pub use admission::Admission;
pub(super) use designs::forget;
pub use record::{LAYOUTS, StoredLayout};
pub use standing::LEASE;
pub(crate) use standing::Standing;

use crate::entity::{Declared, Entity};
use crate::error::{Error, Result};
use crate::etag::IfMatch;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::pace::Pace;
use crate::schema::{EntitySchema, StoredSchema};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::{Table, request};

impl<E: Declared, S: TableStore> Table<E, S> {
    /// Creates the table unless it is there already, compares the design of `E`, or of each member of a set, with the one stored with it,
    /// and gives the handle back. A bag has no design, and none is compared.
    ///
    /// - No design stored yet, the same one, or one whose [verdict](crate::schema::Verdict) is *compatible* or *needs backfill*:
    ///   the design of `E` is stored, and what has to be built is noted in [`StoredLayout::pending`].
    /// - *Needs acceptance*, *needs rewrite* or *refused*: an error, as long as the table holds an entity. Nothing is changed.
    /// - A design that was stored before, and superseded by another one: this is an older program. It may go on where it lacks only properties that
    ///   can be absent; else it is an error, and what is stored stays in any case.
    ///
    /// The handle, and its clones, ask again when they write and [five seconds](LEASE) have passed, so that a program stops writing when a newer
    /// one has changed what is to be kept.
    ///
    /// A program whose design is incompatible with the rows stops before it reads or writes one. It costs a get beside the
    /// creation, and an insert where the design changed; the first design of a store also makes the table [`LAYOUTS`].
    ///
    /// ```
    /// use table_core::{Engine, Entity, ErrorCode, TableStoreExt};
    /// # mod v1 {
    /// #     #[derive(table_core::Entity)]
    /// #     #[partition_key(department)]
    /// #     #[row_key(id)]
    /// #     pub struct Employee { pub department: String, #[digits(6)] pub id: u32 }
    /// # }
    /// # mod v2 {
    /// #     #[derive(table_core::Entity)]
    /// #     #[partition_key(department)]
    /// #     #[row_key(id)]
    /// #     pub struct Employee { pub department: String, #[digits(8)] pub id: u32 }
    /// # }
    ///
    /// # pollster::block_on(async {
    /// let store = Engine::in_memory();
    /// let old = store.table::<v1::Employee>().create_if_missing().await?; // #[digits(6)] id: u32
    /// old.insert(&v1::Employee { department: "Sales".to_owned(), id: 223 }).await?;
    ///
    /// let new = store.table::<v2::Employee>().create_if_missing().await; // #[digits(8)] id: u32
    /// let error = new.unwrap_err();
    /// assert_eq!((error.code(), error.rule()), (ErrorCode::LayoutMismatch, Some("EVO-11")));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `LayoutMismatch` with the verdict, each change and what to do; its source is the [`Evolution`](crate::schema::Evolution). `FormatTooNew` or
    /// `Corrupted` if the stored design is not to be read. `TableBeingDeleted` while an earlier table of this name is being
    /// deleted (OPT-4).
    pub async fn create_if_missing(self) -> Result<Self> {
        let table = self.name()?;
        let is_new = request::create_if_missing(&self.store, table).await?;
        let mut standing = None;
        for design in E::DESIGNS {
            let design = StoredSchema::of(design).in_table(table.as_str());
            let lacks = designs::store(&self.store, table, &design, (is_new, self.now()), None).await?;
            standing = Some(Arc::new(Standing::new(design, self.now(), lacks)));
        }
        Ok(Self { standing, ..self })
    }
}

impl<E: Entity, S: TableStore> Table<E, S> {
    /// [`create_if_missing`](Self::create_if_missing), by the name of what it does where the table is there.
    ///
    /// # Errors
    /// Those of [`create_if_missing`](Self::create_if_missing).
    pub async fn open(self) -> Result<Self> {
        self.create_if_missing().await
    }

    /// Stores the design of `E` regardless of the verdict: to be called once old rows have been rewritten, or given up.
    ///
    /// The reason, the verdict and its rules are kept in [`StoredLayout::accepted`]. Rows are not touched.
    ///
    /// ```
    /// # use table_core::{Engine, Entity, TableStoreExt};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// # pollster::block_on(async {
    /// # let store = Engine::in_memory();
    /// let employees = store.table::<Employee>().create_if_missing().await?;
    /// employees.accept_layout("rewritten with 8 digits on 2026-11-20").await?;
    /// let accepted = employees.stored_layout().await?.and_then(|layout| layout.accepted);
    /// assert_eq!(accepted.as_deref(), Some("rewritten with 8 digits on 2026-11-20 (same)"));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of the store.
    pub async fn accept_layout(&self, reason: &str) -> Result<()> {
        let table = self.name()?;
        let design = StoredSchema::of(E::SCHEMA).in_table(table.as_str());
        designs::store(&self.store, table, &design, (false, self.now()), Some(reason)).await.map(drop)
    }

    /// The design that the table was last opened with for entities of this name; `None` if it never was.
    ///
    /// # Errors
    /// `FormatTooNew` or `Corrupted` if it is not to be read; those of the store.
    pub async fn stored_layout(&self) -> Result<Option<StoredLayout>> {
        record::read(&self.store, self.name()?, E::SCHEMA.entity).await
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// Whether a write may begin at an instant, for handles that write past this one: an error if a program of a newer design has opened the
    /// table, and this one would not keep what that declares. Asks the store once in [five seconds](LEASE), and nothing where the handle was not
    /// opened.
    ///
    /// # Errors
    /// `LayoutMismatch`; those of the store.
    pub async fn admit(&self, now: u64) -> Result<()> {
        match &self.standing {
            Some(standing) => standing.admit(&self.store, self.name()?, now).await,
            None => Ok(()),
        }
    }

    /// The admission of entities of another design in a table of the same store, for handles that write these beside their own. The
    /// stored design is asked for where that of this handle is: where this one was opened.
    #[must_use]
    pub fn admission(&self, design: &EntitySchema, table: TableName) -> Admission<S>
    where
        S: Clone,
    {
        let unasked = || Arc::new(Standing::unasked(StoredSchema::of(design).in_table(table.as_str())));
        let standing = self.standing.is_some().then(unasked);
        Admission { store: self.store.clone(), table, standing }
    }

    /// Whether rows may be replaced as a whole: not where a newer design has properties that this one does not know, as
    /// [`admit`](Self::admit) learned.
    ///
    /// # Errors
    /// `LayoutMismatch` (EVO-3).
    pub fn admit_whole(&self) -> Result<()> {
        match &self.standing {
            Some(standing) => standing.admit_whole(self.name()?),
            None => Ok(()),
        }
    }

    /// Whether the stored design is that of this handle, asked anew; `None` if the handle was not opened, and so does not know.
    ///
    /// # Errors
    /// `LayoutMismatch` if it is one that this one cannot write beside; those of the store.
    pub async fn is_current(&self) -> Result<Option<bool>> {
        match &self.standing {
            Some(standing) => standing.ask(&self.store, self.name()?).await.map(Some),
            None => Ok(None),
        }
    }

    /// The present instant, by the clock that it waits by.
    pub(super) fn now(&self) -> u64 {
        self.retry.as_ref().map_or_else(|| Pace::new().now(), |retry| retry.pace().now())
    }
}

impl<E: Entity, S: TableStore> Table<E, S> {
    /// Changes what is noted beside the stored design: what is pending, disabled, and how far the work on it has come. The
    /// design itself stays. `change` may run several times, each time on what is stored by then (CON-3).
    ///
    /// # Errors
    /// `ResourceNotFound` if no design is stored: open the table first; `UpdateConditionNotSatisfied` after several lost races.
    pub async fn note_layout(&self, change: impl Fn(&mut StoredLayout)) -> Result<StoredLayout> {
        let table = self.name()?;
        let key = record::key(table, E::SCHEMA.entity)?;
        let retry = self.retry.clone().unwrap_or_default();
        let mut race = retry.race("the design that is stored");
        loop {
            let Some(mut layout) = self.stored_layout().await? else {
                return Err(Error::of(TableFault::NoLayout).with_table(table.as_str()));
            };
            let before = layout.clone();
            change(&mut layout);
            layout.schema.clone_from(&before.schema);
            if layout == before {
                return Ok(layout);
            }
            let kind = OperationKind::Replace(layout.to_row(table)?, IfMatch::ETag(layout.etag.clone()));
            match request::write(&self.store, &record::table()?, key.clone(), kind).await {
                Ok(etag) => {
                    layout.etag = etag.unwrap_or(layout.etag);
                    return Ok(layout);
                }
                Err(error) if error.is_precondition_failed() => race.lost(error).await?,
                Err(error) => return Err(error),
            }
        }
    }
}
