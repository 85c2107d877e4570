//! The number of messages sent by each employee per hour (PAT-SER).

use chrono::NaiveDate;
use table_core::Entity;
use table_patterns::series::{self, Series};

/// The hourly message counts of an employee for one day, in the properties `Hour00` to `Hour23`. Example key: (`000123`, `20140423`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(date)]
pub struct MessageDay {
    /// The employee number of the sender.
    #[digits(6)]
    pub employee: u32,
    /// The day the messages were sent.
    pub date: NaiveDate,
}

impl Series for MessageDay {
    type Value = i32;
    const SLOTS: &'static [&'static str] = series::HOURS;
}
