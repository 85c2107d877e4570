//! Tests that every public type appears in a runnable example, in its own documentation or in that of its module (CONTRIBUTING, "Requirements").

use std::collections::{BTreeMap, BTreeSet};

use crate::files::{below, root};

const PACKAGES: [&str; 10] = [
    "table-advice",
    "table-azure",
    "table-core",
    "table-cosmos",
    "table-engine",
    "table-hierarchy",
    "table-patterns",
    "table-server",
    "table-store",
    "table-wire",
];

#[test]
fn every_public_type_has_an_example() {
    let without: BTreeSet<String> = PACKAGES.into_iter().flat_map(without).collect();
    assert!(
        without.is_empty(),
        "public types without an example: show each, or make it private:\n{without:#?}"
    );
}

/// Returns those public types of a package that appear in no example, as `package::Type`.
///
/// An example counts for each type that it mentions, provided that the type is in the same file or in the folder of the module. An example on the front page of
/// the package counts for types anywhere in the package. An example also counts for the type in whose documentation it appears. This includes the documentation
/// of the methods.
fn without(package: &str) -> Vec<String> {
    let public = public_types(package);
    let files: BTreeMap<String, String> = below(&format!("{package}/src"), &[".rs"]).into_iter().collect();
    let (mut found, front) = (Vec::new(), format!("{package}/src/lib.rs"));
    for (path, text) in files.iter().filter(|(path, _)| !path.contains("/tests")) {
        let module = path.rsplit_once('/').map(|(folder, _)| format!("{folder}.rs")).unwrap_or_default();
        let mut samples = samples(text);
        for page in [module, front.clone()] {
            samples.push_str(&files.get(&page).map(|text| self::samples(text)).unwrap_or_default());
        }
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = declared(line).filter(|name| public.contains(*name)) else { continue };
            if !names(&samples, name) && !has_own_docs(&lines[..at]) && !methods_have(&lines, name) {
                found.push(format!("{package}::{name}"));
            }
        }
    }
    found
}

/// Returns the names of the types in the public API snapshot of a package.
fn public_types(package: &str) -> BTreeSet<String> {
    let snapshot = root().join(format!("docs/api/{package}.txt"));
    let text = std::fs::read_to_string(snapshot).expect("the snapshot is there");
    let is_type =
        |line: &&str| ["struct ", "enum ", "trait ", "type "].iter().any(|kind| line.starts_with(kind));
    let name = |line: &str| {
        let path = line.split_whitespace().nth(1)?.split('<').next()?.trim_end_matches(':');
        path.rsplit("::").next().map(str::to_owned)
    };
    text.lines().filter_map(|line| line.strip_prefix("pub ")).filter(is_type).filter_map(name).collect()
}

/// Returns the name of the public type declared on a line.
fn declared(line: &str) -> Option<&str> {
    let rest = ["pub struct ", "pub enum ", "pub trait ", "pub type "]
        .iter()
        .find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|character: char| !character.is_alphanumeric()).next()
}

/// Returns the code of all samples in the doc comments of a file.
fn samples(text: &str) -> String {
    let (mut code, mut inside) = (String::new(), false);
    for line in text.lines().map(str::trim_start) {
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        if doc.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            code.push_str(doc);
            code.push('\n');
        }
    }
    code
}

fn names(code: &str, name: &str) -> bool {
    code.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| word == name)
}

/// Returns `true` if the doc comment at the end of `before` contains a sample or includes a file.
fn has_own_docs(before: &[&str]) -> bool {
    let docs = before.iter().rev().take_while(|line| !line.trim().is_empty() && !line.starts_with('}'));
    docs.into_iter().any(|line| line.contains("/// ```") || line.contains("include_str!"))
}

/// Returns `true` if the documentation of one of the methods of the type contains a sample.
fn methods_have(lines: &[&str], name: &str) -> bool {
    let mut inside = false;
    lines.iter().any(|line| {
        if line.starts_with("impl") {
            inside = names(line, name);
        } else if line.starts_with('}') {
            inside = false;
        }
        inside && line.trim_start().starts_with("/// ```")
    })
}
