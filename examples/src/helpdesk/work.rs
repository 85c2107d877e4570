//! The work after a ticket has been closed. It notifies the customer, and writes an entry to the audit log.

use table_core::{Error, ErrorCode, Result, TableStore, TableStoreExt, ticks};
use table_patterns::periods::PeriodTables;
use table_patterns::work::{Delivery, Handler};

use crate::model::helpdesk::{AuditEntry, Closed, Mail};

/// The handler of [`Closed`] messages. It writes an audit log entry and a notification.
///
/// Each of them is written only once, even if the message is delivered several times.
#[derive(Clone, Debug)]
pub struct Notifier<S> {
    /// The store that contains the notifications.
    pub store: S,
    /// The audit log.
    pub audit: PeriodTables<AuditEntry, S>,
}

/// Treats an already-exists error as success. Only an earlier attempt can have inserted the entity.
fn once<T>(outcome: Result<T>) -> Result<()> {
    match outcome {
        Err(error) if error.is_already_exists() => Ok(()),
        outcome => outcome.map(drop),
    }
}

impl<S: TableStore + Clone + 'static> Handler<Closed> for Notifier<S> {
    async fn handle(&self, closed: &Closed, _: Delivery<'_>) -> Result<()> {
        let (tenant, ticket) = (closed.tenant.clone(), closed.ticket);
        let strange = || Error::new(ErrorCode::Corrupted, "the instant is none of the calendar");
        let at = ticks::to_datetime(closed.at).ok_or_else(strange)?;
        once(
            self.audit
                .insert(&AuditEntry { tenant: tenant.clone(), at, ticket, change: "closed".into() })
                .await,
        )?;
        once(self.store.table::<Mail>().insert(&Mail { tenant, ticket }).await)
    }
}
