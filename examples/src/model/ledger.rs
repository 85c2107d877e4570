//! The entities of the ledger: tenants with accounts, journal entries and balances. Each tenant has one partition.
//!
//! One row contains the balances of 200 accounts, with one slot for each account. An entry with 50 postings therefore fits into one transaction.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use table_core::{Entity, EntitySet, KeyPart, Projection, Result, TableEntity};
use table_patterns::blob::BlobRef;
use table_patterns::large::Large;
use table_patterns::participant::{Changes, Participant};
use table_patterns::series::Series;
use table_patterns::slot_names;
use table_patterns::unit::UnitShare;

/// The number of accounts whose balances are stored in one row.
pub const SLOTS: u32 = 200;

/// The state of the books of a tenant. Every post reads it. Example key: (`contoso`, `books`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("books")]
pub struct Books {
    /// The name of the tenant.
    pub tenant: String,
    /// The last closed day. New entries must have a later effective day.
    pub closed_until: NaiveDate,
}

/// The kind of an account.
#[derive(KeyPart, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Assets.
    Asset,
    /// Liabilities and equity.
    Liability,
    /// Income.
    Income,
    /// Expenses.
    Expense,
}

/// An account. `parent` arranges the accounts in a tree. Example key: (`contoso`, `account_000017`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("account_", number)]
#[index(ByCode, unique, row_key("code_", escaped(code)))]
pub struct Account {
    /// The name of the tenant.
    pub tenant: String,
    /// The account number. A tenant's accounts are numbered consecutively. The number determines the row and the slot of the balance.
    #[digits(6)]
    pub number: u32,
    /// The code of the account, which is unique within the tenant.
    pub code: String,
    /// The name of the account.
    pub name: String,
    /// The currency. All accounts in an entry must have the same currency.
    pub currency: String,
    /// The kind of the account.
    pub kind: Kind,
    /// The number of the parent account, if any.
    pub parent: Option<u32>,
}

/// A posting, as stored in its entry.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The account number.
    pub account: u32,
    /// The amount in cents. Debits are positive, and credits are negative.
    pub cents: i64,
}

/// A journal entry. It never changes, except that its reversal adds a reference to the reversal. Example key: (`contoso`, `entry_00000042`).
#[allow(clippy::duplicated_attributes, reason = "its indexes share attributes")]
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", feed, set = Ledger)]
#[partition_key(tenant)]
#[row_key("entry_", number)]
#[index(ByDate, row_key("date_", effective, "_", number), include(reference, volume))]
#[index(ByReference, row_key("reference_", escaped(reference), "!", number), include(effective, volume))]
pub struct Entry {
    /// The name of the tenant.
    pub tenant: String,
    /// The entry number. A tenant's entries are numbered consecutively, without gaps.
    #[digits(8)]
    pub number: u32,
    /// The day the entry takes effect.
    pub effective: NaiveDate,
    /// The time the entry was posted.
    pub posted: DateTime<Utc>,
    /// A reference to the document recorded by the entry.
    pub reference: String,
    /// A note about the entry.
    pub memo: String,
    /// The sum of the entry's debits, in cents.
    pub volume: i64,
    /// The number of the entry reversed by this entry, if any.
    pub reverses: Option<u32>,
    /// The number of the entry that reverses this entry, if any.
    pub reversed_by: Option<u32>,
    /// The entry's 2 to 50 postings, which sum to zero.
    #[property(json)]
    pub lines: Vec<Line>,
    /// The address of an attached document of at most 10 MB.
    #[blob]
    pub attachment: Option<BlobRef>,
}

/// A line in a list of entries. Index rows contain the properties of this line.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Entry)]
pub struct EntryLine {
    /// The entry number.
    pub number: u32,
    /// The sum of the entry's debits, in cents.
    pub volume: i64,
}

