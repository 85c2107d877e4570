//! Tests each operation on a single type, in a partition that contains many types.

use futures_util::{TryStreamExt, pin_mut};
use pollster::block_on;
use table_core::mixed::{RowOwner, classify_key};
use table_core::selection::Scan;
use table_core::{Engine, Entity, EntitySet, IfMatch, Selection, TableEntity, TableName, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::index::{FindingKind, IndexState};
use table_patterns::migrate::Migration;
use table_patterns::periods::delete_in_batches;

use super::desk::{
    Alarm, Amount, Comment, Desk, NUMBERS, Note, NoteAmount, TENANT, Ticket, TicketByStatus, Total, World,
    alarm, comment, note, ticket,
};

fn tickets() -> Vec<Ticket> {
    NUMBERS.map(ticket).to_vec()
}

fn comments() -> Vec<Comment> {
    NUMBERS.iter().flat_map(|number| [comment(*number, 1), comment(*number, 2)]).collect()
}

#[test]
fn queries_return_the_rows_of_their_type() {
    let World { engine, tickets: handle, .. } = World::filled();
    let table = engine.table::<Ticket>();
    block_on(async {
        assert_eq!(handle.query(Ticket::rows(TENANT)).collect().await.unwrap(), tickets());
        assert_eq!(handle.query(Ticket::partition(TENANT)).collect().await.unwrap(), tickets());
        assert_eq!(handle.query(Ticket::rows(TENANT).number(2..=3)).collect().await.unwrap(), tickets()[1..]);
        // The plain table returns the same entities, even though index copies and lists are between them.
        assert_eq!(table.query(Ticket::partition(TENANT)).collect().await.unwrap(), tickets());
        let all = engine.table::<Comment>().query(Comment::partition(TENANT));
        assert_eq!(all.collect().await.unwrap(), comments());
        let under = engine.table::<Comment>().query(Comment::rows(TENANT));
        assert_eq!(under.collect().await.unwrap(), comments());
        // Queries for types with similar keys each return only the entities of their own type.
        let notes = engine.table::<Note>().query(Note::rows(TENANT)).collect().await.unwrap();
        assert_eq!(notes, [note(2), note(4), note(6)]);
        let alarms = engine.table::<Alarm>().query(Alarm::partition(TENANT)).collect().await.unwrap();
        assert_eq!(alarms, [alarm(3), alarm(5), alarm(7)]);
    });
}

#[test]
fn every_way_to_run_a_query_skips_other_types() {
    let World { tickets: handle, .. } = World::filled();
    let query = || handle.query(Ticket::rows(TENANT));
    block_on(async {
        let page = query().page().await.unwrap();
        assert_eq!(page.items.iter().map(|item| item.number).collect::<Vec<_>>(), NUMBERS);
        let mut found = Vec::new();
        let stream = query().page_size(2).stream();
        pin_mut!(stream);
        while let Some(ticket) = stream.try_next().await.unwrap() {
            found.push(ticket.into_value());
        }
        assert_eq!(found, tickets());
        assert_eq!(query().limit(2).collect().await.unwrap(), tickets()[..2]);
        assert_eq!(query().page_size(1).limit(3).collect().await.unwrap(), tickets());
        let found = query().filter(Ticket::AMOUNT.ge(2)).first().await;
        assert_eq!(found.unwrap().unwrap().number, 2);
        let mut lent = Vec::new();
        assert_eq!(query().for_each(|ticket| lent.push(ticket.value().clone())).await.unwrap(), 3);
        assert_eq!(lent, tickets());
        assert_eq!(query().limit(2).for_each(|_| ()).await.unwrap(), 2);
        // Comments lie between the tickets, so a page of two rows would not contain two tickets. The query must therefore request larger pages.
        assert!(!query().limit(2).plan().unwrap().to_string().contains("$top=2"));
    });
}

#[test]
fn a_projection_returns_only_rows_of_its_entity() {
    let World { engine, tickets: handle, .. } = World::filled();
    block_on(async {
        let amounts = handle.query(Ticket::rows(TENANT)).project::<Amount>().collect().await.unwrap();
        assert_eq!(amounts, [1, 2, 3].map(|amount| Amount { amount }));
        let notes = engine.table::<Note>().query(Note::rows(TENANT)).project::<NoteAmount>();
        assert_eq!(notes.collect().await.unwrap(), [10, 10, 10].map(|amount| NoteAmount { amount }));
        let scan = handle.scan("a test").max_rows(1_000).project::<Amount>().collect().await.unwrap();
        assert_eq!(scan, amounts);
    });
}

#[test]
fn scans_return_the_rows_of_their_type() {
    let World { engine, tickets: handle, .. } = World::filled();
    block_on(async {
        assert_eq!(handle.scan("a test").max_rows(1_000).collect().await.unwrap(), tickets());
        let scan = engine.table::<Ticket>().scan("a test").max_rows(1_000);
        assert_eq!(scan.collect().await.unwrap(), tickets());
        let mut lent = Vec::new();
        let scan = engine.table::<Ticket>().scan("a test").max_rows(1_000);
        assert_eq!(scan.for_each(|ticket| lent.push(ticket.value().clone())).await.unwrap(), 3);
        assert_eq!(lent, tickets());
        let scan = engine.table::<Comment>().scan("a test").max_rows(1_000);
        assert_eq!(scan.collect().await.unwrap(), comments());
    });
}

#[test]
fn the_set_returns_all_of_its_members() {
    let World { engine, .. } = World::filled();
    let rows = block_on(engine.set::<Desk>().scan("a test").max_rows(1_000).collect()).unwrap();
    let count = |is: fn(&Desk) -> bool| rows.iter().filter(|row| is(row)).count();
    assert_eq!(count(|row| matches!(row, Desk::Ticket(_))), 3);
    assert_eq!(count(|row| matches!(row, Desk::Comment(_))), 6);
    assert_eq!(count(|row| matches!(row, Desk::Note(_) | Desk::Alarm(_))), 6);
    assert_eq!(count(|row| matches!(row, Desk::Other(_))), 7, "copies of two indexes, and a list");
}

#[test]
fn a_view_covers_only_the_rows_of_its_source() {
    let world = World::filled();
    let total = || {
        let total = block_on(world.engine.table::<Total>().get(Total::key(TENANT))).unwrap().unwrap();
        (total.tickets, total.amount)
    };
    block_on(async {
        let view = world.view();
        while view.catch_up(2).await.unwrap().is_behind {}
        assert_eq!(total(), (3, 6), "comments have a feed, too");
        view.rebuild().page(2).run().await.unwrap();
        assert_eq!(total(), (3, 6));
        world.tickets.delete_with_parts(Ticket::key(TENANT, 2)).await.unwrap();
        view.rebuild().run().await.unwrap();
        assert_eq!(total(), (2, 4));
    });
}

#[test]
fn an_index_is_built_over_a_mixed_partition() {
    let world = World::empty();
    block_on(async {
        let before = world.engine.entities::<before::Ticket>().create_if_missing().await.unwrap();
        for number in NUMBERS {
            before.insert(&before::ticket(number)).await.unwrap();
        }
    });
    let world = world.with_others();
    block_on(async {
        let tickets = world.tickets.clone().create_if_missing().await.unwrap();
        assert_eq!(tickets.states().await.unwrap()[0].1, IndexState::Building);
        tickets.backfill::<TicketByStatus>().assume_no_older_programs().run().await.unwrap();
        let open = tickets.query(Ticket::by_status(TENANT, "open")).collect().await.unwrap();
        assert_eq!(open, self::tickets());
    });
}

#[test]
fn a_check_covers_only_the_rows_of_its_type() {
    let World { engine, tickets: handle, .. } = World::filled();
    block_on(async {
        let report = handle.check().run().await.unwrap();
        assert!(report.is_clean(), "{:?}", report.findings);
        let desk = engine.untyped("Desk").unwrap();
        desk.delete(Selection::point(TENANT, "mail_m2"), IfMatch::Any).await.unwrap();
        let report = handle.check().repair().run().await.unwrap();
        let kinds: Vec<_> = report.findings.iter().map(|finding| (finding.kind, finding.repaired)).collect();
        assert_eq!(kinds, [(FindingKind::Missing, true)]);
        assert!(handle.get(Ticket::by_mail(TENANT, "m2")).await.unwrap().is_some());
    });
}

#[test]
fn a_migration_keeps_the_type_of_each_row() {
    let World { engine, .. } = World::filled();
    let target = Engine::in_memory();
    block_on(async {
        let mut copy = Migration::new(&engine, &target, TableName::new("Desk").unwrap());
        while copy.step().await.unwrap() {}
        let (from, to) = copy.checksums().await.unwrap();
        assert_eq!(from, to);
        assert_eq!(target.table::<Ticket>().query(Ticket::rows(TENANT)).collect().await.unwrap(), tickets());
        let all = target.table::<Comment>().query(Comment::rows(TENANT)).collect().await.unwrap();
        assert_eq!(all, comments());
    });
}

#[test]
fn a_delete_of_a_partition_leaves_the_other_types() {
    let World { engine, tickets: handle, .. } = World::filled();
    let rows = || block_on(engine.set::<Desk>().scan("a test").max_rows(1_000).collect()).unwrap().len();
    block_on(async {
        let (notes, before) = (engine.table::<Note>(), rows());
        let deleted = delete_in_batches(&notes, Note::partition(TENANT)).run().await.unwrap().deleted;
        assert_eq!((deleted, rows()), (3, before - 3));
        assert_eq!(engine.table::<Alarm>().query(Alarm::rows(TENANT)).collect().await.unwrap().len(), 3);
        assert_eq!(handle.query(Ticket::rows(TENANT)).collect().await.unwrap(), tickets());
    });
}

/// Tests that the partitions before and after those of an index in the same table are still read as entities.
#[test]
fn a_view_has_partitions_on_both_sides_of_an_index() {
    let world = World::empty();
    block_on(async {
        let people = world.engine.untyped("People").unwrap().create_if_missing().await.unwrap();
        for team in ["alpha", "zeta"] {
            let person = TableEntity::new(team, "person_001").unwrap().with("Name", "Ada");
            people.insert(&person).await.unwrap();
        }
        let view = table_patterns::view::ViewTable::<people::Teams, _>::new(world.engine.clone());
        let view = view.create_if_missing().await.unwrap();
        view.rebuild().run().await.unwrap();
        let teams = view.table().await.unwrap().scan("a test").max_rows(10).collect().await.unwrap();
        let teams: Vec<_> = teams.iter().map(|team| (team.team.as_str(), team.people)).collect();
        assert_eq!(teams, [("alpha", 1), ("zeta", 1)]);
    });
}

#[test]
fn keys_are_classified_like_rows() {
    let cases =
        [("ticket_001", true), ("ticket_001_01", false), ("status_open_001", false), ("mail_ada", false)];
    for (row_key, is_own) in cases {
        let belonging = classify_key::<Ticket>(TENANT, row_key).unwrap();
        assert_eq!(belonging == RowOwner::Own, is_own, "{row_key}");
    }
    assert_eq!(classify_key::<Ticket>(TENANT, "\u{FFFC}feed_1").unwrap(), RowOwner::Other);
    assert_eq!(<Ticket as Entity>::SET_SCHEMAS, <Desk as EntitySet>::MEMBERS);
    let _: Selection<Ticket, Scan> = Selection::scan("a test");
}

/// People, and an index by name in other partitions of the same table.
mod people {
    use table_core::{Entity, Result};
    use table_patterns::view::{Projection, View};

    #[derive(Entity, Clone, Debug)]
    #[entity(table = "People", feed)]
    #[partition_key(team)]
    #[row_key("person_", number)]
    #[index(ByName, partition_key("name_", name), row_key("person_", team, "_", number))]
    pub struct Person {
        #[without('_')]
        pub team: String,
        #[digits(3)]
        pub number: u32,
        pub name: String,
    }

    #[derive(Entity, Clone, Debug)]
    #[entity(table = "Teams")]
    #[partition_key(team)]
    #[row_key("team")]
    pub struct Team {
        pub team: String,
        pub people: i64,
    }

    #[derive(Clone, Copy)]
    pub struct Teams;

    impl View for Teams {
        type Source = Person;
        type Row = Team;

        fn project(person: &Person, view: &mut Projection<Team>) -> Result<()> {
            view.add(Team::key(&person.team), Team::PEOPLE, 1)
        }
    }
}

/// Tickets, as declared by an earlier version of the program.
mod before {
    use super::TENANT;

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Desk", feed)]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub struct Ticket {
        pub tenant: String,
        #[digits(3)]
        pub number: u32,
        pub status: String,
        pub mail: String,
        pub agent: String,
        pub amount: i64,
    }

    pub fn ticket(number: u32) -> Ticket {
        let super::Ticket { status, mail, agent, amount, .. } = super::ticket(number);
        Ticket { tenant: TENANT.to_owned(), number, status, mail, agent, amount }
    }
}
