//! Tests the links, the pictures and the search index in the rendered pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{pages, rendered};

/// Returns the values of an attribute in HTML text.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Resolves `..` in a path without accessing the disk.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
        path
    })
}

#[test]
fn every_link_and_every_picture_of_a_rendered_page_exists() {
    let Some(folder) = rendered() else { return };
    let mut ids: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    let mut broken = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let path = folder.join(&page);
        let html = fs::read_to_string(&path).unwrap();
        for target in values(&html, "href").into_iter().chain(values(&html, "src")) {
            // `sources.js` removes links to source files of the repository.
            let is_source = [".rs", ".toml"].iter().any(|end| target.ends_with(end));
            if is_source || target.contains(':') {
                continue;
            }
            followed += 1;
            let (file, id) = target.split_once('#').unwrap_or((target, ""));
            let linked =
                if file.is_empty() { path.clone() } else { normal(&path.parent().unwrap().join(file)) };
            let is_found = linked.is_file()
                && (id.is_empty() || {
                    let of_page = ids.entry(linked).or_insert_with_key(|linked| {
                        let html = fs::read_to_string(linked).unwrap();
                        values(&html, "id").into_iter().map(str::to_owned).collect()
                    });
                    of_page.contains(id)
                });
            if !is_found {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(followed > 1_000, "{followed} links were found");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn the_pages_can_be_searched() {
    let Some(folder) = rendered() else { return };
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let index = names.filter(|name| name.starts_with("searchindex")).max().unwrap();
    let index = fs::read_to_string(folder.join(index)).unwrap();
    for page in pages() {
        assert!(index.contains(&page), "{page} is not in the index of the search");
    }
}
