//! The evidence of a crash test, here called a ledger. It contains the changes that each thread started, and the acknowledged changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// The kind of a change, named after its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An entity with indexes.
    Index,
    /// An increment of a slot in a series. The value is the increment.
    Series,
    /// An event.
    Log,
    /// A wide entity.
    Wide,
    /// An entity with a blob.
    Large,
    /// A row in an hourly table.
    Period,
    /// A drop of old hourly tables. The value is an hour. The tables for all earlier hours are dropped.
    Expire,
    /// A row whose changes are in a feed.
    Feed,
    /// An entity whose properties are copied to other entities.
    Source,
    /// An entity that contains copied properties. The value is the entity's reference to the source of the copies.
    Holder,
    /// An entity that a view counts in its sums.
    Viewed,
    /// An entity in index lists stored in blobs.
    Listed,
    /// A help desk agent.
    Agent,
    /// A help desk ticket.
    Ticket,
    /// A request to the accounting ledger. The value contains the postings of its entry.
    Entry,
}

impl Kind {
    const ALL: [(Self, &'static str); 15] = [
        (Self::Index, "index"),
        (Self::Series, "series"),
        (Self::Log, "log"),
        (Self::Wide, "wide"),
        (Self::Large, "large"),
        (Self::Period, "period"),
        (Self::Expire, "expire"),
        (Self::Feed, "feed"),
        (Self::Source, "source"),
        (Self::Holder, "holder"),
        (Self::Viewed, "viewed"),
        (Self::Listed, "listed"),
        (Self::Agent, "agent"),
        (Self::Ticket, "ticket"),
        (Self::Entry, "entry"),
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(kind, _)| kind == self).map_or("", |(_, name)| name))
    }
}

/// A change that a thread is about to make. It sets or removes the value of a key. Neither keys nor values contain spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The pattern of the change.
    pub kind: Kind,
    /// The key, which is unique within the pattern.
    pub key: String,
    /// The new value, or `None` if the key is removed.
    pub value: Option<String>,
}

/// A line sent from the child process to its parent. Each thread makes at most one change at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A thread has started a change.
    Begin(usize, Change),
    /// The change of this thread was acknowledged.
    Done(usize),
    /// The change of this thread was rejected and had no effect.
    Refused(usize),
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(hand, Change { kind, key, value }) => {
                write!(f, "begin {hand} {kind} {key} {} .", value.as_deref().unwrap_or("-"))
            }
            Self::Done(hand) => write!(f, "done {hand} ."),
            Self::Refused(hand) => write!(f, "refused {hand} ."),
        }
    }
}

impl FromStr for Line {
    type Err = ();

    /// Parses a line. If the kill has truncated the line, the full stop is missing, which is an error.
    fn from_str(line: &str) -> Result<Self, ()> {
        let words: Vec<&str> = line.split(' ').collect();
        let hand = |hand: &str| hand.parse().map_err(drop);
        match words.as_slice() {
            ["begin", number, kind, key, value, "."] => {
                let (kind, _) = Kind::ALL.into_iter().find(|(_, name)| name == kind).ok_or(())?;
                let value = (*value != "-").then(|| (*value).to_owned());
                Ok(Self::Begin(hand(number)?, Change { kind, key: (*key).to_owned(), value }))
            }
            ["done", number, "."] => Ok(Self::Done(hand(number)?)),
            ["refused", number, "."] => Ok(Self::Refused(hand(number)?)),
            _ => Err(()),
        }
    }
}

/// The stored data of one pattern: the value of each key.
pub(super) type Values = BTreeMap<String, String>;

/// The acknowledged changes, and the changes in progress.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    acknowledged: BTreeMap<Kind, Values>,
    under_way: BTreeMap<usize, Change>,
}

impl Ledger {
    /// Records a line that a thread has reported. Returns `true` if the line acknowledges a change.
    pub fn record(&mut self, line: Line) -> bool {
        match line {
            Line::Begin(hand, change) => {
                self.under_way.insert(hand, change);
                false
            }
            Line::Done(hand) => {
                if let Some(change) = self.under_way.remove(&hand) {
                    self.apply(change);
                }
                true
            }
            Line::Refused(hand) => {
                self.under_way.remove(&hand);
                false
            }
        }
    }

    fn apply(&mut self, Change { kind, key, value }: Change) {
        if let (Kind::Expire, Some(first)) = (kind, &value) {
            self.acknowledged
                .entry(Kind::Period)
                .or_default()
                .retain(|row, _| hour_of(row) >= first.as_str());
        }
        let values = self.acknowledged.entry(kind).or_default();
        match value {
            None => {
                values.remove(&key);
            }
            Some(more) if kind == Kind::Series => {
                let sum = number(values.get(&key)) + number(Some(&more));
                values.insert(key, sum.to_string());
            }
            Some(value) => {
                values.insert(key, value);
            }
        }
    }

    /// Returns the acknowledged value of a key.
    #[must_use]
    pub fn acknowledged(&self, kind: Kind, key: &str) -> Option<&str> {
        self.acknowledged.get(&kind)?.get(key).map(String::as_str)
    }

