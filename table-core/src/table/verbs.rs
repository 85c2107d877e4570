//! The forms of the methods of a handle, shown with the names of the entity's fields in the messages of methods of other libraries.

/// A read by key.
#[derive(Debug)]
pub enum Find {}

/// A change of a stored entity.
#[derive(Debug)]
pub enum Change {}

/// A delete.
#[derive(Debug)]
pub enum Remove {}

/// A read of several entities.
#[derive(Debug)]
pub enum ReadAll {}

/// A read of several entities with a filter.
#[derive(Debug)]
pub enum SelectAll {}

/// An order of the entities that were read.
#[derive(Debug)]
pub enum Sort {}

/// Shows the form of the method for `V`. The derive implements it for each entity, under a bound that no entity satisfies.
#[diagnostic::on_unimplemented(
    message = "[T201] a table has no method of this name: it reads and writes entities by their keys",
    label = "write `get`, `query`, `insert`, `update`, `delete` or `scan`"
)]
pub trait ShowsVerb<V> {}
