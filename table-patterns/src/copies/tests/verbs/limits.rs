//! Tests copies that exceed the limits of a transaction or of a key.

use pollster::block_on;
use table_core::Entity;

use super::company;
use crate::copies::tests::kit::{Employee, Project, project};
use crate::entities::Entities;
use crate::tests::faults::Call;

/// Tests sources whose `RowKey`s are too long to be part of reference keys.
#[test]
fn key_8_a_source_that_leaves_no_space_for_reference_keys_is_refused() {
    use table_core::selection::{Point, Selection};

    #[derive(Entity)]
    #[entity(table = "Company", copied_by(Words))]
    #[partition_key(department)]
    #[row_key(name)]
    struct Wordy {
        department: String,
        name: String,
    }
    #[derive(Entity)]
    #[entity(table = "Projects", copies_from(Words))]
    #[partition_key(name)]
    #[row_key("wordy")]
    struct Holder {
        name: String,
        source: String,
    }
    struct Words;
    impl crate::copies::CopyRelation for Words {
        type Source = Wordy;
        type Holder = Holder;
        type Copied = ();
        const NAME: &'static str = "words";
        fn reference(holder: &Holder) -> Option<Selection<Wordy, Point>> {
            Some(Wordy::key("Sales", &holder.source))
        }
        fn copied(_: &Wordy) {}
        fn set(_: &mut Holder, (): ()) {}
        fn clear(_: &mut Holder) {}
    }
    let company = company();
    let sources = Entities::<Wordy, _, _>::from(company.outbox.clone());
    let holders = Entities::<Holder, _, _>::from(company.outbox.clone());
    for (length, fits) in [(473, true), (474, false)] {
        let name = "x".repeat(length);
        block_on(sources.insert(&Wordy { department: "Sales".into(), name: name.clone() })).unwrap();
        let outcome = block_on(holders.insert(&Holder { name: length.to_string(), source: name }));
        assert_eq!(
            outcome.map(drop).map_err(|error| error.rule()),
            if fits { Ok(()) } else { Err(Some("KEY-8")) }
        );
    }
}

#[test]
fn pat_den_2_more_copies_than_a_transaction_allows_are_written_in_batches() {
    let company = company();
    // The source has 250 holders in three partitions.
    for part in 0..250 {
        let name = ["Engine", "Loom", "Mill"][usize::from(part) % 3];
        block_on(company.projects.insert(&Project { part, ..project(name, Some(223)) })).unwrap();
    }
    company.recover();
    let change = |ada: &mut Employee| ada.last_name = "Byron".into();
    block_on(company.employees.update(Employee::key("Sales", 223), change)).unwrap();
    assert_eq!(company.pending(), 1);
    company.store.heal();
    assert_eq!(block_on(company.employees.settle_copies(Employee::key("Sales", 223))).unwrap(), 250);
    let submits = company.store.calls().iter().filter(|call| **call == Call::Submit).count();
    assert_eq!(submits, 3, "84, 83 and 83 in a transaction each");
    company.recover();
    company.assert_agreement("batches");

    // Rows are read in pages of seven. One reference is removed, and one holder is changed between its read and its write.
    let pages = company.after(0, |store| store.pages_of(7));
    assert_eq!(block_on(pages.employees.settle_copies(Employee::key("Sales", 223))).unwrap(), 250);
    let mut rival = Some(company.again());
    company.store.script(move |call, _| match (call, rival.take()) {
        (Call::Submit, Some(rival)) => crate::tests::faults::Fault::Meanwhile(Box::new(move || {
            let key = Project::key("Engine", 0);
            block_on(rival.projects.update(key, |project| project.deputy = Some(9))).unwrap();
        })),
        (_, still) => {
            rival = still;
            crate::tests::faults::Fault::None
        }
    });
    assert_eq!(block_on(company.employees.settle_copies(Employee::key("Sales", 223))).unwrap(), 250);
    company.store.heal();
    company.recover();
    company.assert_agreement("one between");
}

