//! The future that runs an update.
//!
//! The requests run in a boxed future, but the caller's change runs in [`Update`] itself.
//!
//! The type of the box does not depend on the types of the arguments, so rustc reports a wrong argument only once. The box contains only encoded rows. An
//! update is therefore `Send` if its entity type and its change are `Send`.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_store::{Error, Result};

use crate::entity::{FromEntity, ToEntity, Versioned};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::row::Row;
use crate::schema::EntitySchema;
use crate::selection::Primary;
use crate::table::fault::TableFault;
use crate::table::read::Found;
use crate::table::update::change::ChangeResult;

/// An entity before and after a change, in encoded form.
pub(super) struct Changed {
    pub(super) before: Row,
    pub(super) after: Row,
    /// The key of the entity after the change.
    pub(super) key: EntityKey,
    /// The schema of the entity; empty for an entity without a schema.
    pub(super) designs: &'static [&'static EntitySchema],
    /// The version that was changed, or `None` if the caller passed the entity.
    pub(super) version: Option<Found>,
}

/// The state of the caller's change. The boxed future requests the change, and `Update` runs it.
#[derive(Default)]
enum Change {
    #[default]
    None,
    /// The version to change, or `None` for the entity passed by the caller.
    Requested(Option<Found>),
    Made(Result<Changed>),
}

/// A channel between the future that sends the requests and the [`Update`] that polls it. The future requests changes, and the `Update` returns their results.
#[derive(Default)]
pub(super) struct Changes(Mutex<Change>);

impl Changes {
    /// Requests a change to the given version. Once the update has run the change, returns the changed entity.
    pub(super) async fn of(&self, version: Option<Found>) -> Result<Changed> {
        self.replace(Change::Requested(version));
        poll_fn(|_| match self.replace(Change::None) {
            Change::Made(changed) => Poll::Ready(changed),
            // No waker is needed, because the `Update` polls this future again after it has run the change.
            change => {
                self.replace(change);
                Poll::Pending
            }
        })
        .await
    }

    fn replace(&self, change: Change) -> Change {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), change)
    }
}

/// The future returned by [`Table::update`](crate::Table::update). It does nothing until it is awaited.
///
/// ```
/// use table_core::table::Update;
/// use table_core::{Engine, Entity, Table};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
///
/// /// Starts an update of the age.
/// fn birthday(employees: &Table<Employee, Engine>) -> Update<'_, Employee, impl FnMut(&mut Employee), ()> {
///     employees.update(Employee::key("Sales", 223), |employee| employee.age += 1)
/// }
/// ```
#[must_use = "an update does nothing until it is awaited; write `.await?` after it"]
pub struct Update<'a, E, F, R> {
    writes: BoxFuture<'a, Result<(ETag, u64)>>,
    changes: Arc<Changes>,
    change: F,
    /// The entity passed by the caller, and later the entity after its last change.
    entity: Option<E>,
    // These fields are function pointers. Otherwise, rustc would check the trait bounds again at each `.await`.
    read: fn(&Found) -> Result<E>,
    apply: fn(&mut F, &mut E) -> Result<()>,
    encode: fn(&E) -> Result<(Row, EntityKey)>,
    designs: fn(&E) -> &'static [&'static EntitySchema],
    on_written: fn(&mut E, &ETag, u64),
    of: PhantomData<fn() -> R>,
}

impl<'a, E: FromEntity + ToEntity, F: FnMut(&mut E) -> R, R: ChangeResult> Update<'a, E, F, R> {
    pub(super) fn new(
        writes: BoxFuture<'a, Result<(ETag, u64)>>,
        changes: Arc<Changes>,
        change: F,
        entity: Option<E>,
    ) -> Self {
        Self {
            writes,
            changes,
            change,
            entity,
            read: |found| found.read::<Primary, E>().map(Versioned::into_value),
            apply: |change, entity| change(entity).into_result(),
            encode: |entity| Ok((entity.entity_row()?, entity.entity_key()?)),
            designs: E::own_schema,
            on_written: E::on_written,
            of: PhantomData,
        }
    }
}

impl<E, F, R> Update<'_, E, F, R> {
    /// Runs the change on a version of the entity, and stores the changed entity in this future.
    fn change(&mut self, version: Option<Found>) -> Result<Changed> {
        let read = version.as_ref().map(self.read).transpose()?;
        let mut entity = read.or_else(|| self.entity.take()).ok_or_else(no_version)?;
        let (before, _) = (self.encode)(&entity)?;
        (self.apply)(&mut self.change, &mut entity)?;
        let (after, key) = (self.encode)(&entity)?;
        let designs = (self.designs)(&entity);
        self.entity = Some(entity);
        Ok(Changed { before, after, key, designs, version })
    }

    fn written(&mut self, (etag, stamp): (ETag, u64)) -> Result<Versioned<E>> {
        let mut entity = self.entity.take().ok_or_else(no_version)?;
        (self.on_written)(&mut entity, &etag, stamp);
        Ok(Versioned::new(entity, etag, stamp))
    }
}

/// `Update` can be `Unpin`, because it contains no references to its own fields.
impl<E, F, R> Unpin for Update<'_, E, F, R> {}

impl<E, F, R> Future for Update<'_, E, F, R> {
    type Output = Result<Versioned<E>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            if let Poll::Ready(done) = this.writes.poll_unpin(context) {
                return Poll::Ready(done.and_then(|version| this.written(version)));
            }
            match this.changes.replace(Change::None) {
                Change::Requested(version) => {
                    let changed = this.change(version);
                    this.changes.replace(Change::Made(changed));
                }
                change => {
                    this.changes.replace(change);
                    return Poll::Pending;
                }
            }
        }
    }
}

fn no_version() -> Error {
    Error::of(TableFault::NothingToUpdate)
}

impl<E, F, R> fmt::Debug for Update<'_, E, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update").finish_non_exhaustive()
    }
}
