//! Tests that every kind of handle maintains an entity's declared copies.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::{Entity, ErrorCode};

use crate::EntityStore;
use crate::copies::CopyRelation;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, Fault, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(Assignee))]
#[partition_key(tenant)]
#[row_key("agent_", id)]
struct Agent {
    tenant: String,
    #[digits(3)]
    id: u32,
    name: String,
    shifts: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copies_from(Assignee))]
#[partition_key(tenant)]
#[row_key("ticket_", id)]
#[index(ByName, row_key("name_", agent_name, "_", id))]
struct Ticket {
    tenant: String,
    #[digits(3)]
    id: u32,
    agent: Option<i32>,
    #[without('_')]
    agent_name: Option<String>,
    amount: i32,
}

struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "assignee";

    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        Some(Agent::key(&ticket.tenant, u32::try_from(ticket.agent?).ok()?))
    }

    fn copied(agent: &Agent) -> String {
        agent.name.clone()
    }

    fn set(ticket: &mut Ticket, name: String) {
        ticket.agent_name = Some(name);
    }

    fn clear(ticket: &mut Ticket) {
        (ticket.agent, ticket.agent_name) = (None, None);
    }
}

fn agent(name: &str) -> Agent {
    Agent { tenant: "t".into(), id: 1, name: name.into(), shifts: 0 }
}

fn ticket() -> Ticket {
    Ticket { tenant: "t".into(), id: 7, agent: Some(1), agent_name: None, amount: 5 }
}

#[test]
fn pat_den_2_every_handle_maintains_the_declared_copies() {
    let engine = Engine::in_memory();
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("copies").unwrap());
    block_on(async {
        outbox.create_queues().await.unwrap();
        let agents = Entities::<Agent, _, _>::from(outbox.clone());
        let tickets =
            engine.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await.unwrap();
        agents.insert(&agent("Ada")).await.unwrap();
        tickets.insert(&ticket()).await.unwrap();
        let found = tickets.get(Ticket::key("t", 7)).await.unwrap().unwrap();
        assert_eq!(found.agent_name.as_deref(), Some("Ada"));
        let other = Ticket { id: 8, ..ticket() };

        // A change to the source updates the copy and the index.
        agents.update(Agent::key("t", 1), |agent| agent.name = "Eve".into()).await.unwrap();
        let found = tickets.query(Ticket::by_name("t", "Eve")).collect().await.unwrap();
        assert_eq!(found.len(), 1);
        // Two holders of one source in the same transaction share one condition on the source.
        let mut unit = tickets.unit(Ticket::partition("t")).unwrap();
        unit.insert(&other).unwrap().insert(&Ticket { id: 9, ..ticket() }).unwrap();
        unit.commit().await.unwrap();
        assert_eq!(tickets.query(Ticket::by_name("t", "Eve")).collect().await.unwrap().len(), 3);
        // This unit of work was created for another entity type, and has no handle for the holders.
        let mut unit = agents.unit(Agent::partition("t")).unwrap();
        unit.insert(&Ticket { id: 12, ..ticket() }).unwrap();
        unit.commit().await.unwrap();
        assert_eq!(tickets.query(Ticket::by_name("t", "Eve")).collect().await.unwrap().len(), 4);
        // The condition on the source may be added before or after the holder.
        for (id, first) in [(10, true), (11, false)] {
            let mut unit = tickets.unit(Ticket::partition("t")).unwrap();
            if first {
                unit.require(Agent::key("t", 1)).unwrap();
            }
            unit.insert(&Ticket { id, ..ticket() }).unwrap();
            if !first {
                unit.require(Agent::key("t", 1)).unwrap();
            }
            assert_eq!(unit.commit().await.unwrap().len(), 1);
        }
        // Repairing the indexes changes no entity, because their entries are already correct.
        assert!(tickets.check().repair().run().await.unwrap().is_clean());
    });
}

/// Tests a transaction that writes two holders of one source. If the source changes after it was read for the first holder, it is reread for both holders.
#[test]
fn con_3_a_source_that_changes_within_a_transaction_is_read_again() {
    for bulk in [false, true] {
        let engine = Engine::in_memory();
        let store = FaultyStore::new(engine.clone());
        let outbox = Outbox::new(store.clone(), engine.clone(), QueueName::new("copies").unwrap());
        let agents = |store| Outbox::new(store, engine.clone(), QueueName::new("copies").unwrap());
        let agents = Entities::<Agent, _, _>::from(agents(engine.clone()));
        let tickets = Entities::<Ticket, _, _>::from(outbox);
        block_on(async {
            let agents = agents.create_if_missing().await.unwrap();
            let tickets = tickets.create_if_missing().await.unwrap();
            agents.insert(&agent("Ada")).await.unwrap();
            let (mut gets, rival) = (0, agents.clone());
            store.script(move |call, _| {
                gets += usize::from(call == Call::Get);
                let (is_second, rival) = (call == Call::Get && gets == 2, rival.clone());
                let rename = move || {
                    let rename = |agent: &mut Agent| agent.name = "Eve".into();
                    block_on(rival.update(Agent::key("t", 1), rename)).unwrap();
                };
                if is_second { Fault::Meanwhile(Box::new(rename)) } else { Fault::None }
            });
            let both = [ticket(), Ticket { id: 8, ..ticket() }];
            if bulk {
                tickets.bulk().insert_all(&both).await.unwrap();
            } else {
                let mut unit = tickets.unit(Ticket::partition("t")).unwrap();
                unit.insert(&both[0]).unwrap().insert(&both[1]).unwrap();
                unit.commit().await.unwrap();
            }
            store.heal();
            let found = tickets.query(Ticket::rows("t")).collect().await.unwrap();
            let names: Vec<_> = found.iter().map(|ticket| ticket.agent_name.as_deref()).collect();
            assert_eq!(names, [Some("Eve"), Some("Eve")], "bulk: {bulk}");
        });
    }
}

/// Tests a unit of work that read a source before another writer changed it. The source never regains the required version, so no further attempt can succeed.
#[test]
fn upd_3_a_unit_that_read_an_older_source_of_its_holder_is_refused_at_once() {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let queue = QueueName::new("copies").unwrap();
    let rival = Entities::<Agent, _, _>::from(Outbox::new(engine.clone(), engine.clone(), queue.clone()));
    let tickets = Entities::<Ticket, _, _>::from(Outbox::new(store.clone(), engine.clone(), queue));
    block_on(async {
        let rival = rival.create_if_missing().await.unwrap();
        let tickets = tickets.create_if_missing().await.unwrap();
        rival.insert(&agent("Ada")).await.unwrap();
        let mut unit = tickets.unit(Ticket::partition("t")).unwrap();
        assert!(unit.get(Agent::key("t", 1)).await.unwrap().is_some());
        rival.update(Agent::key("t", 1), |agent: &mut Agent| agent.name = "Eve".into()).await.unwrap();
        unit.insert(&ticket()).unwrap();
        store.heal();
        let error = unit.commit().await.unwrap_err();
        assert_eq!(
            (error.code(), error.rule()),
            (ErrorCode::UpdateConditionNotSatisfied, Some("UPD-3")),
            "{error}"
        );
        assert_eq!(store.calls(), [Call::Get], "the source is read once, and nothing is sent");
    });
}
