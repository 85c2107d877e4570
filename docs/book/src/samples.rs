//! Tests that each sample in the book is a complete program in the form in which it is shown and copied.
//!
//! `cargo test -p book` compiles and runs the samples as documentation tests. A documentation test hides lines that begin with `# ` and adds a `main` function
//! if it is missing, but a reader who copies the sample gets neither. These tests therefore reject samples that need one of them.

use std::collections::BTreeSet;
use std::fs;

use crate::pages::{docs, pages, read, root};

/// The packages that a sample may use. "First steps" tells the reader to add them. The page about the web API adds `axum`.
const PACKAGES: [&str; 14] = [
    "axum",
    "chrono",
    "pollster",
    "serde",
    "serde_json",
    "std",
    "table_advice",
    "table_azure",
    "table_cosmos",
    "table_patterns",
    "tokio",
    "tracing_subscriber",
    "uuid",
    "core",
];

/// The pages whose samples are compiled in other packages. Each page is listed with the files that contain the same code, in the order in which the page shows
/// them.
const ELSEWHERE: [(&str, &[&str]); 3] = [
    ("book/unique.md", &["docs/book/src/unique.rs"]),
    ("book/web.md", &["examples/web/src/main.rs"]),
    (
        "book/tutorial.md",
        &[
            "docs/book/steps/01.rs",
            "docs/book/steps/02.rs",
            "docs/book/steps/03.rs",
            "docs/book/steps/04.rs",
            "docs/book/steps/05.rs",
            "docs/book/steps/06.rs",
            "docs/book/steps/07.rs",
            "docs/book/steps/08.rs",
            "docs/book/steps/09.rs",
            "docs/book/steps/10.rs",
        ],
    ),
];

/// A fenced code block on a page.
struct Block {
    line: usize,
    info: String,
    code: String,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            is_open = !is_open;
            if is_open {
                blocks.push(Block { line: number + 1, info: info.to_owned(), code: String::new() });
            }
        } else if is_open && let Some(block) = blocks.last_mut() {
            block.code.push_str(line);
            block.code.push('\n');
        }
    }
    blocks
}

/// Returns the reasons why a sample cannot be copied into `src/main.rs` and run.
fn faults(block: &Block) -> Vec<String> {
    let mut faults = Vec::new();
    let words: BTreeSet<&str> = block.info.split(',').collect();
    if words.iter().any(|word| !["rust", "no_run"].contains(word)) {
        faults.push(format!("`{}`: samples are compiled, as `rust` or `rust,no_run`", block.info));
    }
    if block.code.lines().any(|line| line.trim_start().starts_with("# ") || line.trim() == "#") {
        faults.push("a hidden line: a reader does not copy it".to_owned());
    }
    if !block.code.lines().any(|line| line.starts_with("fn main()") || line.starts_with("async fn main()")) {
        faults.push("no visible `main`".to_owned());
    }
    let used = block.code.lines().filter_map(|line| line.trim_start().strip_prefix("use "));
    for path in used {
        let package = path.split([':', ';', ' ']).next().unwrap_or_default();
        if !PACKAGES.contains(&package) && !["super", "self", "crate"].contains(&package) {
            faults.push(format!("`use {package}`: the page \"First steps\" does not name this package"));
        }
    }
    faults
}

#[test]
fn every_sample_of_the_book_and_the_readme_is_a_complete_program() {
    let mut found = Vec::new();
    let mut samples = 0;
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    // The samples of the page about Cosmos DB are compiled as documentation tests of `table-cosmos`.
    let is_in_book = |page: &String| {
        page.starts_with("book/") || ["cosmos.md", "introduction.md"].contains(&page.as_str())
    };
    let book = pages().into_iter().filter(is_in_book);
    let texts = book.map(|page| (page.clone(), read(&page))).chain([("README.md".to_owned(), readme)]);
    for (page, text) in texts {
        for block in blocks(&text).iter().filter(|block| block.info.starts_with("rust")) {
            samples += 1;
            found.extend(faults(block).iter().map(|fault| format!("{page}:{}: {fault}", block.line)));
        }
    }
    assert!(samples > 40, "{samples} samples were found");
    assert!(found.is_empty(), "{} faults of samples:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_chapter_is_run() {
    let written: BTreeSet<String> = pages()
        .iter()
        .filter(|page| !ELSEWHERE.iter().any(|(elsewhere, _)| page == elsewhere))
        .filter_map(|page| match page.strip_prefix("book/") {
            Some(chapter) => Some(chapter.to_owned()),
            None => (page == "compare.md").then(|| format!("../{page}")),
        })
        .collect();
    let run: BTreeSet<String> = include_str!("lib.rs")
        .lines()
        .filter_map(|line| Some(line.trim().strip_suffix(".md\"")?.split_once(" \"")?.1))
        .map(|name| format!("{name}.md"))
        .collect();
    assert_eq!(run, written, "lib.rs lists the chapters");
}

#[test]
fn samples_compiled_elsewhere_match_their_source() {
    for (page, files) in ELSEWHERE {
        let text = read(page);
        let shown: Vec<Block> =
            blocks(&text).into_iter().filter(|block| block.info.starts_with("rust")).collect();
        assert_eq!(shown.len(), files.len(), "{page}");
        for (block, file) in shown.iter().zip(files) {
            let program = fs::read_to_string(root().join(file)).unwrap();
            let program = program.split("\n#[cfg(test)]").next().unwrap();
            assert!(block.code == program, "{page}:{} shows another text than {file}", block.line);
        }
    }
}

#[test]
fn the_packages_match_first_steps() {
    let text = fs::read_to_string(docs().join("book/first-steps.md")).unwrap();
    for package in PACKAGES.iter().filter(|package| !["axum", "core", "std"].contains(package)) {
        let is_named = text.contains(package) || text.contains(&package.replace('_', "-"));
        assert!(is_named, "First steps does not name {package}");
    }
}

#[test]
fn the_sample_check_finds_faults() {
    let block = |info: &str, code: &str| Block { line: 1, info: info.to_owned(), code: code.to_owned() };
    let good = "use table_patterns::Engine;\nfn main() {}\n";
    assert!(faults(&block("rust", good)).is_empty());
    assert_eq!(faults(&block("rust,ignore", good)).len(), 1);
    assert_eq!(faults(&block("rust", "# fn main() {}\n")).len(), 2);
    assert_eq!(faults(&block("rust", "use book::draw;\nfn main() {}\n")).len(), 1);
}
