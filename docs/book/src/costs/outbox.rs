//! Counts the cost of patterns that write to other partitions, including messages and workers.

use serde::{Deserialize, Serialize};
use table_patterns::copies::CopyRelation;
use table_patterns::outbox::{Message, Outbox, Step};
use table_patterns::selection::{Point, Selection};
use table_patterns::work::{Delivery, Handler, Worker};
use table_patterns::{Entity, EntityStore as _, QueueName, Result};

use super::queues::CountedQueues;
use super::{Counted, run};

type Desk = Outbox<table_advice::meter::Meter<table_patterns::Engine>, CountedQueues>;

async fn outbox(counted: &Counted) -> Result<Desk> {
    let name = QueueName::new("desk")?;
    let outbox = Outbox::with_runtime(counted.store.clone(), counted.queues.clone(), name, counted.runtime());
    outbox.create_queues().await?;
    Ok(outbox)
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    open: bool,
}

#[derive(Serialize, Deserialize)]
struct Closed {
    ticket: u32,
}

impl Message for Closed {
    const NAME: &'static str = "ticket closed";
    const VERSION: u32 = 1;
}

struct Ignore;

impl Handler<Closed> for Ignore {
    async fn handle(&self, _: &Closed, _: Delivery<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn steps() {
    let mut counted = Counted::new();
    run(async {
        let outbox = outbox(&counted).await?;
        let tickets =
            counted.store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing().await?;
        for number in 1..=33 {
            tickets.insert(&Ticket { tenant: "contoso".into(), number, open: true }).await?;
        }
        let close = async |number| {
            let ticket = tickets.get(Ticket::key("contoso", number)).await?.ok_or_else(missing)?;
            let mut unit = tickets.unit(Ticket::partition("contoso"))?;
            unit.update(&ticket, |ticket| ticket.open = false)?;
            unit.add_step(Ticket::key("contoso", number), Step::call(&Closed { ticket: number })?)?;
            counted.start();
            unit.commit().await.map(drop)
        };
        let mut rows = Vec::new();
        close(1).await?;
        rows.push((
            "`commit` of a unit with a step, the first of the store: creates the registry and a key",
            counted.take(),
        ));
        close(2).await?;
        rows.push((
            "`commit` of a unit with a step, the next one of a process in its partition",
            counted.take(),
        ));
        let worker = Worker::new(outbox).handler(Ignore);
        worker.run_until_idle().await?;
        rows.push(("a worker until idle: two intents of one partition", counted.take()));
        for number in 3..=33 {
            close(number).await?;
        }
        counted.start();
        worker.run_until_idle().await?;
        rows.push(("a worker until idle: 31 intents of one partition", counted.take()));
        worker.run_until_idle().await?;
        rows.push(("a poll of an idle worker", counted.take()));
        for (call, counts) in rows {
            counted.push(call, counts);
        }
        Ok(())
    });
    counted.hold("book/pattern-outbox.md", "outbox");
}

fn missing() -> table_patterns::Error {
    table_patterns::Error::new(table_patterns::ErrorCode::ResourceNotFound, "inserted above")
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Member {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index_entity(Namesakes, at_most = 500, row_key("lastname_", last_name))]
struct Person {
    department: String,
    #[digits(6)]
    id: u32,
    last_name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels")]
#[partition_key(depot)]
#[row_key("parcel_", number)]
#[index(Tracking, unique, table = "Tracking", partition_key(code), row_key("code"))]
struct Parcel {
    depot: String,
    #[digits(8)]
    number: u32,
    code: String,
}

#[test]
fn indexes() {
    let mut counted = Counted::new();
    run(async {
        let members =
            counted.store.entities::<Member>().with_runtime(counted.runtime()).create_if_missing().await?;
        let member = |id| Member { department: "Sales".into(), id, email: format!("{id}@contoso.com") };
        counted.start();
        members.insert(&member(1)).await?;
        counted.row("in the partition: `insert`");
        members.get(Member::by_email("Sales", "1@contoso.com")).await?;
        counted.row("in the partition: `get` through the index");
        members.update(Member::key("Sales", 1), |member| member.email = "2@contoso.com".into()).await?;
        counted.row("in the partition: `update` of the indexed value");

        let people =
            counted.store.entities::<Person>().with_runtime(counted.runtime()).create_if_missing().await?;
        let person = |id| Person { department: "Sales".into(), id, last_name: "Jones".into() };
        people.insert(&person(1)).await?;
        counted.start();
        people.insert(&person(2)).await?;
        counted.row("list in the partition: `insert`");
        people.get_by_index(Person::namesakes("Sales", "Jones")).await?;
        counted.row("list in the partition: `get_by_index`, two entities");

        let outbox = outbox(&counted).await?;
        let parcels =
            counted.store.entities_with_outbox::<Parcel, _>(outbox.clone()).create_if_missing().await?;
        let parcel = |number| Parcel { depot: "oslo".into(), number, code: format!("NO{number}") };
        parcels.insert(&parcel(1)).await?;
        let worker = Worker::new(outbox).with_index_handler(&parcels);
        worker.run_until_idle().await?;
        counted.start();
        parcels.insert(&parcel(2)).await?;
        counted.row("in another partition: `insert`, not the first of a process in its partition in an hour");
        worker.run_until_idle().await?;
        counted.row("in another partition: the worker, for this insert");
        let entry = parcels.get_eventual(Parcel::tracking("NO2")).await?.ok_or_else(missing)?;
        counted.row("in another partition: `get_eventual`");
        entry.primary(&parcels).await?;
        counted.row("in another partition: `primary` of the entry");
        Ok(())
    });
    counted.hold("book/pattern-indexes.md", "indexes");
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Agents", copied_by(Assignee))]
#[partition_key(tenant)]
#[row_key("agent_", id)]
struct Agent {
    tenant: String,
    #[digits(4)]
    id: u32,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Cases", copies_from(Assignee))]
#[partition_key(number)]
#[row_key("case")]
struct Case {
    #[digits(6)]
    number: u32,
    tenant: String,
    agent: Option<i32>,
    agent_name: Option<String>,
}

struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Case;
    type Copied = String;
    const NAME: &'static str = "assignee";

    fn reference(case: &Case) -> Option<Selection<Agent, Point>> {
        Some(Agent::key(&case.tenant, u32::try_from(case.agent?).ok()?))
    }

    fn copied(agent: &Agent) -> String {
        agent.name.clone()
    }

    fn set(case: &mut Case, name: String) {
        case.agent_name = Some(name);
    }

    fn clear(case: &mut Case) {
        (case.agent, case.agent_name) = (None, None);
    }
}

#[test]
fn copies() {
    let mut counted = Counted::new();
    run(async {
        let outbox = outbox(&counted).await?;
        let agents =
            counted.store.entities_with_outbox::<Agent, _>(outbox.clone()).create_if_missing().await?;
        let cases = counted.store.entities_with_outbox::<Case, _>(outbox.clone()).create_if_missing().await?;
        agents.insert(&Agent { tenant: "contoso".into(), id: 7, name: "Ada".into() }).await?;
        let case = |number| Case { number, tenant: "contoso".into(), agent: Some(7), agent_name: None };
        let worker = Worker::new(outbox).with_index_handler(&agents).with_index_handler(&cases);
        for number in 1..=9 {
            cases.insert(&case(number)).await?;
        }
        worker.run_until_idle().await?;
        counted.start();
        cases.insert(&case(10)).await?;
        counted.row("`insert` of a holder in another partition, the first of its partition in an hour");
        worker.run_until_idle().await?;
        counted.row("the worker, for this insert");
        agents.update(Agent::key("contoso", 7), |agent| agent.name = "Ada Lovelace".into()).await?;
        counted.row(
            "`update` of a source with ten holders in ten partitions, the first of its partition in an hour",
        );
        worker.run_until_idle().await?;
        counted.row("the worker, for this update");
        cases.get(Case::key(10)).await?;
        counted.row("read a holder with its copies");
        Ok(())
    });
    counted.hold("book/pattern-copies.md", "copies");
}
