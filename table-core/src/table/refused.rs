//! Methods of other libraries that tables do not have. Each reports the right one at compile time.

/// A handle that inserts or replaces an entity by one verb. No handle implements it: the methods that require it exist for their message.
#[diagnostic::on_unimplemented(
    message = "[T190] a table has no method of this name: each write says what happens if the entity exists",
    label = "write `insert`, `insert_or_replace` or `insert_or_merge`",
    note = "`insert(&entity)` fails if the entity exists; `insert_or_replace(&entity)` and `insert_or_merge(&entity)` do not",
    note = "to change a stored entity, `update(key, |entity| …)`; to replace one version, `replace(&entity, &etag)`"
)]
pub trait Saves {}

/// A handle that finds entities by any criterion. No handle implements it.
#[diagnostic::on_unimplemented(
    message = "[T191] a table has no method of this name: an entity is read by its key",
    label = "write `get(Employee::key(…))`",
    note = "`get` reads one entity by its complete key, or by a unique index; `get_many` reads several",
    note = "`query(Employee::partition(…))` reads entities by a part of their keys"
)]
pub trait Finds {}

/// A handle that writes many entities by one verb. No handle implements it.
#[diagnostic::on_unimplemented(
    message = "[T192] a table writes several entities in bulk, or in a transaction",
    label = "write `bulk().insert_all(entities)`",
    note = "`bulk().insert_all(entities)` writes any number of entities to any partitions, and is not atomic",
    note = "at most 100 operations on one partition are atomic in a transaction"
)]
pub trait WritesMany {}

/// Declares methods of other libraries for a type.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_verbs {
    (impl<$($parameter:ident),*> $handle:ty) => {
        $crate::__refused_verbs!(@ [$($parameter),*] $handle, $crate::__private::Saves: upsert save put add);
        $crate::__refused_verbs!(@ [$($parameter),*] $handle, $crate::__private::Finds: find find_one fetch load);
        $crate::__refused_verbs!(@ [$($parameter),*] $handle, $crate::__private::WritesMany: insert_all insert_many add_all save_all);
    };
    (@ [$($parameter:ident),*] $handle:ty, $bound:path: $($name:ident)*) => {
        $crate::__refused_verbs!(@@ ($($parameter),*) $handle, $bound: $($name)*);
    };
    (@@ $parameters:tt $handle:ty, $bound:path: $($name:ident)*) => {
        $($crate::__refused_verbs!(@@@ $parameters $handle, $bound, $name);)*
    };
    (@@@ ($($parameter:ident),*) $handle:ty, $bound:path, $name:ident) => {
        impl<$($parameter),*> $handle {
            #[doc(hidden)]
            pub fn $name<V>(&self, _value: V) -> std::future::Ready<$crate::Result<()>>
            where
                Self: $bound,
            {
                std::future::ready(Ok(()))
            }
        }
    };
}

__refused_verbs! { impl<E, S> crate::Table<E, S> }