/// A line in an account statement. The newest line sorts first. Example key: (`contoso`, `posting_000017_…`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("posting_", account, "_", desc(effective), "_", desc(entry), "_", line)]
pub struct Posting {
    /// The name of the tenant.
    pub tenant: String,
    /// The account number.
    #[digits(6)]
    pub account: u32,
    /// The day the entry takes effect.
    pub effective: NaiveDate,
    /// The entry number.
    #[digits(8)]
    pub entry: u32,
    /// The position of the posting within the entry.
    #[digits(2)]
    pub line: u32,
    /// The amount in cents.
    pub cents: i64,
    /// A reference to the document recorded by the entry.
    pub reference: String,
}

/// The current balances of 200 accounts of a tenant. Example key: (`contoso`, `balances_0000`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("balances_", page)]
pub struct Balances {
    /// The name of the tenant.
    pub tenant: String,
    /// The number of the row: the number of its first account divided by 200.
    #[digits(4)]
    pub page: u32,
    /// The closed accounts among the 200 accounts of the row.
    #[property(json)]
    pub closed: BTreeSet<u32>,
}

impl Series for Balances {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("A", 0, 200);
}

/// The totals of one month for 200 accounts of a tenant. Example key: (`contoso`, `month_0000_024314`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("month_", page, "_", month)]
pub struct MonthSums {
    /// The name of the tenant.
    pub tenant: String,
    /// The number of the row: the number of its first account divided by 200.
    #[digits(4)]
    pub page: u32,
    /// The number of whole months since year 0.
    #[digits(6)]
    pub month: u32,
}

impl Series for MonthSums {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("A", 0, 200);
}

/// A completed request of a client. It is stored so a repeated request gets the same response. Example key: (`contoso`, `request_…`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("request_", escaped(id))]
pub struct Request {
    /// The name of the tenant.
    pub tenant: String,
    /// The request id, chosen by the client.
    pub id: String,
    /// The number of the posted entry.
    pub entry: u32,
}

/// A line in the audit log. Lines are deleted after ten years. Example key: (`contoso`, `audit_2026_…`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger", set = Ledger)]
#[partition_key(tenant)]
#[row_key("audit_", year, "_", id)]
pub struct Audit {
    /// The name of the tenant.
    pub tenant: String,
    /// The year of the change.
    #[digits(4)]
    pub year: u32,
    /// A random id.
    #[without('_')]
    pub id: String,
    /// The person or program that made the change.
    pub actor: String,
    /// A description of the change.
    pub change: String,
}

/// All entity types in the partition of a tenant.
#[derive(EntitySet, Clone, Debug, PartialEq)]
pub enum Ledger {
    /// The state of the books.
    Books(Books),
    /// An account.
    Account(Account),
    /// An entry.
    Entry(Entry),
    /// A line in an account statement.
    Posting(Posting),
    /// The balances of 200 accounts.
    Balances(Balances),
    /// The totals of one month for 200 accounts.
    MonthSums(MonthSums),
    /// A completed request.
    Request(Request),
    /// A line in the audit log.
    Audit(Audit),
    /// An index row, or a row of an unknown type.
    #[other]
    Other(TableEntity),
}

/// The number of operations for an entry with 50 postings whose accounts are in five rows.
///
/// They write the entry and its request, a line in the audit log, the postings, the books, the sequence, the feed, the balances and the monthly sums. If the
/// number exceeds the limit of a transaction, the program does not compile.
pub const LARGEST: usize =
    Entry::INSERT + Request::INSERT + Audit::INSERT + 50 * Posting::INSERT + 2 + 2 + 2 * 5;
const _: () = assert!(LARGEST <= 100);

/// A participant that adds a line to the audit log for each change to an entity.
#[derive(Clone, Copy, Debug)]
pub struct AuditTrail;

