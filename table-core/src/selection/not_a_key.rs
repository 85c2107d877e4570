//! Arguments that are not the key of a single entity. Their `PointKey` implementation has a source that no bound accepts, so rustc reports the bound. The
//! message of the bound shows the key with the names of the struct's fields.

use std::marker::PhantomData;

use table_store::{Error, ErrorCode, Result};
use uuid::Uuid;

use crate::entity::Entity;
use crate::index::StronglyConsistent;
use crate::query::EntityRef;
use crate::schema::IndexSchema;
use crate::selection::source::sealed;
use crate::selection::{OwnSource, Point, PointKey, ReadableAs, Selection, Source};

/// The source of an argument of type `A` that is not a complete key of `E`.
#[doc(hidden)]
#[derive(Debug)]
pub struct NotAKey<E, A>(PhantomData<fn() -> (E, A)>);

/// Shows the key of an entity, for an argument that is not a complete key. The derive implements it for each entity, under a bound that no entity satisfies.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T084] `{A}` is not a complete key",
    label = "write the function `key` of the entity, with the fields of the PartitionKey and of the RowKey as its arguments",
    note = "part of a key selects many entities; use `query(…)`"
)]
pub trait ShowsPoint<A>: 'static {
    /// A type without values.
    type Never: crate::Property;
}

impl<E, A> sealed::Sealed for NotAKey<E, A> {}

impl<E: ShowsPoint<A>, A: 'static> Source for NotAKey<E, A> {
    const INDEX: Option<&'static IndexSchema> = None;
    type Consistency = StronglyConsistent;
}

impl<E: ShowsPoint<A>, A: 'static, T> ReadableAs<T> for NotAKey<E, A> {
    fn read(_: EntityRef<'_>) -> Result<T> {
        Err(error())
    }
}

impl<E: ShowsPoint<A>, A: 'static> OwnSource<E> for NotAKey<E, A> {
    type Checked = E::Never;

    fn into_own(_: Selection<E, Point, Self>) -> Selection<E, Point> {
        Selection::new(Err(error()))
    }
}

fn error() -> Error {
    Error::new(ErrorCode::InvalidInput, "the argument is not a key")
}

macro_rules! not_a_key {
    ($([$($parameter:ident),*] $argument:ty => $shown:ty;)*) => {$(
        #[doc(hidden)]
        #[diagnostic::do_not_recommend]
        impl<E, $($parameter: 'static),*> PointKey<E> for $argument {
            type From = NotAKey<E, $shown>;

            fn into_point(self) -> Selection<E, Point, Self::From> {
                Selection::new(Err(error()))
            }
        }
    )*};
}

not_a_key! {
    [] &str => &'static str;
    [] String => String;
    [] &String => String;
    [] i32 => i32;
    [] i64 => i64;
    [] u32 => u32;
    [] u64 => u64;
    [] Uuid => Uuid;
    [A, B] (A, B) => (A, B);
    [A, B, C] (A, B, C) => (A, B, C);
}

macro_rules! entity_as_key {
    ($($argument:ty),*) => {$(
        #[doc(hidden)]
        #[diagnostic::do_not_recommend]
        impl<E: Entity> PointKey<E> for $argument {
            type From = NotAKey<E, E>;

            fn into_point(self) -> Selection<E, Point, Self::From> {
                Selection::new(Err(error()))
            }
        }
    )*};
}

entity_as_key! { E, &E }
