//! The notebook of saved queries and recent queries, kept in memory or in a file.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::json_file::JsonFile;
use crate::store_names::StoreNames;

/// The maximum number of queries in the history. Saved queries are kept until removed by a user.
const HISTORY: usize = 100;
/// The maximum number of saved queries per store, and the maximum length of a query in bytes.
const SAVED: usize = 1_000;
const LONGEST: usize = 16_000;

/// A query in the notebook, stored as its page's URL parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// The store's identifier. Earlier releases stored the name shown on pages.
    pub(crate) store: String,
    pub(crate) table: String,
    pub(crate) query: String,
    /// The name of a saved query; `None` for a query in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The time when the query was saved or last run.
    pub(crate) at: DateTime<Utc>,
}

/// The contents of the notebook file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    queries: Vec<Noted>,
}

/// A notebook of saved and recent queries. Clones share the contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notebook(JsonFile<Content>);

impl Notebook {
    pub(crate) fn in_file(file: PathBuf) -> Self {
        Self(JsonFile::at(file))
    }

    /// Returns the saved and recent queries of a store, newest first.
    pub(crate) async fn of(&self, store: StoreNames) -> Result<Vec<Noted>> {
        self.0
            .run(move |content| {
                content.queries.iter().rev().filter(|noted| store.contain(&noted.store)).cloned().collect()
            })
            .await
    }

    /// Adds a recent query, or saves a query under a name. The new entry replaces an equal recent query, or a saved query with the same name.
    ///
    /// # Errors
    /// `Input` if the query to save is too long, or if the maximum number of saved queries has been reached.
    pub(crate) async fn add(&self, noted: Noted) -> Result<()> {
        if noted.query.len() > LONGEST {
            return match noted.name {
                Some(_) => Err(Failure::Input(format!("a query of more than {LONGEST} bytes is not saved"))),
                None => Ok(()),
            };
        }
        self.0.run(move |content| content.add(noted)).await?
    }

    /// Removes a query from the saved queries or the history, including an entry stored by an earlier release under the store's name.
    pub(crate) async fn remove(&self, store: StoreNames, noted: Noted) -> Result<()> {
        let of_names = [store.identity, store.shown].map(|store| Noted { store, ..noted.clone() });
        let is_removed = move |known: &Noted| of_names.iter().any(|noted| known.is_same(noted));
        self.0.run(move |content| content.queries.retain(|known| !is_removed(known))).await
    }
}

impl Content {
    fn add(&mut self, noted: Noted) -> Result<()> {
        let is_other =
            |known: &&Noted| known.name.is_some() && known.store == noted.store && !known.is_same(&noted);
        if noted.name.is_some() && self.queries.iter().filter(is_other).count() >= SAVED {
            return Err(Failure::Input(format!(
                "{SAVED} queries of this store are saved; remove one to save another"
            )));
        }
        self.queries.retain(|known| !known.is_same(&noted));
        self.queries.push(noted);
        let recent = self.queries.iter().filter(|known| known.name.is_none()).count();
        let mut surplus = recent.saturating_sub(HISTORY);
        self.queries.retain(|known| {
            let is_surplus = surplus > 0 && known.name.is_none();
            surplus -= usize::from(is_surplus);
            !is_surplus
        });
        Ok(())
    }
}

impl Noted {
    /// Returns `true` if both are saved queries with the same store, table and name, or equal recent queries.
    fn is_same(&self, other: &Self) -> bool {
        let is_same_place = self.store == other.store && self.table == other.table;
        is_same_place && self.name == other.name && (self.name.is_some() || self.query == other.query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(query: &str, name: Option<&str>) -> Noted {
        let (store, table) = ("demo".to_owned(), "Company".to_owned());
        Noted {
            store,
            table,
            query: query.to_owned(),
            name: name.map(str::to_owned),
            at: DateTime::default(),
        }
    }

    #[test]
    fn the_history_is_bounded_and_saved_queries_stay() {
        let mut content = Content::default();
        content.add(noted("a", Some("first"))).unwrap();
        for nth in 0..2 * HISTORY {
            content.add(noted(&nth.to_string(), None)).unwrap();
        }
        content.add(noted("b", Some("first"))).unwrap();
        let last = (2 * HISTORY - 1).to_string();
        content.add(noted(&last, None)).unwrap();
        assert_eq!(content.queries.len(), HISTORY + 1);
        let saved: Vec<_> = content.queries.iter().filter(|noted| noted.name.is_some()).collect();
        assert_eq!(saved, [&noted("b", Some("first"))]);
        assert_eq!(content.queries.last(), Some(&noted(&last, None)));
    }

    #[test]
    fn a_saved_query_is_never_dropped_for_another() {
        let mut content = Content::default();
        for nth in 0..SAVED {
            content.add(noted("a", Some(&nth.to_string()))).unwrap();
        }
        let refused = content.add(noted("b", Some("another"))).unwrap_err().to_string();
        assert!(refused.contains("1000 queries of this store are saved"), "{refused}");
        assert_eq!(content.queries.len(), SAVED);
        content.add(noted("b", Some("7"))).unwrap();
        content.add(noted("c", None)).unwrap();
        assert_eq!(content.queries.len(), SAVED + 1);
        let elsewhere = Noted { store: "other".to_owned(), ..noted("a", Some("first")) };
        content.add(elsewhere).expect("the queries of another store cannot be removed here");
    }

    #[tokio::test]
    async fn queries_of_other_stores_are_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("queries.json");
        let (one, other) = (Notebook::in_file(file.clone()), Notebook::in_file(file));
        let names = |identity: &str| StoreNames { identity: identity.to_owned(), shown: "demo".to_owned() };
        let unknown = StoreNames { identity: "other".to_owned(), shown: "other".to_owned() };
        one.add(noted("a", None)).await.unwrap();
        other.add(noted("b", Some("saved"))).await.unwrap();
        assert_eq!(one.of(names("demo")).await.unwrap(), [noted("b", Some("saved")), noted("a", None)]);
        assert_eq!(one.of(unknown).await.unwrap(), []);
        one.remove(names("/a/demo"), noted("a", None)).await.unwrap();
        assert_eq!(other.of(names("/b/demo")).await.unwrap(), [noted("b", Some("saved"))]);
    }
}
