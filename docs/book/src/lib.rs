//! The book's tests: each chapter is a documentation test, and a sample that shows rows draws the picture beside it.
//!
//! `mdbook build docs/book` renders the chapters beside this package and the reference pages of `docs`. `cargo test -p book` runs every
//! sample, compares every picture with the file in `images`, and checks every link and the summary. `TABLES_UPDATE=1 cargo test -p book`
//! draws the pictures anew.

mod picture;

pub use picture::draw;

/// The chapters, as documentation tests.
#[cfg(doctest)]
mod chapters {
    macro_rules! chapters {
        ($($name:ident $file:literal)*) => {
            $(#[doc = include_str!(concat!("../", $file))] mod $name {})*
        };
    }

    chapters! {
        first_steps "first-steps.md"
        keys "keys.md"
        attributes "attributes.md"
        refused "refused.md"
        reading "reading.md"
        writing "writing.md"
        tutorial "tutorial.md"
        pattern_indexes "pattern-indexes.md"
        pattern_copies "pattern-copies.md"
        pattern_large "pattern-large.md"
        pattern_logs "pattern-logs.md"
        pattern_outbox "pattern-outbox.md"
        pattern_parts "pattern-parts.md"
        pattern_periods "pattern-periods.md"
        pattern_sequences "pattern-sequences.md"
        pattern_series "pattern-series.md"
        pattern_views "pattern-views.md"
        combining "combining.md"
        evolution "evolution.md"
        azure "azure.md"
        operations "operations.md"
        from_sql "from-sql.md"
        from_electrodb "from-electrodb.md"
        from_azure_data_tables "from-azure-data-tables.md"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn docs() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    /// The Markdown files below `docs`, but for the summary, as the summary names them.
    fn pages() -> BTreeSet<String> {
        let mut pages = BTreeSet::new();
        for folder in ["", "book/", "decisions/", "rules/"] {
            for entry in fs::read_dir(docs().join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if name.strip_suffix(".md").is_some_and(|name| name != "SUMMARY") {
                    pages.insert(format!("{folder}{name}"));
                }
            }
        }
        pages
    }

    fn read(page: &str) -> String {
        fs::read_to_string(docs().join(page)).unwrap()
    }

    /// The targets of the links and pictures of a Markdown text, code left out.
    fn targets(text: &str) -> Vec<String> {
        let prose = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
        let behind = prose.flat_map(|part| part.split("](").skip(1));
        behind.filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
    }

    /// The anchor that mdBook gives a heading.
    fn anchor(heading: &str) -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        words
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .collect::<String>()
            .replace(' ', "-")
    }

    #[test]
    fn every_link_of_the_book_leads_to_a_file_and_a_heading() {
        let mut broken = Vec::new();
        let mut followed = 0;
        for page in pages().into_iter().chain(["SUMMARY.md".to_owned()]) {
            let folder = docs().join(&page).parent().unwrap().to_owned();
            for target in targets(&read(&page)) {
                followed += 1;
                let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
                let path = if file.is_empty() { docs().join(&page) } else { folder.join(file) };
                let found = fs::read_to_string(&path).is_ok_and(|text| {
                    heading.is_empty()
                        || text.lines().any(|line| line.starts_with('#') && anchor(line) == heading)
                });
                if !found {
                    broken.push(format!("{page}: {target}"));
                }
            }
        }
        assert!(followed > 50, "{followed} links were found");
        assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    }

    #[test]
    fn every_page_is_in_the_summary_and_the_samples_of_every_chapter_are_run() {
        let listed: BTreeSet<String> = targets(&read("SUMMARY.md")).into_iter().collect();
        assert_eq!(listed, pages());
        let written: BTreeSet<String> =
            pages().iter().filter_map(|page| page.strip_prefix("book/").map(str::to_owned)).collect();
        let run: BTreeSet<String> = include_str!("lib.rs")
            .lines()
            .filter_map(|line| {
                line.trim().strip_suffix(".md\"")?.split_once(" \"").map(|(_, file)| format!("{file}.md"))
            })
            .collect();
        assert_eq!(run, written, "chapters are run as documentation tests by the list in lib.rs");
    }

    /// mdBook makes the page `index.html` beside the summary of the first chapter: elsewhere its links would lead nowhere from there.
    #[test]
    fn the_first_chapter_is_beside_the_summary() {
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
}
