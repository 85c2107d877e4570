//! Tests a holder with two relations to sources of the same type in its partition. Another writer changes a source between any two reads of the holder's write.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::Result;
use table_core::embedded::Engine;
use table_core::queue::QueueName;

use crate::copies::tests::desk::{Agent, Ticket, agent, ticket};
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, Fault, FaultyStore};

/// A way to write a ticket. Each one inserts the ticket if it does not exist.
#[derive(Clone, Copy, Debug)]
enum Verb {
    Single,
    Unit,
    Bulk,
}

/// A ticket write, and another writer's change before one of its reads.
#[derive(Clone, Debug)]
struct Write {
    verb: Verb,
    id: u32,
    /// The numbers of the assignee and the reviewer.
    agents: [Option<i32>; 2],
    /// The number of the read before which another writer renames an agent, and that agent's number.
    rival: Option<(usize, u32)>,
}

fn write() -> impl Strategy<Value = Write> {
    let verb = prop::sample::select(vec![Verb::Single, Verb::Unit, Verb::Bulk]);
    let reference = || prop::option::weighted(0.8, 1..=2_i32);
    let rival = prop::option::weighted(0.8, (1..8_usize, 1..=2_u32));
    (verb, 0..2_u32, [reference(), reference()], rival).prop_map(|(verb, id, agents, rival)| Write {
        verb,
        id,
        agents,
        rival,
    })
}

type Store = FaultyStore<Engine>;
type Tickets = Entities<Ticket, Store, Outbox<Store, Engine>>;
type Agents = Entities<Agent, Engine, Outbox<Engine, Engine>>;

async fn opened() -> Result<(Store, Tickets, Agents)> {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let queue = QueueName::new("copies")?;
    let outbox = Outbox::new(store.clone(), engine.clone(), queue.clone());
    outbox.create_queues().await?;
    let tickets = Tickets::from(outbox).create_if_missing().await?;
    let rival = Agents::from(Outbox::new(engine.clone(), engine, queue)).create_if_missing().await?;
    Ok((store, tickets, rival))
}

/// Writes the ticket `new`. A ticket with the same key may already exist.
async fn put(tickets: &Tickets, verb: Verb, new: &Ticket) -> Result<()> {
    match verb {
        Verb::Single => tickets.insert_or_replace(new).await.map(drop),
        Verb::Bulk => {
            tickets.bulk().insert_or_replace_all([new]).await.map(drop).map_err(|error| error.source)
        }
        Verb::Unit => {
            let written = tickets.transaction(Ticket::partition("t"), async |unit| {
                match unit.get(Ticket::key("t", new.id)).await? {
                    Some(old) => unit.replace(&old, new).map(drop),
                    None => unit.insert(new).map(drop),
                }
            });
            written.await.map(drop)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pat_den_2_both_relations_of_a_holder_copy_the_current_source(writes in prop::collection::vec(write(), 1..8)) {
        block_on(async {
            let (store, tickets, agents) = opened().await?;
            for id in 1..=2 {
                agents.insert(&agent(id, &format!("agent {id}"))).await?;
            }
            for (number, Write { verb, id, agents: [assignee, reviewer], rival }) in writes.into_iter().enumerate() {
                let (mut gets, writer) = (0, agents.clone());
                store.script(move |call, _| {
                    gets += usize::from(call == Call::Get);
                    let Some((_, id)) = rival.filter(|(at, _)| call == Call::Get && gets == *at) else {
                        return Fault::None;
                    };
                    let writer = writer.clone();
                    Fault::Meanwhile(Box::new(move || {
                        let rename = |agent: &mut Agent| agent.name = format!("agent {id}, write {number}");
                        block_on(writer.update(Agent::key("t", id), rename)).unwrap();
                    }))
                });
                let new = Ticket { reviewer, ..ticket(id, assignee) };
                put(&tickets, verb, &new).await?;
                store.heal();
                let known = agents.query(Agent::rows("t")).collect().await?;
                let names: BTreeMap<_, _> = known.into_iter().map(|agent| (agent.id, agent.name)).collect();
                let name = |id: Option<i32>| names.get(&u32::try_from(id?).ok()?).cloned();
                for ticket in tickets.query(Ticket::rows("t")).collect().await? {
                    assert_eq!(
                        (&ticket.agent_name, &ticket.reviewer_name),
                        (&name(ticket.agent), &name(ticket.reviewer)),
                        "{ticket:?} after write {number}"
                    );
                }
            }
            Ok::<(), table_core::Error>(())
        })
        .unwrap();
    }
}
