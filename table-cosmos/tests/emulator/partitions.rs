//! Tests, on Cosmos DB containers, the patterns that work on whole partitions: several entity types in one table, participants (functions that write additional
//! rows), and tenants.

use table_core::{Entity, EntitySet, IfMatch, Result, TableEntity, TableStoreExt, Value};
use table_cosmos::Options;
use table_patterns::EntityStore;
use table_patterns::feed::Cursor;
use table_patterns::participant::{Changes, Participant};
use table_patterns::sequence::GaplessSequence;
use table_patterns::tenant::Tenant;

use crate::{runtime, store};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Helpdesk", feed, set = Row)]
#[partition_key(tenant, desk)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", number))]
struct Ticket {
    tenant: String,
    desk: String,
    #[digits(6)]
    number: u32,
    #[without('_')]
    status: String,
}

/// A row recording a change to a ticket's status.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Helpdesk")]
#[partition_key(tenant, desk)]
#[row_key("audit_", at, "_", id)]
struct Audit {
    tenant: String,
    desk: String,
    #[digits(19)]
    at: u64,
    #[without('_')]
    id: String,
    is: Option<String>,
}

#[derive(Debug, EntitySet, PartialEq)]
enum Row {
    Ticket(Ticket),
    Audit(Audit),
    #[other]
    Unknown(TableEntity),
}

struct Trail;

impl Participant<Ticket> for Trail {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(ticket) = new.or(old) else { return Ok(()) };
        let (at, id, is) = (out.ticks(), out.id(), new.map(|ticket| ticket.status.clone()));
        out.insert(&Audit { tenant: ticket.tenant.clone(), desk: ticket.desk.clone(), at, id, is })
    }
}

fn ticket(tenant: &str, number: u32, status: &str) -> Ticket {
    Ticket { tenant: tenant.into(), desk: "it".into(), number, status: status.into() }
}

#[test]
fn several_types_and_rows_of_participants_share_the_whole_key() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Ticket>()).await;
        store.create("Helpdesk", 2);
        let audited = store.clone().with_participant::<Ticket>(Trail);
        let tickets = audited.entities::<Ticket>().create_if_missing().await.unwrap();
        tickets.insert(&ticket("contoso", 17, "open")).await.unwrap();
        let close = |ticket: &mut Ticket| ticket.status = "closed".into();
        tickets.update(Ticket::key("contoso", "it", 17), close).await.unwrap();
        tickets.delete(Ticket::key("contoso", "it", 17), IfMatch::Any).await.unwrap();
        tickets.insert(&ticket("contoso", 18, "open")).await.unwrap();
        let robot = TableEntity::new("contoso!it!", "robot").unwrap().with("Model", "Unit 1");
        store.untyped("Helpdesk").unwrap().insert(&robot).await.unwrap();
        let rows = store.table::<Ticket>().query(Ticket::partition("contoso", "it")).read_as::<Row>();
        let rows = rows.collect().await.unwrap();
        let mut statuses: Vec<(u64, Option<&str>)> = Vec::new();
        for row in &rows {
            if let Row::Audit(audit) = row {
                statuses.push((audit.at, audit.is.as_deref()));
            }
        }
        statuses.sort_unstable();
        let statuses: Vec<_> = statuses.into_iter().map(|(_, is)| is).collect();
        assert_eq!(statuses, [Some("open"), Some("closed"), None, Some("open")]);
        assert!(rows.contains(&Row::Ticket(ticket("contoso", 18, "open"))));
        let unknown = rows.iter().find_map(|row| match row {
            Row::Unknown(bag) if bag.key() == robot.key() => bag.get("Model"),
            _ => None,
        });
        assert_eq!(unknown, Some(&Value::from("Unit 1")));
    });
}

#[test]
fn a_tenant_of_several_levels_is_copied_and_erased() {
    runtime().block_on(async {
        let options = Options::new().levels_of::<Ticket>();
        let (store, other) = (store(4, options.clone()).await, store(2, options).await);
        store.create("Helpdesk", 2);
        other.create("Helpdesk", 2);
        let tickets = store.entities::<Ticket>().create_if_missing().await.unwrap();
        let numbers = GaplessSequence::new(&tickets, "ticket").unwrap();
        for tenant in ["contoso", "adatum", "contoso"] {
            let insert = |number, unit: &mut table_patterns::unit::UnitOfWork<_, _>| {
                unit.insert(&ticket(tenant, number, "open")).map(drop)
            };
            let _: u32 = numbers.next(Ticket::partition(tenant, "it"), insert).await.unwrap();
        }
        let copied = other.entities::<Ticket>();
        let contoso = Tenant::new().with_entities(&tickets, Ticket::partition("contoso", "it")).unwrap();
        let target = Tenant::new().with_entities(&copied, Ticket::partition("contoso", "it")).unwrap();
        contoso.copy_to(&target).await.unwrap();
        let insert = |number, unit: &mut table_patterns::unit::UnitOfWork<_, _>| {
            unit.insert(&ticket("contoso", number, "open")).map(drop)
        };
        let numbers = GaplessSequence::new(&copied, "ticket").unwrap();
        let next: u32 = numbers.next(Ticket::partition("contoso", "it"), insert).await.unwrap();
        assert_eq!(next, 3);
        let open = copied.query(Ticket::by_status("contoso", "it", "open")).collect().await.unwrap();
        assert_eq!(open.len(), 3);
        let key = table_core::PartitionKey::new("contoso!it!").unwrap();
        let feed =
            copied.feed().read(copied.table().name().unwrap(), &key, &Cursor::default(), 10).await.unwrap();
        assert_eq!(feed.len(), 3, "the feed continues");

        assert!(contoso.erase().await.unwrap().rows > 0);
        assert_eq!(contoso.remaining().await.unwrap(), 0);
        let others = tickets.query(Ticket::rows("adatum", "it")).collect().await.unwrap();
        assert_eq!(others.len(), 1);
    });
}