impl AuditTrail {
    fn add(tenant: &str, change: &str, out: &mut Changes) -> Result<()> {
        let (id, actor) = (out.id(), out.actor().unwrap_or("unknown").to_owned());
        let now = table_core::ticks::to_datetime(out.ticks()).unwrap_or_default();
        let year = u32::try_from(now.year()).unwrap_or_default();
        out.insert(&Audit { tenant: tenant.to_owned(), year, id, actor, change: change.to_owned() })
    }
}

macro_rules! audited {
    ($($entity:ident)*) => {$(
        impl Participant<$entity> for AuditTrail {
            fn name(&self) -> &'static str {
                "audit trail"
            }

            fn changes(&self, old: Option<&$entity>, new: Option<&$entity>, out: &mut Changes) -> Result<()> {
                let verb = match (old, new) {
                    (None, _) => "created",
                    (_, None) => "deleted",
                    _ => "changed",
                };
                let Some(entity) = new.or(old) else { return Ok(()) };
                let change = format!("{verb} {}", out.source().row_key);
                Self::add(&entity.tenant, &change, out)
            }
        }
    )*};
}
audited! { Books Account Entry }

/// The next version of the ledger, in which entries have a cost center and an index by cost center.
pub mod next {
    use super::{
        Account, Audit, Balances, BlobRef, Books, DateTime, Entity, EntitySet, Line, MonthSums, NaiveDate,
        Posting, Projection, Request, TableEntity, Utc,
    };

    /// A journal entry with a cost center.
    #[allow(clippy::duplicated_attributes, reason = "its indexes share attributes")]
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Ledger", feed, set = Ledger)]
    #[partition_key(tenant)]
    #[row_key("entry_", number)]
    #[index(ByDate, row_key("date_", effective, "_", number), include(reference, volume))]
    #[index(ByReference, row_key("reference_", escaped(reference), "!", number), include(effective, volume))]
    #[index(ByCostCenter, row_key("center_", cost_center, "_", number), include(volume))]
    pub struct Entry {
        /// The name of the tenant.
        pub tenant: String,
        /// The entry number. A tenant's entries are numbered consecutively, without gaps.
        #[digits(8)]
        pub number: u32,
        /// The day the entry takes effect.
        pub effective: NaiveDate,
        /// The time the entry was posted.
        pub posted: DateTime<Utc>,
        /// A reference to the document recorded by the entry.
        pub reference: String,
        /// A note about the entry.
        pub memo: String,
        /// The sum of the entry's debits, in cents.
        pub volume: i64,
        /// The number of the entry reversed by this entry, if any.
        pub reverses: Option<u32>,
        /// The number of the entry that reverses this entry, if any.
        pub reversed_by: Option<u32>,
        /// The entry's 2 to 50 postings, which sum to zero.
        #[property(json)]
        pub lines: Vec<Line>,
        /// The address of an attached document of at most 10 MB.
        pub attachment: Option<BlobRef>,
        /// The cost center. Entries written by the first version have none.
        #[without('_')]
        pub cost_center: Option<String>,
    }

    /// A line in a cost center's list of entries.
    #[derive(Projection, Clone, Debug, PartialEq)]
    #[projection(of = Entry)]
    pub struct CenterLine {
        /// The entry number.
        pub number: u32,
        /// The sum of the entry's debits, in cents.
        pub volume: i64,
    }

    /// All entity types in the partition of a tenant.
    #[derive(EntitySet, Clone, Debug, PartialEq)]
    pub enum Ledger {
        /// The state of the books.
        Books(Books),
        /// An account.
        Account(Account),
        /// An entry.
        Entry(Entry),
        /// A line in an account statement.
        Posting(Posting),
        /// The balances of 200 accounts.
        Balances(Balances),
        /// The totals of one month for 200 accounts.
        MonthSums(MonthSums),
        /// A completed request.
        Request(Request),
        /// A line in the audit log.
        Audit(Audit),
        /// An index row, or a row of an unknown type.
        #[other]
        Other(TableEntity),
    }
}
