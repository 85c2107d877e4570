//! `docs/rules.md`: each rule with the tests that show it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Case, FAMILIES, Place, Rule, reason};

/// Tests of one rule that the page names: those that say it in the most telling place.
const NAMED: usize = 3;

/// The variable of the environment under which a test writes the page instead of comparing it.
pub const UPDATE: &str = "TABLES_UPDATE";

const HEAD: &str = "\
# Rules and the tests that show them

Each numbered rule of the specifications, and the tests that name it: those that have it in their name first, then those that cite
it in the comment above or in their body; at most three a rule, `…` where there are more. A rule that no test can show says why.
This page is written from the tests, and `cargo test -p tests --test rules` fails where it is not as they are;
`TABLES_UPDATE=1 cargo test -p tests --test rules` writes it anew.

Tests of `tests/src/suite` are scenarios, run over the model, the engine in memory and on disk, and Azurite but for what
`tests/tests/azurite/deviations.rs` lists; those of `tests/ui/fail` and `tests/ui_patterns/fail` are messages of the compiler. The rules EPK, MAP, RT, WIRE and RUST
are of Cosmos DB for NoSQL, which nothing here speaks to, and are left out.
";

/// The page.
#[must_use]
pub fn page(cases: &[Case]) -> String {
    let mut by_rule: BTreeMap<Rule, Vec<(Place, &Case)>> = BTreeMap::new();
    for case in cases {
        for (rule, place) in &case.rules {
            by_rule.entry(*rule).or_default().push((*place, case));
        }
    }
    let mut page = HEAD.to_owned();
    for family in FAMILIES {
        let _ = write!(page, "\n## {}: {}\n\n", family.name, family.about);
        for rule in family.rules() {
            let _ = write!(page, "- **{rule}** ");
            if let Some(mut shown) = by_rule.remove(&rule) {
                shown.sort_by_key(|(place, _)| *place);
                let more = if shown.len() > NAMED { ", …" } else { "" };
                let links = shown.iter().take(NAMED).map(|(_, case)| link(case)).collect::<Vec<_>>();
                let _ = writeln!(page, "{}{more}", links.join(", "));
            } else {
                let _ = writeln!(page, "*{}*", reason(rule).unwrap_or("open: no test yet"));
            }
        }
    }
    page
}

fn link(case: &Case) -> String {
    let file = case.file.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>();
    format!("[`{}`](../{})", case.name, file.join("/"))
}
