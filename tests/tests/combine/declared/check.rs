//! Compares all derived data with the tickets at the end of a history, and describes each defect.

use std::collections::BTreeMap;

use pollster::block_on;
use table_core::{PartitionKey, TableName, TableStoreExt};
use table_patterns::feed::{Cursor, Feed};
use tests::faults::Control;

use crate::declared::case::{Case, TENANT};
use crate::declared::model::Ticket;
use crate::declared::world::{Comment, Shadow, Total, World};

pub(crate) fn wrong<T: Case>(world: &World<T>) -> Vec<String> {
    let healthy = Control::default();
    let tickets = world.tickets(&healthy);
    let found: Vec<Ticket> =
        block_on(tickets.query(T::all()).collect()).unwrap().iter().map(Case::ticket).collect();
    let found: BTreeMap<u32, Ticket> = found.into_iter().map(|ticket| (ticket.number, ticket)).collect();
    for owner in 0..3 {
        for number in owner * 10..owner * 10 + 3 {
            world.model.found(number, found.get(&number));
        }
    }
    let mut wrong = world.model.wrong();
    let report = block_on(tickets.check().run()).unwrap();
    wrong.extend(
        report.findings.iter().map(|found| format!("index {} {:?} {}", found.index, found.kind, found.at)),
    );
    wrong.extend(shadows(world, &found));
    wrong.extend(comments(world, &found));
    wrong.extend(feed(world, &found));
    wrong.extend(totals(world, &found));
    wrong
}

fn shadows<T: Case>(world: &World<T>, tickets: &BTreeMap<u32, Ticket>) -> Option<String> {
    let table = world.store(&Control::default()).table::<Shadow>();
    let shadows = block_on(table.query(Shadow::rows(TENANT)).collect()).unwrap();
    let is: BTreeMap<u32, String> =
        shadows.into_iter().map(|shadow| (shadow.number, shadow.text.clone())).collect();
    let ought: BTreeMap<u32, String> =
        tickets.iter().map(|(number, ticket)| (*number, format!("{ticket:?}"))).collect();
    (is != ought).then(|| format!("shadows are {is:?}, tickets {ought:?}"))
}

fn comments<T: Case>(world: &World<T>, tickets: &BTreeMap<u32, Ticket>) -> Option<String> {
    let mut is: BTreeMap<u32, i32> = BTreeMap::new();
    let table = world.store(&Control::default()).table::<Comment>();
    for comment in block_on(table.query(Comment::rows(TENANT)).collect()).unwrap() {
        *is.entry(comment.ticket).or_default() += 1;
    }
    let ought = tickets.values().filter(|ticket| ticket.comments > 0);
    let ought: BTreeMap<u32, i32> = ought.map(|ticket| (ticket.number, ticket.comments)).collect();
    (is != ought).then(|| format!("comments are {is:?}, and are said to be {ought:?}"))
}

fn feed<T: Case>(world: &World<T>, tickets: &BTreeMap<u32, Ticket>) -> Vec<String> {
    let feed = Feed::new(world.store(&Control::default()));
    let (table, partition) = (TableName::new("Desk").unwrap(), PartitionKey::new(TENANT).unwrap());
    let entries = block_on(feed.read(&table, &partition, &Cursor::default(), 100_000)).unwrap();
    let last: BTreeMap<String, String> =
        entries.into_iter().map(|entry| (entry.source.as_str().to_owned(), entry.kind)).collect();
    let missing =
        tickets.keys().map(|number| format!("ticket_{number:04}")).filter(|key| !last.contains_key(key));
    let missing = missing.map(|key| format!("{key} has no entry in the feed")).collect::<Vec<_>>();
    let is_there = |key: &str| tickets.keys().any(|number| format!("ticket_{number:04}") == key);
    let other = last.iter().filter(|(key, kind)| is_there(key) == (*kind == "deleted"));
    missing
        .into_iter()
        .chain(other.map(|(key, kind)| format!("the feed says that {key} was {kind}")))
        .collect()
}

fn totals<T: Case>(world: &World<T>, tickets: &BTreeMap<u32, Ticket>) -> Option<String> {
    let mut ought: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for ticket in tickets.values() {
        let total = ought.entry(ticket.agent.clone()).or_default();
        *total = (total.0 + 1, total.1 + ticket.points);
    }
    let table = world.store(&Control::default()).table::<Total>();
    let rows = block_on(table.scan("all sums of a history").max_rows(100).collect()).unwrap();
    let is: BTreeMap<String, (i64, i64)> = rows
        .into_iter()
        .filter(|total| (total.tickets, total.points) != (0, 0))
        .map(|total| (total.agent.clone(), (total.tickets, total.points)))
        .collect();
    (is != ought).then(|| format!("the view has {is:?}, the tickets {ought:?}"))
}
