//! Generates a Bicep template that creates containers, for accounts in which programs cannot create them.

use std::fmt::Write as _;

use serde_json::Value as Json;
use table_core::{Error, ErrorCode, Result, TableName};

use crate::container::properties;
use crate::options::Options;
use crate::throughput::Throughput;

/// The API version of the resource provider.
const VERSION: &str = "2024-05-15";

impl Options {
    /// Returns a Bicep template that creates the containers of tables in an existing database.
    ///
    /// The containers have the same levels, throughput, time to live and indexing policy as those created by
    /// [`create_table`](table_core::TableStore::create_table).
    ///
    /// A program with an Entra ID token cannot create containers. Deploy the template with `az deployment group create --template-file`.
    ///
    /// ```
    /// use table_core::TableName;
    /// use table_cosmos::Options;
    ///
    /// let options = Options::new().levels("Events", 2).autoscale(4_000);
    /// let template = options.bicep(&[TableName::new("Events")?])?;
    /// assert!(template.contains("'/l1'") && template.contains("'MultiHash'") && template.contains("maxThroughput: 4000"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidResourceName` if a name belongs to a metrics table of the Table service, which programs cannot create.
    pub fn bicep(&self, tables: &[TableName]) -> Result<String> {
        let mut text = format!(
            "param accountName string\nparam databaseName string\n\n\
             resource account 'Microsoft.DocumentDB/databaseAccounts@{VERSION}' existing = {{\n  name: accountName\n}}\n\n\
             resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@{VERSION}' existing = {{\n  parent: account\n  \
             name: databaseName\n}}\n"
        );
        for table in tables {
            table.require_creatable()?;
            let resource = serde_json::to_value(properties(table, self));
            let resource = resource.map_err(|error| {
                Error::new(ErrorCode::InternalError, "the container cannot be described").with_source(error)
            })?;
            let name = table.as_str();
            let _ = write!(
                text,
                "\nresource table{name} 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@{VERSION}' = {{\n  parent: \
                 database\n  name: '{name}'\n  properties: {{\n    resource: "
            );
            write_value(&mut text, &resource, 2);
            match self.throughput {
                Some(Throughput::Manual(units)) => {
                    let _ = write!(text, "\n    options: {{\n      throughput: {units}\n    }}");
                }
                Some(Throughput::Autoscale(most)) => {
                    let _ = write!(
                        text,
                        "\n    options: {{\n      autoscaleSettings: {{\n        maxThroughput: {most}\n      }}\n    }}"
                    );
                }
                Some(Throughput::Shared) | None => {}
            }
            text.push_str("\n  }\n}\n");
        }
        Ok(text)
    }
}

/// Appends a JSON value in Bicep syntax. `depth` is the number of enclosing levels, each of which is indented by two spaces.
fn write_value(text: &mut String, json: &Json, depth: usize) {
    let indent = "  ".repeat(depth + 1);
    match json {
        Json::Object(members) => {
            text.push_str("{\n");
            // The members are sorted. Otherwise, their order would depend on a `serde_json` feature that any crate in the program may enable.
            let mut members: Vec<_> = members.iter().filter(|(_, value)| !value.is_null()).collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in members {
                let _ = write!(text, "{indent}{name}: ");
                write_value(text, value, depth + 1);
                text.push('\n');
            }
            let _ = write!(text, "{}}}", "  ".repeat(depth));
        }
        Json::Array(values) => {
            text.push_str("[\n");
            for value in values {
                text.push_str(&indent);
                write_value(text, value, depth + 1);
                text.push('\n');
            }
            let _ = write!(text, "{}]", "  ".repeat(depth));
        }
        Json::String(value) => {
            let _ =
                write!(text, "'{}'", value.replace('\\', "\\\\").replace('\'', "\\'").replace("${", "\\${"));
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hpk_32_the_template_describes_the_containers_that_the_store_creates() {
        let tables = ["Events", "Staff"].map(|name| TableName::new(name).unwrap());
        let options = Options::new().levels("Events", 3).throughput(400);
        insta::assert_snapshot!(options.bicep(&tables).unwrap());
    }

    #[test]
    fn a_text_of_a_template_is_escaped() {
        let mut text = String::new();
        write_value(&mut text, &Json::from(r"a'b\${c}"), 0);
        assert_eq!(text, r"'a\'b\\\${c}'");
    }
}
