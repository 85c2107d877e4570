//! The entity types of the ledger. All of their rows are in the tenant's partition.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use table_core::{Entity, Result, ticks};
use table_patterns::participant::{Changes, Participant};
use table_patterns::series::Series;
use table_patterns::slot_names;

use crate::books::TENANT;

/// The number of accounts whose balances are stored in one row.
pub(super) const SLOTS: u32 = 200;

/// The state of the tenant's books, checked by each post.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("books")]
pub(super) struct Opened {
    pub(super) tenant: String,
    pub(super) closed_until: NaiveDate,
}

/// A posting, as stored in its journal entry.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posted {
    pub(super) account: u32,
    pub(super) cents: i64,
}

/// A journal entry.
#[allow(clippy::duplicated_attributes, reason = "words that its indexes have in common")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", feed)]
#[partition_key(tenant)]
#[row_key("entry_", number)]
#[index(ByDate, row_key("date_", effective, "_", number), include(reference, volume))]
#[index(ByReference, row_key("reference_", escaped(reference), "!", number), include(effective, volume))]
pub(super) struct Entry {
    pub(super) tenant: String,
    #[digits(8)]
    pub(super) number: u32,
    pub(super) effective: NaiveDate,
    pub(super) posted: DateTime<Utc>,
    pub(super) reference: String,
    pub(super) memo: String,
    pub(super) volume: i64,
    pub(super) reversed_by: Option<u32>,
    #[property(json)]
    pub(super) lines: Vec<Posted>,
}

/// A line of an account statement. The newest line sorts first.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("posting_", account, "_", desc(effective), "_", desc(entry), "_", line)]
pub(super) struct Posting {
    pub(super) tenant: String,
    #[digits(6)]
    pub(super) account: u32,
    pub(super) effective: NaiveDate,
    #[digits(8)]
    pub(super) entry: u32,
    #[digits(2)]
    pub(super) line: u32,
    pub(super) cents: i64,
    pub(super) reference: String,
}

/// The current balances of 200 accounts.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("balances_", page)]
pub(super) struct Balances {
    pub(super) tenant: String,
    #[digits(4)]
    pub(super) page: u32,
    /// The closed accounts in this row.
    #[property(json)]
    pub(super) closed: BTreeSet<u32>,
}

impl Balances {
    pub(super) fn empty(page: u32) -> Self {
        Self { tenant: TENANT.to_owned(), page, closed: BTreeSet::new() }
    }
}

impl Series for Balances {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("A", 0, 200);
}

/// The monthly sums of 200 accounts.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("month_", month, "_", page)]
pub(super) struct MonthSums {
    pub(super) tenant: String,
    #[digits(6)]
    pub(super) month: u32,
    #[digits(4)]
    pub(super) page: u32,
}

impl Series for MonthSums {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("A", 0, 200);
}

/// A request whose entry has already been posted.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("request_", escaped(id))]
pub(super) struct Request {
    pub(super) tenant: String,
    pub(super) id: String,
    pub(super) entry: u32,
}

/// A line in the audit log.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("audit_", year, "_", id)]
pub(super) struct Audit {
    pub(super) tenant: String,
    #[digits(4)]
    pub(super) year: u32,
    #[without('_')]
    pub(super) id: String,
    pub(super) actor: String,
    pub(super) change: String,
}

/// A participant, which runs with each write. It adds a line to the audit log for each change to an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct AuditTrail;

impl Participant<Entry> for AuditTrail {
    fn name(&self) -> &'static str {
        "audit trail"
    }

    fn changes(&self, old: Option<&Entry>, new: Option<&Entry>, out: &mut Changes) -> Result<()> {
        let Some(entry) = new.or(old) else { return Ok(()) };
        let verb = if old.is_none() { "created" } else { "changed" };
        let change = format!("{verb} {}", out.source().row_key);
        let (id, actor) = (out.id(), out.actor().unwrap_or("unknown").to_owned());
        let year = ticks::to_datetime(out.ticks()).map_or(0, |now| now.year());
        let year = u32::try_from(year).unwrap_or_default();
        out.insert(&Audit { tenant: entry.tenant.clone(), year, id, actor, change })
    }
}
