//! Tests of participants in bulk writes, and in writes of entity types with copies.

use pollster::block_on;
use table_core::queue::QueueName;
use table_core::{Engine, Entity, Error, ErrorCode, Result, TableStoreExt};

use crate::EntityStore;
use crate::copies::tests::desk;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::participant::{Changes, Participant, WithParticipants};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Support")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(4)]
    number: u32,
    is_closed: bool,
}

/// A participant that refuses new tickets that are already closed.
struct OpenFirst;

impl Participant<Ticket> for OpenFirst {
    fn name(&self) -> &'static str {
        "open first"
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, _: &mut Changes) -> Result<()> {
        match new {
            Some(new) if old.is_none() && new.is_closed => {
                Err(Error::new(ErrorCode::Unsupported, "a new ticket is open"))
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn a_bulk_write_shows_participants_the_stored_entity() {
    let tickets = Engine::in_memory().with_participant::<Ticket>(OpenFirst).entities::<Ticket>();
    let ticket = |number, is_closed| Ticket { tenant: "t".into(), number, is_closed };
    block_on(async {
        let tickets = tickets.create_if_missing().await.unwrap();
        tickets.bulk().insert_all((0..3).map(|number| ticket(number, false))).await.unwrap();
        let closed = || (0..3).map(|number| ticket(number, true));
        tickets.bulk().insert_or_replace_all(closed()).await.unwrap();
        tickets.bulk().insert_or_merge_all(closed()).await.unwrap();
        let refused = tickets.bulk().insert_or_replace_all([ticket(7, true)]).await.unwrap_err();
        assert_eq!(refused.source.code(), ErrorCode::Unsupported);
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Support")]
#[partition_key(tenant)]
#[row_key("latest")]
struct Latest {
    tenant: String,
    number: i32,
}

/// A participant that records the last written ticket.
struct RecordLatest;

impl Participant<Ticket> for RecordLatest {
    fn name(&self) -> &'static str {
        "latest"
    }

    fn changes(&self, _: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(Ticket { tenant, number, .. }) = new else { return Ok(()) };
        out.insert_or_replace(&Latest { tenant: tenant.clone(), number: number.cast_signed() })
    }
}

#[test]
fn participants_of_entities_in_a_bulk_write_may_write_the_same_row() {
    let store = Engine::in_memory().with_participant::<Ticket>(RecordLatest);
    let ticket = |number| Ticket { tenant: "t".into(), number, is_closed: false };
    block_on(async {
        let tickets = store.entities::<Ticket>().create_if_missing().await.unwrap();
        for round in 0..2 {
            tickets.bulk().insert_or_replace_all((round..round + 5).map(ticket)).await.unwrap();
            let latest = store.table::<Latest>().get(Latest::key("t")).await.unwrap().unwrap();
            assert_eq!(latest.number.cast_unsigned(), round + 4);
        }
        tickets.bulk().insert_all((7..9).map(ticket)).await.unwrap();
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("claim_", id)]
struct Claim {
    tenant: String,
    #[digits(1)]
    id: u32,
}

/// A participant that inserts a row for each new ticket.
struct Claims;

impl Participant<desk::Ticket> for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn changes(
        &self,
        old: Option<&desk::Ticket>,
        new: Option<&desk::Ticket>,
        out: &mut Changes,
    ) -> Result<()> {
        match (old, new) {
            (None, Some(desk::Ticket { tenant, id, .. })) => {
                out.insert(&Claim { tenant: tenant.clone(), id: *id })
            }
            _ => Ok(()),
        }
    }
}

type Store = WithParticipants<Engine>;
type Tickets = Entities<desk::Ticket, Store, Outbox<Store, Engine>>;

/// Creates a store with the `Claims` participant and one agent, whose name is copied into the agent's tickets.
async fn with_claims() -> Result<(Store, Tickets)> {
    let store = Engine::in_memory().with_participant::<desk::Ticket>(Claims);
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work")?);
    outbox.create_queues().await?;
    let agents = store.entities_with_outbox::<desk::Agent, _>(outbox.clone()).create_if_missing().await?;
    agents.insert(&desk::agent(1, "Ada")).await?;
    let tickets = store.entities_with_outbox(outbox).create_if_missing().await?;
    Ok((store, tickets))
}

#[test]
fn the_error_of_a_bulk_write_names_the_entity_with_copies_that_is_refused() {
    block_on(async {
        for (refused, verb) in
            [0, 2, 5].into_iter().flat_map(|refused| (0..3).map(move |verb| (refused, verb)))
        {
            let (_, tickets) = with_claims().await.unwrap();
            // The refused ticket refers to agent 9, who does not exist. Some of the other tickets do not refer to any agent.
            let agent = |id| if id == refused { Some(9) } else { (id % 3 > 0).then_some(1) };
            let all = (0..6).map(|id| desk::ticket(id, agent(id)));
            let written = match verb {
                0 => tickets.bulk().insert_all(all).await,
                1 => tickets.bulk().insert_or_replace_all(all).await,
                _ => tickets.bulk().insert_or_merge_all(all).await,
            };
            let error = written.unwrap_err();
            let at = usize::try_from(refused).unwrap();
            assert_eq!(
                (error.source.code(), error.at),
                (ErrorCode::ResourceNotFound, Some(at)),
                "verb {verb}"
            );
        }
    });
}

#[test]
fn a_refused_row_of_a_participant_is_reported_with_its_name_for_a_type_with_copies() {
    block_on(async {
        let (store, tickets) = with_claims().await.unwrap();
        store.table::<Claim>().insert(&Claim { tenant: "t".into(), id: 7 }).await.unwrap();
        tickets.insert(&desk::ticket(6, Some(1))).await.unwrap();
        let refused = tickets.insert(&desk::ticket(7, Some(1))).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::EntityAlreadyExists, "{refused}");
        assert!(refused.to_string().contains("claims"), "{refused}");
        let refused = tickets.bulk().insert_all([desk::ticket(7, Some(1))]).await.unwrap_err().source;
        assert_eq!(refused.code(), ErrorCode::EntityAlreadyExists, "{refused}");
    });
}
