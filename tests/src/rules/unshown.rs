//! The rules that no test can demonstrate, with the reasons.

use super::Rule;

/// Rules of one family that no test can demonstrate, for the same reason.
#[derive(Clone, Copy, Debug)]
pub struct Unshown {
    /// The name of the family.
    pub family: &'static str,
    /// The numbers of the rules.
    pub numbers: &'static [u32],
    /// The reason why no test can demonstrate these rules.
    pub reason: &'static str,
}

/// Returns the reason why no test can demonstrate a rule, or `None` if a test can.
#[must_use]
pub fn reason(rule: Rule) -> Option<&'static str> {
    UNSHOWN
        .iter()
        .find(|entry| entry.family == rule.family && entry.numbers.contains(&rule.number))
        .map(|entry| entry.reason)
}

const AZURITE: &str = "a deviation of Azurite on which nothing here relies";
const COSMOS: &str = "documented; only an account of Cosmos DB could show it";
const NOSQL: &str = "a rule of Cosmos DB accounts, which no test here uses";
const CLIENT: &str = "a property of the vendor's client, whose exact version is pinned";
const ADVICE: &str = "advice on choosing levels; the types enforce HPK-2, HPK-9 and HPK-42";

/// All rules that no test can demonstrate.
pub const UNSHOWN: &[Unshown] = &[
    Unshown {
        family: "BLB",
        numbers: &[4],
        reason: "limits of gigabytes and of old versions, which the service enforces",
    },
    Unshown { family: "AZ", numbers: &[1], reason: "no transaction here can contain two partitions (EGT-5)" },
    Unshown { family: "AZ", numbers: &[10, 11, 16, 18, 19, 20], reason: AZURITE },
    Unshown { family: "LEG", numbers: &[1], reason: "discontinued; named because old suites encode it" },
    Unshown { family: "COS", numbers: &[5, 14, 15, 16], reason: COSMOS },
    Unshown { family: "HPK", numbers: &[1, 28, 29, 30, 33, 40, 41, 44, 45], reason: NOSQL },
    Unshown { family: "HPK", numbers: &[3, 6, 7, 10, 18, 20, 21, 22, 23, 27], reason: ADVICE },
    Unshown {
        family: "EPK",
        numbers: &[8, 13],
        reason: "the form of hashes elsewhere, and the first version, which no container here uses",
    },
    Unshown { family: "MAP", numbers: &[2, 3], reason: CLIENT },
    Unshown { family: "WIRE", numbers: &[2, 3, 4], reason: CLIENT },
    Unshown { family: "RUST", numbers: &[1, 7, 8, 9, 10, 11], reason: CLIENT },
    Unshown { family: "LIM", numbers: &[1, 3, 6, 7, 8, 12, 14, 15], reason: NOSQL },
];
