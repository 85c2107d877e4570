//! The path under which the user's crate sees the runtime: whichever of our crates it depends on, by the name it uses.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use syn::{Ident, Path, parse_quote};

/// `table-patterns` if the crate depends on it, else `table-core`, renamed or not.
///
/// Where neither is found the path is `::table_core`: what rustc then says, that there is no such crate, is the truth.
pub(crate) fn find() -> Path {
    first_of(&[("table-patterns", "table_patterns"), ("table-core", "table_core")])
        .unwrap_or_else(|| parse_quote!(::table_core))
}

/// `table-patterns`, for what only it has; `::table_patterns` where it is not found.
pub(crate) fn find_patterns() -> Path {
    first_of(&[("table-patterns", "table_patterns")]).unwrap_or_else(|| parse_quote!(::table_patterns))
}

/// The first of these packages that the crate depends on.
fn first_of(packages: &[(&str, &str)]) -> Option<Path> {
    for &(package, itself) in packages {
        let name = match crate_name(package) {
            // Both crates name themselves by `extern crate self as …`, so that their doctests and tests can derive too.
            Ok(FoundCrate::Itself) => itself.to_owned(),
            Ok(FoundCrate::Name(name)) => name,
            Err(_) => continue,
        };
        let name = Ident::new(&name, Span::call_site());
        return Some(parse_quote!(::#name));
    }
    None
}
