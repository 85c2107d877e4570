//! Tests units of work that write sources (copied entities) together with the holders of their copies. Each holder must copy the new values.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::{ErrorCode, Result};

use crate::copies::REFERENCE_PREFIX;
use crate::copies::tests::desk::{Agent, Line, Ticket, agent, line, ticket};
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::unit::UnitOfWork;
use crate::work::Worker;

type Queue = Outbox<Engine, Engine>;

struct Desk {
    engine: Engine,
    outbox: Queue,
    agents: Entities<Agent, Engine, Queue>,
    tickets: Entities<Ticket, Engine, Queue>,
    lines: Entities<Line, Engine, Queue>,
}

impl Desk {
    async fn new() -> Result<Self> {
        let engine = Engine::in_memory();
        let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("copies")?);
        outbox.create_queues().await?;
        let agents = Entities::<Agent, _, _>::from(outbox.clone());
        let tickets = Entities::<Ticket, _, _>::from(outbox.clone());
        let lines = Entities::<Line, _, _>::from(outbox.clone());
        Ok(Self {
            agents: agents.create_if_missing().await?,
            tickets: tickets.create_if_missing().await?,
            lines: lines.create_if_missing().await?,
            engine,
            outbox,
        })
    }

    fn unit(&self) -> UnitOfWork<Engine, Queue> {
        let unit = self.tickets.unit(Ticket::partition("t")).unwrap();
        unit.with(&self.agents).with(&self.lines)
    }

    async fn agent(&self, id: u32) -> Result<Option<table_core::Versioned<Agent>>> {
        self.agents.get(Agent::key("t", id)).await
    }

    async fn ticket(&self, id: u32) -> Result<Option<table_core::Versioned<Ticket>>> {
        self.tickets.get(Ticket::key("t", id)).await
    }

    /// Checks that each ticket and its index entry contain the agents' names, that each line contains its ticket's title and
    /// the agent's name, and that each source has one reference per holder.
    async fn check(&self) -> Result<()> {
        let work = Worker::new(self.outbox.clone()).with_index_handler(&self.agents);
        work.with_index_handler(&self.tickets).with_index_handler(&self.lines).run_until_idle().await?;
        let agents = self.agents.query(Agent::rows("t")).collect().await?;
        let tickets = self.tickets.query(Ticket::rows("t")).collect().await?;
        let lines = self.lines.query(Line::rows("t")).collect().await?;
        let names: BTreeMap<i32, &str> =
            agents.iter().map(|agent| (agent.id.cast_signed(), agent.name.as_str())).collect();
        let of: BTreeMap<i32, &Ticket> =
            tickets.iter().map(|ticket| (ticket.id.cast_signed(), ticket)).collect();
        for ticket in &tickets {
            let name = ticket.agent.map(|agent| names[&agent]);
            assert_eq!(ticket.agent_name.as_deref(), name, "{ticket:?}");
            let name = ticket.reviewer.map(|agent| names[&agent]);
            assert_eq!(ticket.reviewer_name.as_deref(), name, "{ticket:?}");
        }
        for line in &lines {
            let ticket = line.ticket.map(|ticket| of[&ticket]);
            assert_eq!(line.title, ticket.map(|ticket| ticket.title.clone()), "{line:?}");
            let name = ticket.and_then(|ticket| ticket.agent).map(|agent| names[&agent]);
            assert_eq!(line.agent_name.as_deref(), name, "{line:?}");
        }
        assert!(self.tickets.check().run().await?.is_clean());
        let references = Query::new(KeyRange::rows("t", TextRange::prefix(REFERENCE_PREFIX)));
        let found = self.engine.query(self.tickets.table().name()?, &references, None).await?.rows.len();
        let of_tickets = tickets.iter().flat_map(|ticket| [ticket.agent, ticket.reviewer]);
        let held = of_tickets.chain(lines.iter().map(|line| line.ticket)).flatten().count();
        assert_eq!(found, held, "a reference a holder");
        Ok(())
    }
}

