//! Tests of the links and pictures on all pages, and of the summary.

use std::collections::BTreeSet;
use std::fs;

use crate::pages::{docs, pages, read, root};

/// Returns the targets of the links and pictures in Markdown text, except for those in code.
fn targets(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
    let behind = prose.flat_map(|part| part.split("](").skip(1));
    behind.filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

/// Returns the anchor that mdBook generates for a heading.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>()
        .replace(' ', "-")
}

#[test]
fn every_link_resolves_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    let mut followed = 0;
    let of_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
    let of_book = pages().into_iter().chain(["SUMMARY.md".to_owned()]).map(|page| docs().join(page));
    for page in of_book.chain(of_root.map(|page| root().join(page))) {
        let folder = page.parent().unwrap();
        for target in targets(&fs::read_to_string(&page).unwrap()) {
            if target.contains("://") {
                continue;
            }
            followed += 1;
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { page.clone() } else { folder.join(file) };
            let has_heading =
                |text: String| text.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            // A picture has no headings and is not read as text.
            let is_found = if heading.is_empty() {
                path.exists()
            } else {
                fs::read_to_string(&path).is_ok_and(has_heading)
            };
            if !is_found {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(followed > 50, "{followed} links were found");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_once() {
    let listed = targets(&read("SUMMARY.md"));
    let set: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), set.len(), "a page is listed twice");
    assert_eq!(set, pages());
}

/// Tests that the first chapter is in the folder of the summary. mdBook renders it as `index.html` in that folder, so its relative links would break otherwise.
#[test]
fn the_first_chapter_is_in_the_folder_of_the_summary() {
    assert_eq!(targets(&read("SUMMARY.md")).first().map(String::as_str), Some("introduction.md"));
}

#[test]
fn every_picture_is_shown() {
    let shown: BTreeSet<String> = pages()
        .iter()
        .flat_map(|page| targets(&read(page)))
        .filter_map(|target| target.strip_prefix("images/").map(str::to_owned))
        .collect();
    let drawn: BTreeSet<String> = fs::read_dir(docs().join("book/images"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(shown, drawn);
}
