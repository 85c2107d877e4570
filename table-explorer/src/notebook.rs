//! The notebook: queries that readers saved, and those that ran last, in memory or in a file.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// The most queries of the history; saved ones are kept until they are removed.
const HISTORY: usize = 100;
/// The most saved queries, and the longest query in bytes.
const SAVED: usize = 1_000;
const LONGEST: usize = 16_000;

/// One query: the parameters of its page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// The store, as pages call it.
    pub(crate) store: String,
    pub(crate) table: String,
    pub(crate) query: String,
    /// The name under which it was saved; `None` in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The time at which it was saved or ran last.
    pub(crate) at: DateTime<Utc>,
}

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    queries: Vec<Noted>,
}

/// A notebook. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notebook {
    /// The file; a notebook without one ends with the explorer.
    file: Option<PathBuf>,
    content: Arc<Mutex<Content>>,
}

impl Notebook {
    pub(crate) fn in_file(file: PathBuf) -> Self {
        Self { file: Some(file), ..Self::default() }
    }

    /// Returns the queries of a store, newest first.
    pub(crate) async fn of(&self, store: &str) -> Result<Vec<Noted>> {
        let store = store.to_owned();
        self.on_thread(move |content| {
            content.queries.iter().rev().filter(|noted| noted.store == store).cloned().collect()
        })
        .await
    }

    /// Adds a query that ran, or saves one under its name. It replaces the same query, or the query of the same name.
    pub(crate) async fn add(&self, noted: Noted) -> Result<()> {
        if noted.query.len() > LONGEST {
            return match noted.name {
                Some(_) => Err(Failure::Input(format!("a query of more than {LONGEST} bytes is not saved"))),
                None => Ok(()),
            };
        }
        self.on_thread(move |content| content.add(noted)).await
    }

    /// Removes a saved query, or one of the history.
    pub(crate) async fn remove(&self, noted: Noted) -> Result<()> {
        self.on_thread(move |content| content.queries.retain(|known| !known.is_same(&noted))).await
    }

    /// Runs a function on the content, on a thread that may block. The file is read before, because another explorer may have changed it, and
    /// written if the function changed the content.
    async fn on_thread<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Content) -> T + Send + 'static,
    ) -> Result<T> {
        let notebook = self.clone();
        let done = tokio::task::spawn_blocking(move || notebook.run(run)).await;
        done.map_err(|error| Failure::Refused(format!("the notebook was not read: {error}")))?
    }

    fn run<T>(&self, run: impl FnOnce(&mut Content) -> T) -> Result<T> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &self.file else { return Ok(run(&mut content)) };
        let refuse = |error: io::Error| Failure::Refused(format!("{}: {error}", file.display()));
        let before = read(file).map_err(refuse)?;
        *content = before.clone();
        let answer = run(&mut content);
        if *content != before {
            write(file, &content).map_err(refuse)?;
        }
        Ok(answer)
    }
}

impl Content {
    fn add(&mut self, noted: Noted) {
        self.queries.retain(|known| !known.is_same(&noted));
        let (is_saved, most) = (noted.name.is_some(), if noted.name.is_some() { SAVED } else { HISTORY });
        self.queries.push(noted);
        let of_kind = |known: &Noted| known.name.is_some() == is_saved;
        let mut surplus = self.queries.iter().filter(|known| of_kind(known)).count().saturating_sub(most);
        self.queries.retain(|known| {
            let is_surplus = surplus > 0 && of_kind(known);
            surplus -= usize::from(is_surplus);
            !is_surplus
        });
    }
}

impl Noted {
    /// Returns `true` for the saved query of the same name, and for the same query of the history.
    fn is_same(&self, other: &Self) -> bool {
        let is_same_place = self.store == other.store && self.table == other.table;
        is_same_place && self.name == other.name && (self.name.is_some() || self.query == other.query)
    }
}

fn read(file: &Path) -> io::Result<Content> {
    match std::fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Content::default()),
        bytes => Ok(serde_json::from_slice(&bytes?)?),
    }
}

/// Writes a file that only its owner can read, in one step: a reader finds the old content or the new one.
fn write(file: &Path, content: &Content) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let draft = file.with_extension("draft");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&draft)?;
    serde_json::to_writer_pretty(&mut out, content)?;
    out.write_all(b"\n")?;
    out.sync_all()?;
    std::fs::rename(draft, file)
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
        content.add(noted("a", Some("first")));
        for nth in 0..2 * HISTORY {
            content.add(noted(&nth.to_string(), None));
        }
        content.add(noted("b", Some("first")));
        let last = (2 * HISTORY - 1).to_string();
        content.add(noted(&last, None));
        assert_eq!(content.queries.len(), HISTORY + 1);
        let saved: Vec<_> = content.queries.iter().filter(|noted| noted.name.is_some()).collect();
        assert_eq!(saved, [&noted("b", Some("first"))]);
        assert_eq!(content.queries.last(), Some(&noted(&last, None)));
    }

    #[tokio::test]
    async fn two_explorers_share_a_file_that_only_its_owner_reads() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep").join("queries.json");
        let (one, other) = (Notebook::in_file(file.clone()), Notebook::in_file(file.clone()));
        one.add(noted("a", None)).await.unwrap();
        other.add(noted("b", Some("saved"))).await.unwrap();
        assert_eq!(one.of("demo").await.unwrap(), [noted("b", Some("saved")), noted("a", None)]);
        assert_eq!(one.of("other").await.unwrap(), []);
        one.remove(noted("a", None)).await.unwrap();
        assert_eq!(other.of("demo").await.unwrap(), [noted("b", Some("saved"))]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&file, "not JSON").unwrap();
        assert!(one.add(noted("c", None)).await.is_err());
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "not JSON",
            "a file that cannot be read is not replaced"
        );
    }
}
