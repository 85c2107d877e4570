//! Bounds that no type satisfies, for values passed in place of a condition: the result of an operator, or a string.

/// A condition computed by an operator. No type implements this trait, because operators return a `bool`; it exists for its message.
#[diagnostic::on_unimplemented(
    message = "[T096] a `bool` is not a condition on `{E}`: a filter runs in the store, and operators are computed before it",
    label = "write `.eq(…)` for `==`, `.ne(…)` for `!=`, `.gt(…)` for `>`, `.ge(…)` for `>=`, `.lt(…)` for `<`, `.le(…)` for `<=`",
    note = "write `&` for `&&` and `|` for `||` between such comparisons: `{E}::….eq(…) & {E}::….eq(…)`",
    note = "fields of the key are selected before the filter: `table.query({E}::rows(…))`; a column of `bool` is a condition itself"
)]
pub trait ByMethod<E> {}

/// The type that must implement [`ByMethod`]. rustc shows the message of a bound in an `impl` only if the bound is on a type other than the `impl`'s.
#[doc(hidden)]
#[derive(Debug)]
pub enum Operator {}

/// A condition given as a string. No type implements this trait; it exists for its message.
#[diagnostic::on_unimplemented(
    message = "[T096] a text is not a condition on `{E}`: a filter takes comparisons of its columns",
    label = "write `{E}::….eq(…)`, the comparison of a column of `{E}`",
    note = "a text in OData is parsed by `Filter::parse(text)?`, which is `None` for an empty text; `Condition::from_filter` takes the filter",
    note = "columns are constants of `{E}`, the names of its fields in capitals"
)]
pub trait Parsed<E> {}

/// The type that must implement [`Parsed`], for the same reason as [`Operator`].
#[doc(hidden)]
#[derive(Debug)]
pub enum Unparsed {}