    /// Returns the hour of an interrupted drop, if any. Tables for earlier hours may no longer exist.
    pub(super) fn dropping_before(&self) -> Option<&str> {
        let drop = self.under_way.values().find(|change| change.kind == Kind::Expire)?;
        drop.value.as_deref()
    }

    /// Records that an interrupted drop deleted the table of an hour and all of its rows.
    pub(super) fn dropped(&mut self, hour: &str) {
        self.acknowledged.entry(Kind::Period).or_default().retain(|row, _| hour_of(row) != hour);
    }

    /// Returns each hour whose table contains acknowledged rows.
    pub(super) fn hours(&self) -> BTreeSet<String> {
        let rows = self.acknowledged.get(&Kind::Period).into_iter().flatten();
        rows.map(|(row, _)| hour_of(row).to_owned()).collect()
    }

    /// Compares the stored data of one pattern with the acknowledged changes and the changes in progress. Appends a description of each defect to `wrong`.
    pub(super) fn compare(&self, kind: Kind, stored: &Values, wrong: &mut Vec<String>) {
        let nothing = Values::new();
        let acknowledged = self.acknowledged.get(&kind).unwrap_or(&nothing);
        let under_way: Vec<&Change> = self.under_way.values().filter(|change| change.kind == kind).collect();
        let keys: BTreeSet<&String> = (acknowledged.keys().chain(stored.keys()))
            .chain(under_way.iter().map(|change| &change.key))
            .collect();
        for key in keys {
            let (first, found) = (acknowledged.get(key), stored.get(key));
            let of_key = under_way.iter().filter(|change| change.key == *key);
            let is_right = if kind == Kind::Series {
                let more: i64 = of_key.map(|change| number(change.value.as_ref())).sum();
                (number(first)..=number(first) + more).contains(&number(found))
            } else {
                first == found || of_key.into_iter().any(|change| change.value.as_ref() == found)
            };
            if !is_right {
                let changes: Vec<_> = under_way.iter().filter(|change| change.key == *key).collect();
                wrong.push(format!(
                    "{kind} {key}: {found:?} is stored, {first:?} was acknowledged, in flight: {changes:?}"
                ));
            }
        }
    }

    /// Replaces the expected values with stored data that has passed a check. This decides the outcomes of the changes that were in progress.
    pub(super) fn adopt(&mut self, kind: Kind, stored: Values) {
        self.under_way.retain(|_, change| change.kind != kind);
        self.acknowledged.insert(kind, stored);
    }
}

/// Returns the hour in the key of a [`Kind::Period`] row.
fn hour_of(row: &str) -> &str {
    row.split_once('_').map_or(row, |(hour, _)| hour)
}

fn number(text: Option<&String>) -> i64 {
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_back_and_truncated_ones_are_refused() {
        let change = Change { kind: Kind::Wide, key: "12".to_owned(), value: Some("1,2".to_owned()) };
        let gone = Change { value: None, ..change.clone() };
        for line in [Line::Begin(3, change), Line::Begin(3, gone), Line::Done(14), Line::Refused(0)] {
            let text = line.to_string();
            assert_eq!(text.parse(), Ok(line));
            for cut in 0..text.len() {
                assert_eq!(text.get(..cut).and_then(|text| text.parse::<Line>().ok()), None);
            }
        }
    }

    #[test]
    fn stored_values_are_acknowledged_or_in_progress() {
        let mut ledger = Ledger::default();
        let change = |kind, value: &str| Change { kind, key: "k".to_owned(), value: Some(value.to_owned()) };
        let wrong = |ledger: &Ledger, kind, value: Option<&str>| {
            let stored = value.map(|value| ("k".to_owned(), value.to_owned())).into_iter().collect();
            let mut wrong = Vec::new();
            ledger.compare(kind, &stored, &mut wrong);
            wrong.len()
        };
        for (hand, kind) in [(0, Kind::Wide), (1, Kind::Series)] {
            ledger.record(Line::Begin(hand, change(kind, "5")));
            assert_eq!((wrong(&ledger, kind, None), wrong(&ledger, kind, Some("5"))), (0, 0));
            assert!(ledger.record(Line::Done(hand)));
            assert_eq!((wrong(&ledger, kind, None), wrong(&ledger, kind, Some("5"))), (1, 0));
            ledger.record(Line::Begin(hand, change(kind, "2")));
            assert_eq!((wrong(&ledger, kind, Some("4")), wrong(&ledger, kind, Some("5"))), (1, 0));
        }
        assert_eq!((wrong(&ledger, Kind::Wide, Some("2")), wrong(&ledger, Kind::Wide, Some("7"))), (0, 1));
        assert_eq!(
            (wrong(&ledger, Kind::Series, Some("2")), wrong(&ledger, Kind::Series, Some("7"))),
            (1, 0)
        );
        assert_eq!(wrong(&ledger, Kind::Series, Some("8")), 1);
    }
}
