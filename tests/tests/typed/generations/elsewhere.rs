//! Tests indexes in other tables, and copied properties. Two versions of a program write them.

use std::time::Duration;

use pollster::block_on;
use table_core::table::LEASE;
use table_core::{IfMatch, QueueName};
use table_patterns::EntityStore;
use table_patterns::outbox::Outbox;
use table_patterns::work::{Sweep, Worker, WorkerOptions};
use tests::time::Time;

use super::refused;

mod mail {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Crew")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(Mail, table = "Mail", partition_key("mail_", department), row_key(email, "_", id))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[without('_')]
        pub email: String,
        pub badge: u32,
    }
}

mod mail_and_badges {
    #[expect(
        clippy::duplicated_attributes,
        reason = "each index has separate attributes, which clippy mistakes for duplicates"
    )]
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Crew")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(Mail, table = "Mail", partition_key("mail_", department), row_key(email, "_", id))]
    #[index(Badges, table = "Badges", partition_key("badge_", department), row_key(badge, "_", id))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[without('_')]
        pub email: String,
        pub badge: u32,
    }
}

/// All rows of this index have the empty PartitionKey.
mod directory {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Crew")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(Directory, table = "Directory", partition_key(""), row_key(email, "_", id, "_", department))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[without('_')]
        pub email: String,
    }
}

#[test]
fn a_program_with_an_index_in_the_empty_partition_writes_and_opens_again_with_the_same_schema() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("work").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let open = || {
            let crew = store.entities_with_outbox::<directory::Employee, _>(outbox.clone());
            crew.with_runtime(time.runtime()).create_if_missing()
        };
        let employee = |id| directory::Employee { department: "Sales".into(), id, email: format!("ada{id}") };
        let first = open().await.unwrap();
        first.insert(&employee(1)).await.unwrap();
        let stored = first.table().schema_record().await.unwrap();
        time.pass(LEASE * 2);
        first.insert(&employee(2)).await.unwrap();
        let second = open().await.unwrap();
        second.insert(&employee(3)).await.unwrap();
        assert_eq!(second.table().schema_record().await.unwrap(), stored);
    });
}

#[test]
fn workers_of_an_older_program_leave_the_records_of_a_newer_one() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("work").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let old =
            store.entities_with_outbox::<mail::Employee, _>(outbox.clone()).with_runtime(time.runtime());
        let old = old.create_if_missing().await.unwrap();
        let new = store.entities_with_outbox::<mail_and_badges::Employee, _>(outbox.clone());
        let new = new.with_runtime(time.runtime()).create_if_missing().await.unwrap();
        let (id, badge) = (1, 7);
        let ada = mail_and_badges::Employee { department: "Sales".into(), id, email: "ada".into(), badge };
        new.insert(&ada).await.unwrap();

        let worker = Worker::new(outbox.clone()).with_index_handler(&old);
        for _ in 0..600 {
            worker.run_once().await.unwrap();
            time.pass(Duration::from_secs(60));
        }
        assert!(worker.metrics().left > 20, "{:?}", worker.metrics());
        assert_eq!((worker.metrics().failures, outbox.backlog().await.unwrap().poison), (0, 0));
        let worker = Worker::new(outbox.clone()).with_index_handler(&new);
        // The older worker has chosen a redelivery delay. After this delay, the newer program's worker can process the change.
        let longest = WorkerOptions::default().redelivery.max;
        for _ in 0..longest.as_secs() + 2 {
            worker.run_once().await.unwrap();
            time.pass(Duration::from_secs(1));
        }
        assert_eq!((worker.metrics().done, outbox.backlog().await.unwrap().waiting), (1, 0));
        let report = new.check().run().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
    });
}

