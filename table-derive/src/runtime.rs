//! Finds the runtime's path in the user's crate: the package of this project that the crate depends on, under the name that the crate gives it.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use syn::{Ident, Path, parse_quote};

/// Returns the path of `table-patterns` if the crate depends on it, otherwise that of `table-core`. Either may be renamed.
///
/// If the crate depends on neither, the path is `::table_core`, and rustc reports the missing crate.
pub(crate) fn find() -> Path {
    first_of(&[("table-patterns", "table_patterns"), ("table-core", "table_core")])
        .unwrap_or_else(|| parse_quote!(::table_core))
}

/// Returns the path of `table-store`, which defines errors, if the crate depends on it; otherwise that of `table-core` or `table-patterns`.
///
/// A library may depend on `table-core` or `table-patterns` in its tests only. [`find`] would then return a path that the library itself cannot use.
pub(crate) fn find_errors() -> Path {
    first_of(&[
        ("table-store", "table_store"),
        ("table-core", "table_core"),
        ("table-patterns", "table_patterns"),
    ])
    .unwrap_or_else(|| parse_quote!(::table_core))
}

/// Returns the path of `table-patterns`; `::table_patterns` if it is not found.
pub(crate) fn find_patterns() -> Path {
    first_of(&[("table-patterns", "table_patterns")]).unwrap_or_else(|| parse_quote!(::table_patterns))
}

/// Returns the path of the first of these packages that the crate depends on.
fn first_of(packages: &[(&str, &str)]) -> Option<Path> {
    for &(package, itself) in packages {
        let name = match crate_name(package) {
            // These crates refer to themselves with `extern crate self as …`, so their tests and doctests can use the derives.
            Ok(FoundCrate::Itself) => itself.to_owned(),
            Ok(FoundCrate::Name(name)) => name,
            Err(_) => continue,
        };
        let name = Ident::new(&name, Span::call_site());
        return Some(parse_quote!(::#name));
    }
    None
}
