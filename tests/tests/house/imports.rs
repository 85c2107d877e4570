//! Tests that the modules of a package do not import each other in a cycle (ARCHITECTURE, "Layers of the core").
//!
//! An import counts as an import from the file that defines the item, even if it goes through a re-export.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

/// The path of a module within its package, such as `["key", "codec"]`.
type Module = Vec<String>;

const PACKAGES: [&str; 16] = [
    "benches",
    "examples",
    "table-advice",
    "table-azure",
    "table-core",
    "table-cosmos",
    "table-derive",
    "table-engine",
    "table-explorer",
    "table-hierarchy",
    "table-inspect",
    "table-patterns",
    "table-server",
    "table-store",
    "table-wire",
    "tables-cli",
];

#[test]
fn no_package_has_a_cycle_of_imports() {
    let found: Vec<String> = PACKAGES.into_iter().flat_map(circles).collect();
    assert!(found.is_empty(), "{} circles of imports:\n{}", found.len(), found.join("\n"));
}

/// Returns the imports of a package that form cycles.
///
/// Two modules are compared by the first segments in which their paths differ. A file and the files in the folder with its name count as one module, so they
/// may import each other.
fn circles(package: &str) -> BTreeSet<String> {
    let imports = Package::read(package).imports();
    let meetings = imports.iter().filter_map(|(from, to)| {
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        let part = |module: &Module| Some(module.get(..=shared)?.join("::"));
        Some((part(from)?, part(to)?, format!("{package}: {} imports {}", from.join("::"), to.join("::"))))
    });
    let meetings: Vec<_> = meetings.collect();
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to, _) in &meetings {
        next.entry(from).or_default().insert(to);
    }
    let closing = meetings.iter().filter(|(from, to, _)| reaches(&next, to, from));
    closing.map(|(_, _, line)| line.clone()).collect()
}

fn reaches(next: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(at) = left.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            left.extend(next.get(at).into_iter().flatten());
        }
    }
    false
}

/// The imports and re-exports in the files of a package.
#[derive(Default)]
struct Package {
    /// The paths that each file imports, or uses in expressions. They are relative to the root of the package.
    uses: BTreeMap<Module, Vec<Vec<String>>>,
    /// The path of each re-exported item, by file and name.
    exports: BTreeMap<(Module, String), Vec<String>>,
}

impl Package {
    fn read(package: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(package).join("src");
        let mut read = Self::default();
        read.folder(&root, &Vec::new());
        read
    }

    fn folder(&mut self, folder: &Path, module: &Module) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
            if name == "tests" || name == "bin" {
                continue;
            }
            let mut below = module.clone();
            if name != "lib" {
                below.push(name);
            }
            if entry.is_dir() {
                self.folder(&entry, &below);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let file = syn::parse_file(&fs::read_to_string(&entry).unwrap()).unwrap();
                self.uses.entry(below.clone()).or_default();
                file.items.iter().for_each(|item| self.item(item, &below));
            }
        }
    }

    fn item(&mut self, item: &Item, module: &Module) {
        if attributes(item).iter().any(|attribute| attribute.to_token_stream().to_string().contains("test")) {
            return;
        }
        if let Item::Use(item) = item {
            let mut paths = Vec::new();
            flatten(&item.tree, &mut Vec::new(), &mut paths);
            for (path, name) in paths {
                let Some(path) = absolute(&path, module) else { continue };
                if matches!(item.vis, Visibility::Inherited) {
                    self.uses.entry(module.clone()).or_default().push(path);
                } else {
                    self.exports.insert((module.clone(), name), path);
                }
            }
        } else {
            let uses = self.uses.entry(module.clone()).or_default();
            spelled(item.to_token_stream(), &mut |path| uses.extend(absolute(&path, module)));
        }
    }

    /// Returns the pairs of files in which the first file imports the second.
    fn imports(&self) -> BTreeSet<(Module, Module)> {
        let pairs = self.uses.iter().flat_map(|(module, paths)| {
            paths.iter().filter_map(|path| Some((module.clone(), self.file_of(path)?)))
        });
        pairs.filter(|(from, to)| from != to).collect()
    }

    /// Returns the file that defines an item. It is the module with the longest matching path, or the module from which the item is re-exported.
    fn file_of(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let length = (1..=path.len()).rev().find(|length| self.uses.contains_key(&path[..*length]))?;
            let (module, rest) = (path[..length].to_vec(), &path[length..]);
            match rest.first().and_then(|name| self.exports.get(&(module.clone(), name.clone()))) {
                Some(behind) => path = [behind.as_slice(), &rest[1..]].concat(),
                None => return Some(module),
            }
        }
        None
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Appends the paths in a `use` tree to `paths`. Each comes with the local name that it introduces.
fn flatten(tree: &UseTree, before: &mut Vec<String>, paths: &mut Vec<(Vec<String>, String)>) {
    let mut end = |before: &[String], last: &syn::Ident, name: &syn::Ident| {
        let path = if last == "self" { before.to_vec() } else { [before, &[last.to_string()]].concat() };
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name.to_string() };
        paths.push((path, name));
    };
    match tree {
        UseTree::Path(tree) => {
            before.push(tree.ident.to_string());
            flatten(&tree.tree, before, paths);
            before.pop();
        }
        UseTree::Name(tree) => end(before, &tree.ident, &tree.ident),
        UseTree::Rename(tree) => end(before, &tree.ident, &tree.rename),
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| flatten(tree, before, paths)),
        UseTree::Glob(_) => paths.push((before.clone(), String::from("*"))),
    }
}

/// Calls `each` with every path in the tokens that starts with `crate` or `super`.
fn spelled(tokens: TokenStream, each: &mut impl FnMut(Vec<String>)) {
    let mut path: Vec<String> = Vec::new();
    let mut joined = false;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => joined = true,
            TokenTree::Ident(ident) if joined || ident == "crate" || ident == "super" => {
                if !joined && !path.is_empty() {
                    each(std::mem::take(&mut path));
                }
                path.push(ident.to_string());
                joined = false;
            }
            other => {
                if !path.is_empty() {
                    each(std::mem::take(&mut path));
                }
                joined = false;
                if let TokenTree::Group(group) = other {
                    spelled(group.stream(), each);
                }
            }
        }
    }
    if !path.is_empty() {
        each(path);
    }
}

/// Returns a path relative to the root of the package. Returns `None` if the path refers to another package or to a local name.
fn absolute(path: &[String], module: &Module) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match path.first().map(String::as_str)? {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
        // Any other path starts with a submodule.
        _ => Some([module, path].concat()),
    }
}
