//! The URL of an entity relative to the account (REQ-1, REQ-5).

use std::fmt::Write;

/// Returns the relative URL `Table(PartitionKey='…',RowKey='…')`. Quotes in the keys are doubled. All characters except letters, digits and `-._~` are
/// percent-encoded (REQ-5).
///
/// ```
/// use table_core::odata::entity_link;
///
/// let link = entity_link("Employee", "O'Neil & co", "1");
/// assert_eq!(link, "Employee(PartitionKey='O%27%27Neil%20%26%20co',RowKey='1')");
/// ```
#[must_use]
pub fn entity_link(table: &str, partition_key: &str, row_key: &str) -> String {
    let mut link = String::with_capacity(table.len() + partition_key.len() + row_key.len() + 32);
    link.push_str(table);
    link.push_str("(PartitionKey='");
    push_key(&mut link, partition_key);
    link.push_str("',RowKey='");
    push_key(&mut link, row_key);
    link.push_str("')");
    link
}

fn push_key(link: &mut String, key: &str) {
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                link.push(char::from(byte));
            }
            b'\'' => link.push_str("%27%27"),
            _ => {
                // Writing to a `String` cannot fail.
                let _ = write!(link, "%{byte:02X}");
            }
        }
    }
}
