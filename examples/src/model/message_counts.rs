//! The number of messages sent per hour (PAT-SER).

use chrono::NaiveDate;
use table_core::Entity;
use table_patterns::series::{self, Series};

/// One day of an employee: `000123` / `20140423`, with `Hour00` to `Hour23`.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(date)]
pub struct MessageDay {
    /// The sender of the messages.
    #[digits(6)]
    pub employee: u32,
    /// The day.
    pub date: NaiveDate,
}

impl Series for MessageDay {
    type Value = i32;
    const SLOTS: &'static [&'static str] = series::HOURS;
}
