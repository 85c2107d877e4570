//! Expands the key patterns of `tables copy`.

use table_core::TableEntity;

use crate::failure::{Failure, Result};

/// Expands a pattern with the properties and keys of an entity.
pub(super) fn fill(pattern: &str, entity: &TableEntity) -> Result<String> {
    let (mut text, mut rest) = (String::new(), pattern);
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, behind) = behind
            .split_once('}')
            .ok_or_else(|| Failure::Usage(format!("the pattern `{pattern}` has an unclosed brace")))?;
        text.push_str(before);
        match name {
            "PartitionKey" => text.push_str(entity.key().partition_key.as_str()),
            "RowKey" => text.push_str(entity.key().row_key.as_str()),
            name => {
                let found = entity.get(name).ok_or_else(|| {
                    let key = entity.key();
                    let (partition, row) = (key.partition_key.as_str(), key.row_key.as_str());
                    Failure::Refused(format!(
                        "('{partition}', '{row}') has no property `{name}` for the pattern `{pattern}`"
                    ))
                })?;
                text.push_str(&table_inspect::value::show(found));
            }
        }
        rest = behind;
    }
    text.push_str(rest);
    Ok(text)
}
