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

/// The source of an argument of type `A` that is not a complete key.
#[doc(hidden)]
#[derive(Debug)]
pub struct NotAKey<A>(PhantomData<fn() -> A>);

/// Shows the key of an entity, for an argument that is not a complete key. The derive implements it for each entity, under a bound that no entity satisfies.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T084] `{A}` is not a complete key",
    label = "write the function `key` of the entity, with the fields of the PartitionKey and of the RowKey as its arguments",
    note = "part of a key selects many entities; use `query(…)`"
)]
pub trait ShowsPoint<A> {
    /// A type without values.
    type Never: crate::Property;
}

impl<A> sealed::Sealed for NotAKey<A> {}

impl<A: 'static> Source for NotAKey<A> {
    const INDEX: Option<&'static IndexSchema> = None;
    type Consistency = StronglyConsistent;
}

impl<A: 'static, T: ShowsPoint<A>> ReadableAs<T> for NotAKey<A> {
    fn read(_: EntityRef<'_>) -> Result<T> {
        Err(error())
    }
}

impl<A: 'static, E: ShowsPoint<A>> OwnSource<E> for NotAKey<A> {
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
            type From = NotAKey<$shown>;

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

#[doc(hidden)]
#[diagnostic::do_not_recommend]
impl<E: Entity> PointKey<E> for &E {
    type From = NotAKey<E>;

    fn into_point(self) -> Selection<E, Point, Self::From> {
        Selection::new(Err(error()))
    }
}
