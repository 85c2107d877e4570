//! Compares units with random writes to a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A write to one ticket.
#[derive(Clone, Debug)]
struct Act {
    verb: u8,
    number: u32,
    status: u8,
    agent: u32,
    /// The request that fails. The flag is `true` if the request is applied before it fails.
    fault: Option<(usize, bool)>,
}

fn act() -> impl Strategy<Value = Act> {
    let fault = proptest::option::weighted(0.2, (0..8_usize, any::<bool>()));
    (0..9_u8, 0..4_u32, 0..3_u8, 0..3_u32, fault).prop_map(|(verb, number, status, agent, fault)| Act {
        verb,
        number,
        status,
        agent,
        fault,
    })
}

impl Act {
    fn run(&self, tickets: &Tickets) -> Result<()> {
        let new = ticket(
            self.number,
            ["open", "waiting", "closed"][usize::from(self.status)],
            &format!("subject {}", self.number),
            self.agent,
        );
        let key = || Ticket::key("contoso", self.number);
        let change = |ticket: &mut Ticket| (ticket.status, ticket.agent) = (new.status.clone(), new.agent);
        match self.verb {
            0 => block_on(tickets.insert(&new)).map(drop),
            1 => block_on(tickets.insert_or_replace(&new)).map(drop),
            2 => block_on(tickets.replace(&new, IfMatch::Any)).map(drop),
            3 => block_on(tickets.merge(&new, IfMatch::Any)).map(drop),
            4 => block_on(tickets.patch(key()).set(Ticket::STATUS, new.status.clone()).send()).map(drop),
            5 => block_on(tickets.update(key(), change)).map(drop),
            6 => block_on(tickets.delete(key(), IfMatch::Any)),
            7 => block_on(tickets.bulk().insert_all([&new])).map(drop).map_err(|error| error.source),
            _ => {
                let read = block_on(tickets.get(key()))?;
                let mut unit = unit(tickets);
                unit.save(read.as_ref(), &new)?;
                block_on(unit.commit()).map(drop)
            }
        }
    }
}

proptest! {
    /// Tests that the indexes, the feed, the audit rows and the intents match the committed changes, for any writes and failures.
    #[test]
    fn pat_intra_4_every_verb_maintains_all_patterns_of_the_entity(acts in proptest::collection::vec(act(), 1..25)) {
        let (store, tickets) = desk();
        let mut changes = 0;
        let mut last: BTreeMap<u32, Ticket> = BTreeMap::new();
        let mut expected: Vec<String> = Vec::new();
        for act in acts {
            if let Some((number, is_done)) = act.fault {
                let code = ErrorCode::InternalError;
                store.script(move |_, at| match at == number {
                    true if is_done => Fault::After(code),
                    true => Fault::Before(code),
                    false => Fault::None,
                });
            }
            let done = act.run(&tickets);
            store.heal();
            let now = block_on(tickets.get(Ticket::key("contoso", act.number))).unwrap();
            let now = now.map(table_core::Versioned::into_value);
            let was = last.get(&act.number).cloned();
            let audited = rows(&store, "audit_").len();
            prop_assert!(audited == changes || audited == changes + 1, "{:?}: {:?}", act, done);
            if audited > changes {
                expected.push(format!("{}: {} > {}", act.number, text(was.as_ref()), text(now.as_ref())));
            } else {
                prop_assert_eq!(&was, &now, "{:?}", act);
            }
            changes = audited;
            match now {
                Some(now) => drop(last.insert(act.number, now)),
                None => drop(last.remove(&act.number)),
            }
        }
        let trail = block_on(store.table::<Audit>().query(Audit::rows("contoso")).collect()).unwrap();
        let mut trail: Vec<_> = trail.into_iter().map(|audit| audit.change).collect();
        trail.sort();
        expected.sort();
        prop_assert_eq!(trail, expected);
        let feed = tickets.feed();
        let contoso = PartitionKey::new("contoso").unwrap();
        let table = tickets.table().name().unwrap();
        let entries = block_on(feed.read(table, &contoso, &Cursor::default(), usize::MAX)).unwrap();
        prop_assert_eq!(entries.len(), changes);
        let report = block_on(tickets.check().run()).unwrap();
        let here = report.findings.iter().filter(|found| found.index != "Subjects").count();
        prop_assert_eq!(here, 0, "{:?}", report.findings);
    }
}
