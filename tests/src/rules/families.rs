//! All rules, as families with ranges of numbers.

use std::fmt;

/// A family of rules: its name, its subject, and its rule numbers as ranges.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name, such as `PAT-IX`.
    pub name: &'static str,
    /// The subject of the rules.
    pub about: &'static str,
    /// The first and last number of each range.
    pub numbers: &'static [(u32, u32)],
}

/// The identifier of a rule in the specification, such as `KEY-3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// The name of the family, such as `KEY`.
    pub family: &'static str,
    /// The number of the rule in its family.
    pub number: u32,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.family, self.number)
    }
}

impl Family {
    const fn new(name: &'static str, about: &'static str, numbers: &'static [(u32, u32)]) -> Self {
        Self { name, about, numbers }
    }

    /// Returns the rules of the family, in ascending order.
    pub fn rules(&self) -> impl Iterator<Item = Rule> {
        let family = self.name;
        self.numbers
            .iter()
            .flat_map(move |(first, last)| (*first..=*last).map(move |number| Rule { family, number }))
    }
}

/// Returns all rules of all families.
pub fn rules() -> impl Iterator<Item = Rule> {
    FAMILIES.iter().flat_map(Family::rules)
}

/// The families, in the order of the specifications: the service, the patterns, hierarchical partition keys and schema evolution.
pub const FAMILIES: &[Family] = &[
    Family::new("ACC", "accounts and their endpoints", &[(1, 3)]),
    Family::new("TBL", "tables", &[(1, 6)]),
    Family::new("ENT", "entities", &[(1, 3)]),
    Family::new("KEY", "PartitionKey and RowKey", &[(1, 10)]),
    Family::new("ORD", "order", &[(1, 6)]),
    Family::new("PROP", "properties and their names", &[(1, 7)]),
    Family::new("TYPE", "types", &[(1, 12)]),
    Family::new("JSON", "metadata levels", &[(1, 8)]),
    Family::new("ETAG", "ETag and Timestamp", &[(1, 7)]),
    Family::new("SIZE", "the size of an entity", &[(1, 7)]),
    Family::new("REQ", "requests and answers", &[(1, 8)]),
    Family::new("OPT", "operations on tables", &[(1, 6)]),
    Family::new("INS", "insert", &[(1, 6)]),
    Family::new("GET", "get", &[(1, 3)]),
    Family::new("UPD", "update (replace)", &[(1, 6)]),
    Family::new("MRG", "merge", &[(1, 5)]),
    Family::new("UPS", "upserts", &[(1, 6)]),
    Family::new("DEL", "delete", &[(1, 4)]),
    Family::new("IFM", "If-Match", &[(1, 4)]),
    Family::new("ERR", "errors", &[(1, 5)]),
    Family::new("EGT", "entity group transactions", &[(1, 14), (20, 25), (30, 39)]),
    Family::new("QRY", "queries", &[(1, 4)]),
    Family::new("FIL", "filters", &[(1, 8), (10, 19)]),
    Family::new("LIT", "literals of filters", &[(1, 5)]),
    Family::new("SEL", "$select", &[(1, 6)]),
    Family::new("TOP", "$top", &[(1, 4)]),
    Family::new("CLS", "classes of queries", &[(1, 5)]),
    Family::new("PAGE", "pages and continuation tokens", &[(1, 13)]),
    Family::new("CON", "concurrency and consistency", &[(1, 12)]),
    Family::new("AUTH", "authentication", &[(1, 13), (20, 24), (30, 32)]),
    Family::new("SAS", "shared access signatures for a table", &[(1, 12)]),
    Family::new("ACL", "stored access policies", &[(1, 4)]),
    Family::new("ASAS", "shared access signatures for an account", &[(1, 5)]),
    Family::new("SCL", "scalability targets", &[(1, 4)]),
    Family::new("RTY", "retries", &[(1, 6)]),
    Family::new("QUE", "queues", &[(1, 17), (20, 23)]),
    Family::new("BLB", "blobs", &[(1, 12)]),
    Family::new("LOG", "analytics logs", &[(1, 7)]),
    Family::new("AZ", "deviations of Azurite", &[(1, 20)]),
    Family::new("LEG", "the legacy emulator", &[(1, 1)]),
    Family::new("COS", "deviations of Cosmos DB for Table", &[(1, 16)]),
    Family::new("TICK", "ticks", &[(1, 9)]),
    Family::new("EX", "worked examples", &[(1, 28)]),
    Family::new("SIG", "signature vectors", &[(1, 16)]),
    Family::new("ENG", "decisions for our engine", &[(1, 21)]),
    Family::new("DQ", "designing for queries", &[(1, 14)]),
    Family::new("PAT-INTRA", "intra-partition secondary index", &[(1, 8)]),
    Family::new("PAT-INTER", "inter-partition secondary index", &[(1, 5)]),
    Family::new("PAT-EC", "eventually consistent transactions", &[(1, 8)]),
    Family::new("PAT-IX", "index entities", &[(1, 7)]),
    Family::new("PAT-DEN", "denormalisation", &[(1, 3)]),
    Family::new("PAT-CK", "compound key", &[(1, 4)]),
    Family::new("PAT-LOG", "log tail", &[(1, 5)]),
    Family::new("PAT-HVD", "high-volume delete", &[(1, 6)]),
    Family::new("PAT-SER", "data series", &[(1, 4)]),
    Family::new("PAT-WIDE", "wide entities", &[(1, 4)]),
    Family::new("PAT-LARGE", "large entities", &[(1, 3)]),
    Family::new("PAT-ANTI", "anti-patterns", &[(1, 3)]),
    Family::new("PAT-HET", "heterogeneous types", &[(1, 6)]),
    Family::new("IMP", "implementation considerations", &[(1, 6)]),
    Family::new("HPK", "hierarchical partition keys", &[(1, 45)]),
    Family::new("LIM", "limits of hierarchical partition keys", &[(1, 16)]),
    Family::new("EPK", "the hash that places a hierarchical key", &[(1, 14)]),
    Family::new("MAP", "the map of physical partitions", &[(1, 13)]),
    Family::new("RT", "routing to physical partitions", &[(1, 14)]),
    Family::new("WIRE", "requests with hierarchical keys", &[(1, 7)]),
    Family::new("RUST", "the official client of Cosmos DB for NoSQL", &[(1, 11)]),
    Family::new("EVO", "schema evolution", &[(1, 34)]),
];