/// Tests that the outbox updates a source's holders if more of them are in its partition than fit into one transaction.
#[test]
fn egt_2_copies_beyond_the_transaction_limit_follow_by_the_outbox() {
    use table_core::selection::{Point, Selection};

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", copied_by(Owner))]
    #[partition_key(department)]
    #[row_key("owner_", id)]
    struct Person {
        department: String,
        #[digits(3)]
        id: u32,
        first_name: String,
    }
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", copies_from(Owner))]
    #[partition_key(department)]
    #[row_key("desk_", number)]
    struct Desk {
        department: String,
        #[digits(4)]
        number: u16,
        owner: i32,
        owner_name: String,
    }
    struct Owner;
    impl crate::copies::CopyRelation for Owner {
        type Source = Person;
        type Holder = Desk;
        type Copied = String;
        const NAME: &'static str = "owner";
        fn reference(desk: &Desk) -> Option<Selection<Person, Point>> {
            Some(Person::key(&desk.department, u32::try_from(desk.owner).ok()?))
        }
        fn copied(owner: &Person) -> String {
            owner.first_name.clone()
        }
        fn set(desk: &mut Desk, name: String) {
            desk.owner_name = name;
        }
        fn clear(desk: &mut Desk) {
            desk.owner = -1;
        }
    }
    let company = company();
    let employees = Entities::<Person, _, _>::from(company.outbox.clone());
    let ada = Person { department: "Sales".into(), id: 223, first_name: "Ada".into() };
    block_on(employees.insert(&ada)).unwrap();
    let desks = Entities::<Desk, _, _>::from(company.outbox.clone());
    let worker = || {
        crate::work::Worker::new(company.outbox.clone())
            .with_index_handler(&employees)
            .with_index_handler(&desks)
    };
    let insert = |number| {
        let desk = Desk { department: "Sales".into(), number, owner: 223, owner_name: String::new() };
        block_on(desks.insert(&desk)).unwrap();
    };
    let rename = |to: &str| {
        let rename = |ada: &mut Person| ada.first_name = to.into();
        block_on(employees.update(Person::key("Sales", 223), rename)).unwrap();
        company.pending()
    };
    let names = || {
        let range = block_on(desks.table().query(Desk::rows("Sales")).collect()).unwrap();
        range.into_iter().map(|desk| desk.owner_name).collect::<std::collections::BTreeSet<_>>()
    };
    (0..99).for_each(insert);
    assert_eq!(rename("Augusta"), 0, "all in its transaction");
    assert_eq!(names(), ["Augusta".to_owned()].into());
    (99..130).for_each(insert);
    assert_eq!(rename("Ada"), 1);
    block_on(worker().run_until_idle()).unwrap();
    assert_eq!(names(), ["Ada".to_owned()].into());
    assert_eq!(company.pending(), 0);
}

/// Tests a source whose references fill more than one page. Most of the references belong to a relation unaffected by the change.
#[test]
fn pat_den_2_holders_on_later_pages_of_references_follow_by_the_outbox() {
    use table_core::selection::{Point, Selection};

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", copied_by(Name, Mail))]
    #[partition_key(department)]
    #[row_key("person_", id)]
    struct Person {
        department: String,
        #[digits(3)]
        id: u32,
        name: String,
        mail: String,
    }
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", copies_from(Name))]
    #[partition_key(department)]
    #[row_key("desk_", number)]
    struct Desk {
        department: String,
        #[digits(4)]
        number: u16,
        name: String,
    }
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", copies_from(Mail))]
    #[partition_key(department)]
    #[row_key("badge_", number)]
    struct Badge {
        department: String,
        #[digits(4)]
        number: u16,
        mail: String,
    }
    struct Name;
    impl crate::copies::CopyRelation for Name {
        type Source = Person;
        type Holder = Desk;
        type Copied = String;
        const NAME: &'static str = "name";
        fn reference(desk: &Desk) -> Option<Selection<Person, Point>> {
            Some(Person::key(&desk.department, 1))
        }
        fn copied(person: &Person) -> String {
            person.name.clone()
        }
        fn set(desk: &mut Desk, name: String) {
            desk.name = name;
        }
        fn clear(_: &mut Desk) {}
    }
    struct Mail;
    impl crate::copies::CopyRelation for Mail {
        type Source = Person;
        type Holder = Badge;
        type Copied = String;
        const NAME: &'static str = "mail";
        fn reference(badge: &Badge) -> Option<Selection<Person, Point>> {
            Some(Person::key(&badge.department, 1))
        }
        fn copied(person: &Person) -> String {
            person.mail.clone()
        }
        fn set(badge: &mut Badge, mail: String) {
            badge.mail = mail;
        }
        fn clear(_: &mut Badge) {}
    }
    let company = company().after(0, |store| store.pages_of(101));
    let people = Entities::<Person, _, _>::from(company.outbox.clone());
    let desks = Entities::<Desk, _, _>::from(company.outbox.clone());
    let badges = Entities::<Badge, _, _>::from(company.outbox.clone());
    let department = || "Sales".to_owned();
    let ada = Person { department: department(), id: 1, name: "Ada".into(), mail: "ada".into() };
    block_on(people.insert(&ada)).unwrap();
    for number in 0..150 {
        let badge = Badge { department: department(), number, mail: String::new() };
        block_on(badges.insert(&badge)).unwrap();
    }
    for number in 0..12 {
        block_on(desks.insert(&Desk { department: department(), number, name: String::new() })).unwrap();
    }
    let rename = |ada: &mut Person| ada.name = "Augusta".into();
    block_on(people.update(Person::key("Sales", 1), rename)).unwrap();
    let worker = crate::work::Worker::new(company.outbox.clone())
        .with_index_handler(&people)
        .with_index_handler(&desks)
        .with_index_handler(&badges);
    block_on(worker.run_until_idle()).unwrap();
    let desks = block_on(desks.table().query(Desk::rows("Sales")).collect()).unwrap();
    let names: Vec<_> = desks.iter().map(|desk| desk.name.as_str()).collect();
    assert_eq!(names, ["Augusta"; 12]);
}
