//! Which rules have a test: `cargo test -p tests --test rules -- --nocapture` prints them.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

use std::path::Path;

use tests::rules::{RULES, Rule, WIRE, all, named_in_tests};

/// Rules with a test, at least: a change that takes a rule's last test away is noticed.
const PINNED: usize = 165;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn rules_are_pinned_by_tests() {
    let (rules, wire) = (all(RULES), all(WIRE));
    assert!(wire.is_subset(&rules));
    let named = named_in_tests(workspace()).unwrap();
    let unknown: Vec<_> = named.iter().filter(|(rule, _)| !rules.contains(*rule)).collect();
    assert!(unknown.is_empty(), "no such rules: {unknown:?}");
    let list = |rules: &mut dyn Iterator<Item = &Rule>| {
        rules.map(|(family, number)| format!("{family}-{number}")).collect::<Vec<_>>()
    };
    let pinned = list(&mut rules.iter().filter(|rule| named.contains_key(*rule)));
    let open = list(&mut rules.iter().filter(|rule| !named.contains_key(*rule) && !wire.contains(*rule)));
    let on_the_wire = list(&mut wire.iter().filter(|rule| !named.contains_key(*rule)));
    println!("{} rules, {} pinned by a test", rules.len(), pinned.len());
    println!("not pinned, a store can show them ({}): {}", open.len(), open.join(" "));
    println!("not pinned, of the wire ({}): {}", on_the_wire.len(), on_the_wire.join(" "));
    assert!(pinned.len() >= PINNED, "{} rules have a test, {PINNED} had", pinned.len());
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
