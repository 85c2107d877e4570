//! The path under which the user's crate sees the runtime: whichever of our crates it depends on, by the name it uses.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use syn::{Ident, Path, parse_quote};

/// `table-patterns` if the crate depends on it, else `table-core`, renamed or not.
///
/// Where neither is found the path is `::table_core`: what rustc then says, that there is no such crate, is the truth.
pub(crate) fn find() -> Path {
    for (package, itself) in [("table-patterns", "table_patterns"), ("table-core", "table_core")] {
        let name = match crate_name(package) {
            // Both crates name themselves by `extern crate self as …`, so that their doctests and tests can derive too.
            Ok(FoundCrate::Itself) => itself.to_owned(),
            Ok(FoundCrate::Name(name)) => name,
            Err(_) => continue,
        };
        let name = Ident::new(&name, Span::call_site());
        return parse_quote!(::#name);
    }
    parse_quote!(::table_core)
}
