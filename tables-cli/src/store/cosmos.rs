//! The locations of Cosmos DB for NoSQL databases.

use std::fmt;

use table_core::DynTableStore;

use crate::failure::{Failure, Result};

/// A connection string for a Cosmos DB for NoSQL database: the connection string of the account, with the additional settings `Database`, `Region` and
/// `Levels`.
#[derive(Clone, PartialEq, Eq)]
pub struct CosmosDatabase {
    /// The account's URL.
    pub endpoint: String,
    /// The name of the database.
    pub database: String,
    /// The region in which this program runs, as spelled in the portal. If it is empty, the first region of the account is used.
    region: String,
    key: String,
    /// The number of partition key levels for each table the program creates, paired with the table's name.
    levels: Vec<(String, usize)>,
}

/// Formats the location without the key.
impl fmt::Display for CosmosDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database {} of {}", self.database, self.endpoint)
    }
}

/// Formats the location like `Display`, because logs must not contain the key.
impl fmt::Debug for CosmosDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl CosmosDatabase {
    /// The setting that distinguishes connection strings of Cosmos DB for NoSQL from those of the Table service.
    pub(super) const ENDPOINT: &str = "AccountEndpoint=";

    /// Parses a connection string.
    ///
    /// # Errors
    /// `Usage` if a setting is missing or unknown, or if the levels do not have the format `Events:3,Orders:2`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut found = Self {
            endpoint: String::new(),
            database: String::new(),
            region: String::new(),
            key: String::new(),
            levels: Vec::new(),
        };
        let settings = text.split(';').map(str::trim).filter(|setting| !setting.is_empty());
        for (at, setting) in settings.enumerate() {
            match setting.split_once('=') {
                Some(("AccountEndpoint", value)) => value.clone_into(&mut found.endpoint),
                Some(("AccountKey", value)) => value.clone_into(&mut found.key),
                Some(("Database", value)) => value.clone_into(&mut found.database),
                Some(("Region", value)) => value.clone_into(&mut found.region),
                Some(("Levels", value)) => {
                    found.levels = value.split(',').map(levels_of_table).collect::<Result<_>>()?;
                }
                unknown => {
                    let name = unknown.map_or(setting, |(name, _)| name);
                    // If the setting's name is missing, this text may be the account key, which must not appear in the message.
                    let is_name = name.len() <= 24 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
                    return if is_name {
                        usage(&format!("has the unknown setting `{name}`; it takes {SETTINGS}"))
                    } else {
                        usage(&format!(
                            "is invalid: setting {} has an unknown name; it takes {SETTINGS}",
                            at + 1
                        ))
                    };
                }
            }
        }
        let required =
            [(&found.endpoint, "AccountEndpoint"), (&found.key, "AccountKey"), (&found.database, "Database")];
        let missing = required.into_iter().find_map(|(value, name)| value.is_empty().then_some(name));
        match missing {
            Some(name) => usage(&format!("has no `{name}`; it takes {SETTINGS}")),
            None => Ok(found),
        }
    }

    /// Connects to the account.
    ///
    /// # Errors
    /// `Store`, with the cause, if the connection fails. `Usage` if the program was built without the `cosmos` feature.
    #[cfg(feature = "cosmos")]
    pub(super) async fn open(&self) -> Result<DynTableStore> {
        let options = table_cosmos::Options::new().adopt_levels(true);
        let options =
            self.levels.iter().fold(options, |options, (table, levels)| options.levels(table, *levels));
        let (endpoint, key, region) = (&self.endpoint, &self.key, &self.region);
        let store =
            table_cosmos::CosmosTables::with_key(endpoint, key, region, &self.database, options).await?;
        Ok(DynTableStore::new(store))
    }

    /// Returns an error, because the program was built without the `cosmos` feature.
    #[cfg(not(feature = "cosmos"))]
    #[expect(clippy::unused_async, reason = "the function of the feature is async")]
    pub(super) async fn open(&self) -> Result<DynTableStore> {
        let help = "this program was built without Cosmos DB; install it with `--features cosmos`";
        Err(Failure::Usage(help.to_owned()))
    }
}

const SETTINGS: &str = "`AccountEndpoint`, `AccountKey`, `Database`, `Region` and `Levels`";

fn usage<T>(fault: &str) -> Result<T> {
    Err(Failure::Usage(format!("the connection string of Cosmos DB {fault}")))
}

/// Parses a table's number of levels, such as `Events:3`.
fn levels_of_table(text: &str) -> Result<(String, usize)> {
    let found =
        text.split_once(':').and_then(|(table, levels)| Some((table.trim(), levels.trim().parse().ok()?)));
    match found {
        Some((table, levels @ 1..=3)) if !table.is_empty() => Ok((table.to_owned(), levels)),
        _ => {
            usage(&format!("has the levels `{text}`; write them as `Levels=Events:3,Orders:2`, from 1 to 3"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_names_a_database_and_levels_of_new_tables() {
        let text = "AccountEndpoint=https://contoso.documents.azure.com:443/;AccountKey=c2VjcmV0==;Database=shop;Region=East US;Levels=Events:3, Orders:2;";
        let found = CosmosDatabase::parse(text).unwrap();
        assert_eq!(
            (found.database.as_str(), found.key.as_str(), found.region.as_str()),
            ("shop", "c2VjcmV0==", "East US")
        );
        assert_eq!(found.levels, [("Events".to_owned(), 3), ("Orders".to_owned(), 2)]);
    }

    #[test]
    fn missing_and_unknown_settings_are_named() {
        let base = "AccountEndpoint=https://contoso.documents.azure.com/;AccountKey=c2VjcmV0";
        for (text, fault) in [
            (base.to_owned(), "has no `Database`"),
            (format!("{base};Database=shop;Container=x"), "unknown setting `Container`"),
            (format!("{base};Database=shop;oops"), "unknown setting `oops`"),
            (format!("{base};Database=shop;Levels=Events:4"), "has the levels `Events:4`"),
            (format!("{base};Database=shop;Levels=Events"), "has the levels `Events`"),
            ("AccountEndpoint=;AccountKey=a;Database=b".to_owned(), "has no `AccountEndpoint`"),
            ("AccountEndpoint=https://x/;c2VjcmV0==;Database=d".to_owned(), "setting 2 has an unknown name"),
            (
                "AccountEndpoint=https://x/;AccountKey:c2VjcmV0==;Database=d".to_owned(),
                "setting 2 has an unknown name",
            ),
            (
                "AccountEndpoint=https://x/;c2VjcmVjcmVjcmVjcmVjcmVjcmV=;Database=d".to_owned(),
                "setting 2 has an unknown name",
            ),
        ] {
            let refused = CosmosDatabase::parse(&text).err().unwrap().to_string();
            assert!(refused.contains(fault) && !refused.contains("c2VjcmV0"), "{text}: {refused}");
        }
    }
}