/// Tests that work on a change ends even if the entity no longer exists. The older program has deleted it without recording this for the new index.
#[test]
fn a_change_whose_entity_an_older_program_deleted_is_settled() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("work").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let old =
            store.entities_with_outbox::<mail::Employee, _>(outbox.clone()).with_runtime(time.runtime());
        let old = old.create_if_missing().await.unwrap();
        let new = store.entities_with_outbox::<mail_and_badges::Employee, _>(outbox.clone());
        let new = new.with_runtime(time.runtime()).create_if_missing().await.unwrap();
        let (id, badge) = (1, 7);
        let ada = mail_and_badges::Employee { department: "Sales".into(), id, email: "ada".into(), badge };
        new.insert(&ada).await.unwrap();
        old.delete(mail::Employee::key("Sales", 1), IfMatch::Any).await.unwrap();
        let worker = Worker::new(outbox.clone()).with_index_handler(&new);
        let mut pending = 1;
        for _ in 0..4 {
            worker.run_until_idle().await.unwrap();
            time.pass(Duration::from_secs(800));
            pending = Sweep::new(outbox.clone()).sweep_registered().await.unwrap().pending;
        }
        assert_eq!((pending, worker.metrics().poisoned), (0, 0), "{:?}", worker.metrics());
        new.backfill::<mail_and_badges::EmployeeBadges>().assume_no_older_programs().run().await.unwrap();
        let report = new.check().run().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
    });
}

/// A desk with agents and tickets, in two versions. The newer version can find tickets by the copied names of their agents.
mod desk {
    use table_core::Selection;
    use table_core::selection::Point;
    use table_patterns::copies::{CopyRelation, OnDelete};

