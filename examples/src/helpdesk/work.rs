//! What workers do after a change: notify, log, and show a new name.

use table_core::error::{Error, ErrorCode, Result};
use table_core::{TableStoreExt, ticks};
use table_patterns::periods::PeriodTables;
use table_patterns::work::{Call, Handler};

use crate::helpdesk::{Agents, Tickets};
use crate::model::helpdesk::{
    Agent, AuditEntry, Closed, DeskQuestions, Mail, Renamed, Status, Ticket, TicketLine,
};
use crate::store::Store;

/// What the handlers need.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) store: Store,
    pub(super) tickets: Tickets,
    pub(super) agents: Agents,
    pub(super) audit: PeriodTables<AuditEntry, Store>,
}

/// What is there already was done by an earlier attempt.
fn once<T>(outcome: Result<T>) -> Result<()> {
    match outcome {
        Err(error) if error.is_already_exists() => Ok(()),
        outcome => outcome.map(drop),
    }
}

impl Handler<Closed> for Desk {
    async fn handle(&self, closed: &Closed, _: Call<'_>) -> Result<()> {
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

impl Handler<Renamed> for Desk {
    async fn handle(&self, renamed: &Renamed, call: Call<'_>) -> Result<()> {
        let Renamed { tenant, agent } = renamed;
        for status in [Status::Open, Status::Closed] {
            let theirs =
                self.tickets.query(DeskQuestions::of_agent(tenant, *agent, status)).project::<TicketLine>();
            for line in theirs.collect().await? {
                call.keep().await?;
                // The name as it is now: a later change is not undone by an earlier one.
                let Some(now) = self.agents.get(Agent::key(tenant, *agent)).await? else { return Ok(()) };
                let shown = |ticket: &mut Ticket| ticket.agent_name = Some(now.name.clone());
                self.tickets.update(Ticket::key(tenant, line.number), shown).await?;
            }
        }
        Ok(())
    }
}
