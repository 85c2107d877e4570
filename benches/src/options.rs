//! The command line: how much to measure, and which rows.

use std::time::Duration;

use crate::Outcome;

/// How to call the program.
pub const USAGE: &str = "ratios [--azurite | --server] [--quick | --full] [--entities N] [--rounds N] [--millis N] [--seconds N] [--only row,row] [--keep]";

/// What is measured, by which peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The embedded engine, against other engines.
    Engine,
    /// The client of Azure tables, against other clients of one Azurite.
    Client,
    /// The server, against Azurite.
    Server,
}

/// What a run measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Entities in the table that is read from; a multiple of 1,000.
    pub entities: u32,
    /// Rounds of each contender.
    pub rounds: usize,
    /// How long one round takes.
    pub time: Duration,
    /// How long contenders are updated without a break, in a full run.
    pub sustained: Duration,
    /// What is measured.
    pub subject: Subject,
    /// Whether a short run was asked for.
    pub quick: bool,
    /// Whether to go on to ten times the entities.
    pub full: bool,
    /// The rows to measure; empty is all.
    pub only: Vec<String>,
    /// Whether the folders stay.
    pub keep: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entities: 1_000_000,
            rounds: 15,
            time: Duration::from_millis(200),
            sustained: Duration::from_mins(2),
            subject: Subject::Engine,
            quick: false,
            full: false,
            only: Vec::new(),
            keep: false,
        }
    }
}

impl Options {
    /// Reads the arguments that follow the program's name.
    ///
    /// ```
    /// use benches::options::Options;
    ///
    /// let options = Options::parse(["--quick", "--only", "key"].map(String::from))?;
    /// assert!(options.wants("key") && !options.wants("page"));
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Outcome<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value: {USAGE}"));
            match argument.as_str() {
                "--quick" => {
                    (options.entities, options.rounds) = (20_000, 3);
                    (options.time, options.quick) = (Duration::from_millis(150), true);
                }
                "--azurite" => options.subject = Subject::Client,
                "--server" => options.subject = Subject::Server,
                "--full" => options.full = true,
                "--keep" => options.keep = true,
                "--entities" => options.entities = value()?.replace('_', "").parse()?,
                "--rounds" => options.rounds = value()?.parse()?,
                "--millis" => options.time = Duration::from_millis(value()?.parse()?),
                "--seconds" => options.sustained = Duration::from_secs(value()?.parse()?),
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                _ => return Err(format!("unknown argument {argument}: {USAGE}").into()),
            }
        }
        options.entities =
            options.entities.next_multiple_of(crate::data::PARTITION).max(crate::data::PARTITION);
        options.rounds = options.rounds.max(1);
        Ok(options)
    }

    /// Whether a row is to be measured.
    #[must_use]
    pub fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == row)
    }
}
