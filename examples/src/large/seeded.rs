//! Generates a package index. The same seed produces the same index on every machine.

use std::collections::BTreeSet;

use super::Package;

const SECTIONS: [&str; 12] = [
    "admin",
    "contrib/games",
    "devel",
    "doc",
    "games",
    "libdevel",
    "libs",
    "math",
    "non-free/doc",
    "python",
    "science",
    "utils",
];
const SYLLABLES: [&str; 16] =
    ["ba", "co", "de", "fi", "gu", "ka", "li", "mo", "na", "pe", "ra", "so", "ti", "vu", "xe", "zo"];
const TEAMS: [&str; 5] = ["Ada Team", "Games Team", "Python Team", "QA Group", "Science Team"];

/// Generates `count` different packages.
#[must_use]
pub fn packages(count: usize, seed: u64) -> Vec<Package> {
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_add(1);
        usize::try_from(scatter(state) % n as u64).unwrap_or(0)
    };
    let mut names = BTreeSet::new();
    while names.len() < count {
        let syllables = 2 + below(5);
        let mut name: String = (0..syllables).map(|_| SYLLABLES[below(SYLLABLES.len())]).collect();
        match below(6) {
            0 => name.push_str("-dev"),
            1 => name.push_str("++"),
            2 => name.push_str(["0.9", "1.2", "3.11"][below(3)]),
            _ => {}
        }
        names.insert(name);
    }
    names
        .into_iter()
        .map(|name| Package {
            name,
            section: SECTIONS[below(SECTIONS.len())].to_owned(),
            version: format!("{}.{}-{}", below(9), below(20), 1 + below(4)),
            architecture: if below(3) == 0 { "all" } else { "amd64" }.to_owned(),
            installed_size: 8 + i64::try_from(below(100_000)).unwrap_or(0),
            maintainer: TEAMS[below(TEAMS.len())].to_owned(),
        })
        .collect()
}

/// Maps each number to a different `u64`. Neighbouring numbers are mapped far apart (the finaliser of `SplitMix64`).
#[must_use]
pub const fn scatter(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