#[test]
fn pat_den_2_a_source_and_its_holder_are_written_by_one_unit_in_either_order() {
    block_on(async {
        let desk = Desk::new().await?;
        let mut unit = desk.unit();
        // The line is inserted before its ticket, and the ticket before its agent.
        unit.insert(&line(1, Some(1)))?.insert(&ticket(1, Some(1)))?.insert(&agent(1, "Ada"))?;
        unit.insert(&agent(2, "Eve"))?.insert(&ticket(2, Some(2)))?;
        unit.commit().await?;
        desk.check().await?;
        let title = desk.lines.get(Line::key("t", 1)).await?.unwrap().title.clone();
        assert_eq!(title.as_deref(), Some("It beeps Some(1)"));

        // Both tickets change, and the first one is assigned to another agent.
        let (first, second) = (desk.ticket(1).await?.unwrap(), desk.ticket(2).await?.unwrap());
        let mut unit = desk.unit();
        unit.update(&first, |ticket| (ticket.agent, ticket.title) = (Some(2), "It hums".into()))?;
        unit.update(&desk.agent(2).await?.unwrap(), |agent| agent.name = "Joy".into())?;
        unit.update(&second, |ticket| (ticket.agent, ticket.agent_name) = (None, None))?;
        unit.commit().await?;
        desk.check().await?;
        assert_eq!(desk.ticket(1).await?.unwrap().agent_name.as_deref(), Some("Joy"));
        let title = desk.lines.get(Line::key("t", 1)).await?.unwrap().title.clone();
        assert_eq!(title.as_deref(), Some("It hums"));

        // If a source is deleted, a holder in the same unit of work is cleared, or the delete is refused.
        let mut unit = desk.unit();
        unit.delete(&desk.agent(2).await?.unwrap())?;
        unit.update(&desk.ticket(1).await?.unwrap(), |_| {})?;
        unit.commit().await?;
        assert_eq!(desk.ticket(1).await?.unwrap().agent, None);
        let mut unit = desk.unit();
        unit.delete(&desk.ticket(1).await?.unwrap())?;
        unit.update(&desk.lines.get(Line::key("t", 1)).await?.unwrap(), |_| {})?;
        let error = unit.commit().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-DEN-2")), "{error}");
        assert!(error.to_string().contains("line_1"), "{error}");
        let mut unit = desk.unit();
        unit.delete(&desk.ticket(1).await?.unwrap())?;
        unit.delete(&desk.lines.get(Line::key("t", 1)).await?.unwrap())?;
        unit.commit().await?;
        desk.check().await?;

        // A holder is refused if it refers to a source deleted by the same unit of work.
        let mut unit = desk.unit();
        unit.delete(&desk.agent(1).await?.unwrap())?.insert(&ticket(3, Some(1)))?;
        let error = unit.commit().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::ResourceNotFound, Some("PAT-DEN-2")), "{error}");
        desk.check().await
    })
    .unwrap();
}

#[test]
fn pat_den_2_a_holder_of_two_sources_or_with_a_condition_is_written_later() {
    block_on(async {
        let desk = Desk::new().await?;
        let mut unit = desk.unit();
        unit.insert(&agent(1, "Ada"))?.insert(&ticket(1, Some(1)))?;
        unit.commit().await?;
        let mut unit = desk.unit();
        unit.require(Ticket::key("t", 1))?;
        unit.update(&desk.agent(1).await?.unwrap(), |agent| agent.name = "Eve".into())?;
        unit.commit().await?;
        desk.check().await
    })
    .unwrap();
}

/// A unit of work's change to one entity.
#[derive(Clone, Debug)]
enum Act {
    Agent(u32, Option<u8>),
    Ticket(u32, Holder),
    Line(u32, Holder),
}

/// The state of a holder after an act: deleted, or with a reference to a source.
#[derive(Clone, Copy, Debug)]
enum Holder {
    Gone,
    RefersTo(Option<i32>),
}

fn act() -> impl Strategy<Value = Act> {
    let reference =
        || prop_oneof![1 => Just(Holder::Gone), 4 => prop::option::of(0..3_i32).prop_map(Holder::RefersTo)];
    prop_oneof![
        (0..3_u32, prop::option::weighted(0.8, 0..4_u8)).prop_map(|(id, name)| Act::Agent(id, name)),
        (0..3_u32, reference()).prop_map(|(id, agent)| Act::Ticket(id, agent)),
        (0..3_u32, reference()).prop_map(|(id, ticket)| Act::Line(id, ticket)),
    ]
}

async fn add(desk: &Desk, unit: &mut UnitOfWork<Engine, Queue>, act: &Act) -> Result<()> {
    match *act {
        Act::Agent(id, name) => {
            let old = desk.agent(id).await?;
            match (name, old) {
                (Some(name), old) => unit.save(old.as_ref(), &agent(id, &format!("Name{name}")))?,
                (None, Some(old)) => unit.delete(&old)?,
                (None, None) => unit,
            };
        }
        Act::Ticket(id, agent) => {
            let old = desk.ticket(id).await?;
            match (agent, old) {
                (Holder::RefersTo(agent), old) => {
                    // The agent of ticket 1 is also its reviewer.
                    let reviewer = agent.filter(|_| id == 1);
                    unit.save(old.as_ref(), &Ticket { reviewer, ..ticket(id, agent) })?
                }
                (Holder::Gone, Some(old)) => unit.delete(&old)?,
                (Holder::Gone, None) => unit,
            };
        }
        Act::Line(id, ticket) => {
            let old = desk.lines.get(Line::key("t", id)).await?;
            match (ticket, old) {
                (Holder::RefersTo(ticket), old) => unit.save(old.as_ref(), &line(id, ticket))?,
                (Holder::Gone, Some(old)) => unit.delete(&old)?,
                (Holder::Gone, None) => unit,
            };
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn pat_den_2_copies_and_references_are_correct_after_any_units(
        units in prop::collection::vec(prop::collection::vec(act(), 1..6), 1..12),
    ) {
        block_on(async {
            let desk = Desk::new().await?;
            for acts in &units {
                let mut unit = desk.unit();
                for act in acts {
                    // An entity already in the unit of work keeps its first change; the second one is refused.
                    if let Err(error) = add(&desk, &mut unit, act).await {
                        prop_assert_eq!(error.rule(), Some("EGT-4"), "{}", error);
                    }
                }
                if let Err(error) = unit.commit().await {
                    prop_assert!(matches!(error.rule(), Some("PAT-DEN-2" | "EGT-12")), "{}: {:?}", error, acts);
                }
                desk.check().await?;
            }
            Ok::<_, TestCaseError>(())
        })?;
    }
}
