//! Tests that the numbered rules have tests. `cargo test -p tests --test house rules -- --nocapture` prints the tested rules of each family.

use std::collections::BTreeSet;
use std::path::Path;

use tests::rules::{Case, FAMILIES, Rule, UNSHOWN, UPDATE, cases, pages, reason, rules};

/// The minimum number of rules with a test. It detects a change that removes the last test of a rule.
const PINNED: usize = 585;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns the rules cited by these tests.
fn cited(cases: &[Case]) -> BTreeSet<Rule> {
    cases.iter().flat_map(|case| case.rules.keys().copied()).collect()
}

fn list(rules: impl Iterator<Item = Rule>) -> String {
    rules.map(|rule| rule.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn rules_are_pinned_by_tests() {
    let cases = cases(workspace()).unwrap();
    let known: BTreeSet<Rule> = rules().collect();
    for case in &cases {
        let unknown: Vec<_> = case.rules.keys().filter(|rule| !known.contains(rule)).collect();
        assert!(unknown.is_empty(), "{} in {} names no rules: {unknown:?}", case.name, case.file.display());
    }
    let cited = cited(&cases);
    let open = |rule: &Rule| !cited.contains(rule) && reason(*rule).is_none();
    for family in FAMILIES {
        let shown = list(family.rules().filter(|rule| cited.contains(rule)));
        let unshown = list(family.rules().filter(|rule| !cited.contains(rule) && !open(rule)));
        let open = list(family.rules().filter(open));
        println!("{}: pinned {shown}; no test can show {unshown}; open {open}", family.name);
    }
    let (all, open) = (known.len(), known.iter().filter(|rule| open(rule)).count());
    println!("{all} rules, {} pinned by a test, {open} open", cited.len());
    assert!(cited.len() >= PINNED, "{} rules have a test, {PINNED} had", cited.len());
}

/// Tests that no rule has both a test and a stated reason why it cannot be tested.
#[test]
fn no_test_shows_a_rule_listed_as_untestable() {
    let known: BTreeSet<Rule> = rules().collect();
    let cited = cited(&cases(workspace()).unwrap());
    for entry in UNSHOWN {
        for &number in entry.numbers {
            let rule = Rule { family: entry.family, number };
            assert!(known.contains(&rule), "there is no rule {rule}");
            assert!(!cited.contains(&rule), "a test shows {rule}: strike it from `UNSHOWN`");
        }
    }
}

/// Tests that the text of each documented rule appears on exactly one page of the docs.
#[test]
fn every_rule_has_its_text_once() {
    let mut with_text: Vec<Rule> =
        pages(workspace(), &[]).unwrap().into_iter().flat_map(|page| page.rules).collect();
    with_text.sort_unstable();
    let mut known: Vec<Rule> = rules().collect();
    known.sort_unstable();
    let (text, known) = (list(with_text.into_iter()), list(known.into_iter()));
    assert_eq!(text, known);
}

/// Tests that the pages of the docs list the current tests of each rule.
#[test]
fn pages_name_the_tests() {
    for page in pages(workspace(), &cases(workspace()).unwrap()).unwrap() {
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(workspace().join(&page.path), page.written).unwrap();
            continue;
        }
        let (stored, written): (Vec<_>, Vec<_>) =
            (page.stored.lines().collect(), page.written.lines().collect());
        let added: Vec<_> = written.iter().filter(|line| !stored.contains(line)).collect();
        let gone: Vec<_> = stored.iter().filter(|line| !written.contains(line)).collect();
        assert!(
            stored == written,
            "{} is not as the tests are; `{UPDATE}=1 cargo test -p tests --test house rules` writes it.\nnew: {added:#?}\ngone: {gone:#?}",
            page.path.display()
        );
    }
}

#[test]
fn every_scenario_is_run() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/suite");
    let read = |name: &str| std::fs::read_to_string(suite.join(name)).unwrap();
    let registry = read("registry.rs") + &read("queues.rs");
    let folders = [suite.clone(), suite.join("queues")];
    let mut count = 0;
    for entry in folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if path.is_dir() || path.ends_with("scene.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
            let name = line.split('<').next().unwrap();
            assert!(
                registry.lines().any(|line| line.trim() == format!("{name},")),
                "{name} is not in the registry"
            );
            count += 1;
        }
    }
    println!("{count} scenarios");
    assert!(count > 100);
}

/// Tests that the tests and examples that the parity page mentions exist.
#[test]
fn parity_is_shown_by_existing_tests_and_examples() {
    let page = std::fs::read_to_string(workspace().join("docs/parity.md")).unwrap();
    let mut claims = 0;
    let head = |line: &&str| ["| Microsoft's clients |", "| ---"].iter().any(|start| line.starts_with(start));
    for line in page.lines().filter(|line| line.starts_with("| ") && !head(line)) {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, ours, state, shown] = cells[..] else { panic!("{line}") };
        assert!(["supported", "better", "partly", "missing"].contains(&state), "{line}");
        assert!(!ours.is_empty() && (state == "missing" || !shown.is_empty()), "{line}");
        for link in shown.split(", ").filter(|link| !link.is_empty()) {
            let (name, path) = link.trim_start_matches("[`").split_once("`](../").unwrap();
            let text = std::fs::read_to_string(workspace().join(path.trim_end_matches(')'))).unwrap();
            let defined = ["fn", "struct", "trait"].iter().any(|kind| {
                let definition = format!("{kind} {name}");
                let mut places = text.split(&definition).skip(1);
                places.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
            });
            assert!(defined, "{path} has no `{name}`: {line}");
            claims += 1;
        }
    }
    assert!(claims > 50, "{claims} links");
}
