//! Detects entities close to the service's limits.

use table_core::{TableEntity, Value};

use crate::audit::finding::Finding;
use crate::audit::wide;

/// The maximum size of an entity, in bytes (SIZE-1).
const ENTITY: u64 = 1 << 20;
/// The maximum number of custom properties (ENT-2).
const PROPERTIES: u64 = 252;
/// The maximum length of a string, in characters. A binary value can have twice as many bytes (TYPE-10).
const VALUE: u64 = 32_768;
/// The maximum length of a key, in characters (KEY-7).
const KEY: u64 = 512;

/// A check for entities that reach at least 80% of a limit.
#[derive(Debug)]
pub(in crate::audit) struct Limits {
    bytes: Finding,
    properties: Finding,
    values: Finding,
    keys: Finding,
}

impl Default for Limits {
    fn default() -> Self {
        let finding = |rule, fact: &str, fix: &str| Finding::new(rule, fact, fix);
        Self {
            bytes: finding(
                "SIZE-1",
                "entities near 1 MiB",
                "put large values into blobs, or spread the properties over several entities (`Wide`)",
            ),
            properties: finding(
                "ENT-2",
                "entities near 252 properties",
                "spread the properties over several entities (`Wide`), or store a list in one property",
            ),
            values: finding(
                "TYPE-10",
                "values near 32,768 characters or 65,536 bytes",
                "put large values into blobs, or cut them into several properties",
            ),
            keys: finding(
                "KEY-7",
                "keys near 512 characters",
                "shorten the parts, or store a hash of a long one",
            ),
        }
    }
}

impl Limits {
    /// Checks a row and returns its size in bytes.
    pub(in crate::audit) fn push(&mut self, row: &TableEntity) -> u64 {
        let is_near = |size: u64, limit: u64| size * 5 >= limit * 4;
        let (key, bytes) = (row.key(), size(row));
        if is_near(bytes, ENTITY) {
            self.bytes.push(key);
        }
        // The rows of a wide entity are full by design, so they are not reported.
        if is_near(row.len() as u64, PROPERTIES) && wide::whole_of(row).is_none() {
            self.properties.push(key);
        }
        if row.iter().any(|(_, found)| match found {
            Value::String(text) => is_near(units(text), VALUE),
            Value::Binary(bytes) => is_near(bytes.len() as u64, 2 * VALUE),
            _ => false,
        }) {
            self.values.push(key);
        }
        if is_near(units(key.partition_key.as_str()), KEY) || is_near(units(key.row_key.as_str()), KEY) {
            self.keys.push(key);
        }
        bytes
    }

    pub(in crate::audit) fn finish(self, findings: &mut Vec<Finding>) {
        let all = [self.bytes, self.properties, self.values, self.keys];
        findings.extend(all.into_iter().filter(|finding| finding.rows > 0));
    }
}

fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// Returns the size of an entity in bytes, calculated with the service's published formula (SIZE-2).
#[must_use]
pub fn size(row: &TableEntity) -> u64 {
    let keys = 4 + 2 * (units(row.key().partition_key.as_str()) + units(row.key().row_key.as_str()));
    let property = |(name, found): (&str, &Value)| {
        let value = match found {
            Value::String(text) => 2 * units(text) + 4,
            Value::Binary(bytes) => bytes.len() as u64 + 4,
            Value::Int32(_) => 4,
            Value::Int64(_) | Value::Double(_) | Value::DateTime(_) => 8,
            Value::Guid(_) => 16,
            Value::Boolean(_) => 1,
        };
        8 + 2 * units(name) + value
    };
    keys + row.iter().map(property).sum::<u64>()
}
