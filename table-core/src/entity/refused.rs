//! Placeholders for methods that other libraries offer on entities. Calling one is a compile error that suggests the right method.

use crate::refused::Refused;

/// Never implemented, so a call to a method such as `partition_key` or `row_key` is a compile error that suggests `key_of`.
#[diagnostic::on_unimplemented(
    message = "[T245] `{Self}` has no method of this name: an entity is a plain struct, and its key is encoded from its fields",
    label = "write `key_of()?`",
    note = "`let key = entity.key_of()?;` is an `EntityKey`, with the texts `key.partition_key.as_str()` and `key.row_key.as_str()`",
    note = "`{Self}::key(…)` selects the entity by the fields of its key, for `get`, `update` and `delete`"
)]
pub trait KeepsKey: Refused {}

/// Never implemented, so a call to a method such as `etag` or `timestamp` is a compile error that suggests calling them on the `Versioned` returned by a read.
#[diagnostic::on_unimplemented(
    message = "[T245] `{Self}` has no method of this name: the version of an entity is kept with the entity that was read, a `Versioned<{Self}>`",
    label = "write it for the result of a read: `found.etag()`, `found.timestamp()`",
    note = "`table.get({Self}::key(…)).await?` returns an `Option` of it, `table.query(…).collect_versioned().await?` a `Vec` of them",
    note = "a write returns the new `ETag`: `let etag = table.insert(&entity).await?;`"
)]
pub trait KeepsVersion: Refused {}

/// Never implemented, so a call to a method such as `into_inner` of a `Versioned` is a compile error that suggests `into_value`.
#[diagnostic::on_unimplemented(
    message = "[T245] a `Versioned` has no method of this name: it is an entity with its version",
    label = "write `into_value()`",
    note = "the fields and methods of the entity are those of the `Versioned`, which dereferences to it: `found.age`; `value()` borrows the entity"
)]
pub trait UnwrapsBy: Refused {}
