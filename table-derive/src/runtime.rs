//! Finds the path of the runtime in the user's crate: the package of this project on which the crate depends, under the name that the crate gives it.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use syn::{Ident, Path, parse_quote};

/// Returns the path of `table-patterns` if the crate depends on it, and otherwise the path of `table-core`. Either crate may be renamed.
///
/// If the crate depends on neither, the path is `::table_core`, and rustc reports the missing crate.
pub(crate) fn find() -> Path {
    first_of(&[("table-patterns", "table_patterns"), ("table-core", "table_core")])
        .unwrap_or_else(|| parse_quote!(::table_core))
}

/// Returns the path of `table-store`, which defines errors, if the crate depends on it. Otherwise, returns the path of `table-core` or `table-patterns`.
///
/// A library may depend on `table-core` or `table-patterns` only in its tests. [`find`] would then return a path that the library itself cannot use.
pub(crate) fn find_errors() -> Path {
    first_of(&[
        ("table-store", "table_store"),
        ("table-core", "table_core"),
        ("table-patterns", "table_patterns"),
    ])
    .unwrap_or_else(|| parse_quote!(::table_core))
}

/// Returns the path of `table-patterns`, or `::table_patterns` if the package is not found.
pub(crate) fn find_patterns() -> Path {
    first_of(&[("table-patterns", "table_patterns")]).unwrap_or_else(|| parse_quote!(::table_patterns))
}

/// Returns the path of the first of these packages on which the crate depends.
fn first_of(packages: &[(&str, &str)]) -> Option<Path> {
    for &(package, itself) in packages {
        let name = match crate_name(package) {
            // These crates refer to themselves with `extern crate self as …`. Their tests and doctests can therefore use the derives.
            Ok(FoundCrate::Itself) => itself.to_owned(),
            Ok(FoundCrate::Name(name)) => name,
            Err(_) => continue,
        };
        let name = Ident::new(&name, Span::call_site());
        return Some(parse_quote!(::#name));
    }
    None
}
