//! Finds the path by which the user's crate refers to the runtime. This is the local name of one of this project's packages among the crate's dependencies.

use std::path::Path as FilePath;
use std::{env, fs};

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use syn::{Ident, Path, parse_quote};
use toml_edit::{DocumentMut, Item, TableLike};

/// Returns the path of `table-patterns` or `table-core`. Either crate may be renamed.
///
/// If the crate depends on neither, the path is `::table_core`, and rustc reports the missing crate.
pub(crate) fn find() -> Path {
    first_of(&[("table-patterns", "table_patterns"), ("table-core", "table_core")])
        .unwrap_or_else(|| parse_quote!(::table_core))
}

/// Returns the name of the runtime in messages, such as `table_patterns`.
pub(crate) fn name() -> String {
    find().segments.last().map_or_else(String::new, |last| last.ident.to_string())
}

/// Returns the path of `table-store`, which defines errors, or of `table-core` or `table-patterns`.
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

/// Returns the path of one of these packages among the crate's dependencies, preferring a package usable in all targets and features.
///
/// A library cannot use its tests' dependencies, or an optional dependency whose feature is disabled. Such a package is returned only if no better one is
/// found.
fn first_of(packages: &[(&str, &str)]) -> Option<Path> {
    let found: Vec<String> =
        packages.iter().filter_map(|&(package, itself)| name_of(package, itself)).collect();
    let name = match found.as_slice() {
        [] => return None,
        [name] => name,
        names => names.iter().min_by_key(|name| use_of(&manifest(), name))?,
    };
    let name = Ident::new(name, Span::call_site());
    Some(parse_quote!(::#name))
}

/// Returns the local name of a package in the crate. If the package is the crate itself, returns `itself`.
fn name_of(package: &str, itself: &str) -> Option<String> {
    match crate_name(package) {
        // These crates contain `extern crate self as …`, so their own tests and doctests can use the derives.
        Ok(FoundCrate::Itself) => Some(itself.to_owned()),
        Ok(FoundCrate::Name(name)) => Some(name),
        Err(_) => None,
    }
}

/// The targets and features in which a crate can use a dependency, widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// All targets.
    Always,
    /// The library, but only with a feature or on some platforms.
    Sometimes,
    /// Only tests, examples and benchmarks.
    Tests,
}

/// Returns the targets and features in which the crate can use the dependency `name`, according to its manifest.
fn use_of(manifest: &DocumentMut, name: &str) -> Use {
    let is_name = |text: &str| text.replace('-', "_") == name;
    if manifest.get("package").and_then(|package| package.get("name")?.as_str()).is_some_and(is_name) {
        return Use::Always;
    }
    let dependency = |of: &dyn TableLike| {
        let dependencies = of.get("dependencies")?.as_table_like()?;
        dependencies.iter().find(|(key, _)| is_name(key)).map(|(_, item)| item.clone())
    };
    if let Some(item) = dependency(manifest.as_table()) {
        let is_optional = item.get("optional").and_then(Item::as_bool) == Some(true);
        return if is_optional { Use::Sometimes } else { Use::Always };
    }
    let mut platforms =
        manifest.get("target").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter);
    let is_of_a_platform = platforms.any(|(_, of)| of.as_table_like().and_then(dependency).is_some());
    if is_of_a_platform { Use::Sometimes } else { Use::Tests }
}

/// Returns the manifest of the crate, or an empty one if it cannot be read.
fn manifest() -> DocumentMut {
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let text = fs::read_to_string(FilePath::new(&folder).join("Cargo.toml")).unwrap_or_default();
    text.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Use, use_of};

    #[test]
    fn a_dependency_of_the_library_is_preferred_to_one_of_its_tests() {
        let manifest = r#"
            [package]
            name = "the-package"
            [dependencies]
            table-core = { workspace = true }
            of-a-feature = { version = "1", optional = true }
            explicit = { version = "1", optional = false }
            [dev-dependencies]
            table-patterns = "1"
            table-core = { version = "1", features = ["testing"] }
            of-a-feature = "1"
            [target.'cfg(unix)'.dependencies]
            of-a-platform = "1"
            [target.'cfg(windows)'.dev-dependencies]
            of-tests = "1"
            [dependencies.table]
            package = "renamed"
        "#;
        let manifest = manifest.parse().unwrap();
        let expected = [
            ("the_package", Use::Always),
            ("table_core", Use::Always),
            ("explicit", Use::Always),
            ("table", Use::Always),
            ("of_a_feature", Use::Sometimes),
            ("of_a_platform", Use::Sometimes),
            ("table_patterns", Use::Tests),
            ("of_tests", Use::Tests),
        ];
        for (name, expected) in expected {
            assert_eq!(use_of(&manifest, name), expected, "{name}");
        }
        assert!(Use::Always < Use::Sometimes && Use::Sometimes < Use::Tests);
    }
}
