//! Loads agents, and tickets with comments. A unit of work is a transaction over several entities. It writes tickets and allocates their numbers.

use std::time::Instant;

use chrono::{DateTime, Duration, Utc};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use table_core::Result;
use table_patterns::participant::WithParticipants;
use table_patterns::sequence::GaplessSequence;

use crate::helpdesk::{AGENTS, Agents, Desk, Failed, TENANTS, Tickets, rate};
use crate::model::helpdesk::{Agent, Comment, Status, Ticket};
use crate::store::Store;

/// The number of tickets in each unit of work.
///
/// Each ticket takes six operations: the ticket, three index rows, a feed entry and a reference to its agent. A unit of work also contains a condition on each
/// agent, and some comments.
const UNIT: u32 = 13;

/// Returns the sequence that allocates ticket numbers.
pub(super) fn numbers(tickets: &Tickets) -> Result<GaplessSequence<Ticket, WithParticipants<Store>, Desk>> {
    GaplessSequence::new(tickets, "ticket")
}

/// Returns the opening time of the ticket with the given number.
pub(super) fn created(from: DateTime<Utc>, number: u32) -> DateTime<Utc> {
    from + Duration::minutes(i64::from(number) * 7)
}

/// Creates a ticket with the given number and text.
pub(super) fn ticket(tenant: &str, number: u32, created: DateTime<Utc>, text: &str) -> Ticket {
    let agent = number % AGENTS;
    Ticket {
        tenant: tenant.to_owned(),
        number,
        status: if number.is_multiple_of(3) { Status::Open } else { Status::Closed },
        priority: i32::try_from(number % 5).unwrap_or_default() + 1,
        agent: (agent > 0).then_some(agent),
        agent_name: None,
        created,
        text: text.to_owned(),
        attachment: None,
    }
}

pub(super) async fn load(
    agents: &Agents,
    tickets: &Tickets,
    count: u32,
    from: DateTime<Utc>,
) -> Result<(), Failed> {
    for tenant in TENANTS {
        let agent = |id| {
            let email = format!("agent{id}@{tenant}.example");
            Agent { tenant: tenant.to_owned(), id, name: format!("Agent {id}"), email }
        };
        agents.bulk().insert_all((1..AGENTS).map(agent)).await.map_err(|stopped| stopped.source)?;
    }
    let began = Instant::now();
    let bar = ProgressBar::new(count.into());
    let of_each = count.div_ceil(u32::try_from(TENANTS.len())?);
    let tenants = TENANTS.into_iter().map(|tenant| of_tenant(tickets, (tenant, of_each), from, &bar));
    stream::iter(tenants).buffer_unordered(TENANTS.len()).try_collect::<()>().await?;
    bar.finish_and_clear();
    rate("tickets loaded", of_each * u32::try_from(TENANTS.len())?, began);
    Ok(())
}

async fn of_tenant(
    tickets: &Tickets,
    (tenant, count): (&str, u32),
    from: DateTime<Utc>,
    bar: &ProgressBar,
) -> Result<()> {
    let numbers = numbers(tickets)?;
    let mut left = count;
    while left > 0 {
        let some = left.min(UNIT);
        numbers
            .take(Ticket::partition(tenant), some.into(), |numbers: std::ops::Range<u32>, unit| {
                for number in numbers {
                    unit.insert(&ticket(tenant, number, created(from, number), "It beeps."))?;
                    let comments = if number.is_multiple_of(15) { 2 } else { 0 };
                    for comment in 1..=comments {
                        let text = format!("Comment {comment}");
                        unit.insert(&Comment {
                            tenant: tenant.to_owned(),
                            ticket: number,
                            number: comment,
                            text,
                        })?;
                    }
                }
                Ok(())
            })
            .await?;
        left -= some;
        bar.inc(some.into());
    }
    Ok(())
}