    macro_rules! tickets {
        ($version:ident, $(#[$index:meta])? $(, $note:ident)?) => {
            pub(in super::super) mod $version {
                #[derive(table_core::Entity, Clone, Debug)]
                #[entity(table = "Desk", copied_by(Ticket))]
                #[partition_key(tenant)]
                #[row_key("agent_", id)]
                pub(in super::super) struct Agent {
                    pub tenant: String,
                    #[digits(4)]
                    pub id: u32,
                    pub name: String,
                }

                #[derive(table_core::Entity, Clone, Debug)]
                #[entity(table = "Desk", copies_from(Ticket))]
                #[partition_key(tenant)]
                #[row_key("ticket_", number)]
                $(#[$index])?
                pub(in super::super) struct Ticket {
                    pub tenant: String,
                    #[digits(6)]
                    pub number: u32,
                    pub agent: Option<i32>,
                    pub agent_name: Option<String>,
                    $(pub $note: Option<String>,)?
                }
            }

            impl CopyRelation for $version::Ticket {
                type Source = $version::Agent;
                type Holder = Self;
                type Copied = String;
                const NAME: &'static str = "assignee";
                const ON_DELETE: OnDelete = OnDelete::Clear;

                fn reference(ticket: &Self) -> Option<Selection<$version::Agent, Point>> {
                    Some($version::Agent::key(&ticket.tenant, u32::try_from(ticket.agent?).ok()?))
                }
                fn copied(agent: &$version::Agent) -> String {
                    agent.name.clone()
                }
                fn set(ticket: &mut Self, name: String) {
                    ticket.agent_name = Some(name);
                }
                fn clear(ticket: &mut Self) {
                    (ticket.agent, ticket.agent_name) = (None, None);
                }
            }
        };
    }

    tickets!(before,);
    tickets!(indexed, #[index(ByAgent, row_key("named_", number, "_", agent_name))]);
    tickets!(noted, #[index(ByAgent, row_key("named_", number, "_", agent_name))], note);
}

#[test]
fn no_program_writes_copies_if_its_schema_is_older_than_the_holders() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("copies").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let agents =
            store.entities_with_outbox::<desk::before::Agent, _>(outbox.clone()).with_runtime(time.runtime());
        let agents = agents.create_if_missing().await.unwrap();
        let old = store
            .entities_with_outbox::<desk::before::Ticket, _>(outbox.clone())
            .with_runtime(time.runtime());
        let old = old.create_if_missing().await.unwrap();
        let ada = desk::before::Agent { tenant: "contoso".into(), id: 9, name: "Ada".into() };
        agents.insert(&ada).await.unwrap();
        let ticket = |number| desk::before::Ticket {
            tenant: "contoso".into(),
            number,
            agent: Some(9),
            agent_name: None,
        };
        old.insert(&ticket(17)).await.unwrap();
        let (key, agent) =
            (|| desk::before::Ticket::key("contoso", 17), || desk::before::Agent::key("contoso", 9));
        agents.update(agent(), |ada| ada.name = "Byron".into()).await.unwrap();

        let new = store
            .entities_with_outbox::<desk::indexed::Ticket, _>(outbox.clone())
            .with_runtime(time.runtime());
        let new = new.create_if_missing().await.unwrap();
        new.backfill::<desk::indexed::TicketByAgent>().assume_no_older_programs().run().await.unwrap();
        time.pass(LEASE * 2);
        assert!(refused(old.insert(&ticket(18)).await));
        assert!(refused(old.update(key(), |ticket| ticket.agent = None).await));
        assert!(refused(old.delete(key(), IfMatch::Any).await));
        // The schema of the source has not changed, but the schema of its holders (the entities that contain the copies) has.
        assert!(refused(agents.update(agent(), |ada| ada.name = "Lovelace".into()).await));
        assert!(refused(agents.delete(agent(), IfMatch::Any).await));
        assert!(refused(agents.settle_copies(agent()).await));
        let report = new.check().run().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
        let found = new.get(desk::indexed::Ticket::key("contoso", 17)).await.unwrap().unwrap();
        assert_eq!(found.agent_name.as_deref(), Some("Byron"));

        // The newer program updates the holders (the entities that contain the copies).
        let agents =
            store.entities_with_outbox::<desk::indexed::Agent, _>(outbox).with_runtime(time.runtime());
        let agents = agents.create_if_missing().await.unwrap();
        agents
            .update(desk::indexed::Agent::key("contoso", 9), |ada| ada.name = "Lovelace".into())
            .await
            .unwrap();
        let found = new.get(desk::indexed::Ticket::by_agent("contoso", 17, "Lovelace")).await.unwrap();
        assert_eq!(found.unwrap().number, 17);
    });
}

#[test]
fn a_program_that_writes_copies_keeps_a_newer_property_of_the_holders_in_their_index() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let queue = QueueName::new("copies").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
        outbox.create_queues().await.unwrap();
        let agents = store.entities_with_outbox::<desk::indexed::Agent, _>(outbox.clone());
        let agents = agents.with_runtime(time.runtime()).create_if_missing().await.unwrap();
        let old = store.entities_with_outbox::<desk::indexed::Ticket, _>(outbox.clone());
        let old = old.with_runtime(time.runtime()).create_if_missing().await.unwrap();
        let (tenant, name) = ("contoso".to_owned(), "Ada".to_owned());
        agents.insert(&desk::indexed::Agent { tenant: tenant.clone(), id: 9, name }).await.unwrap();
        let (agent, agent_name) = (Some(9), None);
        old.insert(&desk::indexed::Ticket { tenant, number: 17, agent, agent_name }).await.unwrap();

        let new = store.entities_with_outbox::<desk::noted::Ticket, _>(outbox);
        let new = new.with_runtime(time.runtime()).create_if_missing().await.unwrap();
        let key = || desk::noted::Ticket::key("contoso", 17);
        new.update(key(), |ticket| ticket.note = Some("urgent".into())).await.unwrap();
        // The source's program does not know the holders' newer schema. It therefore reads the stored schema before it writes to the holders.
        for name in ["Byron", "Lovelace"] {
            let agent = || desk::indexed::Agent::key("contoso", 9);
            agents.update(agent(), |ada| ada.name = name.into()).await.unwrap();
            agents.settle_copies(agent()).await.unwrap();
            let found = new.get(desk::noted::Ticket::by_agent("contoso", 17, name)).await.unwrap().unwrap();
            assert_eq!(found.note.as_deref(), Some("urgent"), "{name}");
            time.pass(LEASE * 2);
        }
        let report = new.check().run().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
    });
}
