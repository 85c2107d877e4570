//! The random changes of a writer: how they are chosen, their effect on the model, and how they are made.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use table_core::{IfMatch, Result};
use table_patterns::large::whole;
use table_patterns::series::SeriesRow;

use crate::together::desk::{Comment, PEOPLE, TENANT, Ticket};
use crate::together::patterns::Pattern;
use crate::together::run::{NUMBERS, Run};
use crate::together::world::{Known, Model, Process};

/// A change to one or two tickets.
#[expect(clippy::large_enum_variant, reason = "a handful of them, each used at once")]
#[derive(Clone, Debug)]
pub(super) enum Verb {
    Insert(Ticket),
    Put(Ticket),
    Replace(Ticket),
    Update(Ticket),
    Patch(i64),
    Delete,
    /// Writes both tickets in one transaction.
    Unit(Ticket, Ticket),
    Comment(u32),
    Photo(String),
    /// Sets the value of a slot.
    Hour(Ticket, usize, i64),
    /// Adds to the value of a slot.
    Work(Ticket, usize, i64),
}

impl Run {
    fn of(&mut self, pattern: Pattern, values: &[&str]) -> Option<String> {
        let is_set = self.has(pattern) && self.rng.random_bool(0.8);
        is_set.then(|| values[self.rng.random_range(0..values.len())].to_owned())
    }

    fn ticket(&mut self, number: u32) -> Ticket {
        // Each ticket has its own range of badges. If two tickets had the same badge, an operator would have to decide between them.
        let badge = self.has(Pattern::UniqueElsewhere).then(|| number * 10 + self.rng.random_range(0..3));
        Ticket {
            tenant: TENANT.to_owned(),
            number,
            status: self.of(Pattern::Index, &["open", "closed"]),
            mail: self.of(Pattern::Unique, &["ada", "bob", "cyd"]),
            agent: self.of(Pattern::List, &["joan", "kim"]),
            queue: self.of(Pattern::IndexElsewhere, &["mail", "phone"]),
            badge,
            tag: self.of(Pattern::ListElsewhere, &["red", "blue"]),
            amount: self.rng.random_range(0..100),
            photo: None,
            owner: self.has(Pattern::Copies).then(|| self.rng.random_range(0..PEOPLE)),
            owner_name: None,
        }
    }

    pub(super) fn verb(&mut self, number: u32) -> Verb {
        let ticket = self.ticket(number);
        if self.has(Pattern::Series) && self.rng.random_bool(0.2) {
            let (hour, work) = (self.rng.random_range(0..3), self.rng.random_range(1..100));
            let ticket = self.model.get(&number).map_or(ticket, |known| known.ticket.clone());
            let verb = if self.rng.random_bool(0.5) { Verb::Hour } else { Verb::Work };
            return verb(ticket, hour, work);
        }
        match self.rng.random_range(0..16) {
            0..=2 => Verb::Insert(ticket),
            3..=4 => Verb::Put(ticket),
            5 => Verb::Replace(ticket),
            8 => Verb::Patch(ticket.amount),
            9..=10 => Verb::Delete,
            11..=12 if self.has(Pattern::Unit) => {
                let other = self.ticket((number + 1) % NUMBERS);
                Verb::Unit(ticket, other)
            }
            13 if self.has(Pattern::Parts) => Verb::Comment(self.rng.random_range(0..20)),
            14..=15 if self.has(Pattern::Blob) => Verb::Photo(format!("photo {}", ticket.amount)),
            _ => Verb::Update(ticket),
        }
    }

    /// Returns the model after a change to a ticket, or `None` if the change is impossible.
    pub(super) fn after(&self, number: u32, verb: &Verb) -> Option<Model> {
        let mut model = self.model.clone();
        let bare = |ticket: &Ticket, old: Option<&Known>| Known {
            ticket: ticket.clone(),
            photo: None,
            comments: old.map(|old| old.comments.clone()).unwrap_or_default(),
            hours: BTreeMap::new(),
        };
        let old = self.model.get(&number);
        match verb {
            Verb::Insert(_) if old.is_some() => return None,
            Verb::Insert(ticket) | Verb::Put(ticket) => drop(model.insert(number, bare(ticket, old))),
            Verb::Replace(ticket) => drop(model.insert(number, bare(ticket, Some(old?)))),
            Verb::Update(ticket) => {
                let old = old?.clone();
                let ticket = Ticket { photo: old.ticket.photo.clone(), ..ticket.clone() };
                model.insert(number, Known { ticket, ..old });
            }
            Verb::Patch(amount) => model.get_mut(&number)?.ticket.amount = *amount,
            Verb::Delete => drop(model.remove(&number)?),
            Verb::Unit(one, other) => {
                for (ticket, slots) in [(one, true), (other, false)] {
                    let known = bare(ticket, self.model.get(&ticket.number));
                    let old = self.model.get(&ticket.number).map(|old| old.hours.clone());
                    let hours = if slots { self.hours(ticket) } else { old.unwrap_or_default() };
                    model.insert(ticket.number, Known { hours, ..known });
                }
            }
            Verb::Comment(comment) => {
                if !model.get_mut(&number)?.comments.insert(*comment) {
                    return None;
                }
            }
            Verb::Photo(text) => model.get_mut(&number)?.photo = Some(text.clone()),
            Verb::Hour(ticket, hour, work) => {
                model.entry(number).or_insert_with(|| bare(ticket, None)).hours.insert(*hour, *work);
            }
            Verb::Work(ticket, hour, work) => {
                let known = model.entry(number).or_insert_with(|| bare(ticket, None));
                *known.hours.entry(*hour).or_default() += work;
            }
        }
        let mails: Vec<_> = model.values().filter_map(|known| known.ticket.mail.as_ref()).collect();
        (mails.len() == mails.iter().collect::<BTreeSet<_>>().len()).then_some(model)
    }

    /// Returns the values of the slots set in a ticket by a unit of work (a transaction of several entities).
    fn hours(&self, ticket: &Ticket) -> BTreeMap<usize, i64> {
        let hours = [(usize::try_from(ticket.amount % 3).unwrap(), ticket.amount)];
        hours.into_iter().filter(|_| self.has(Pattern::Series)).collect()
    }

    pub(super) async fn write(&self, process: &Process, number: u32, verb: &Verb) -> Result<()> {
        let (tickets, key) = (self.world.tickets(process), || Ticket::key(TENANT, number));
        match verb {
            Verb::Insert(ticket) => tickets.insert(ticket).await.map(drop),
            Verb::Put(ticket) => tickets.insert_or_replace(ticket).await.map(drop),
            Verb::Replace(ticket) => tickets.replace(ticket, IfMatch::Any).await.map(drop),
            Verb::Update(new) => {
                let change = |ticket: &mut Ticket| {
                    let photo = ticket.photo.take();
                    *ticket = Ticket { photo, ..new.clone() };
                };
                tickets.update(key(), change).await.map(drop)
            }
            Verb::Patch(amount) => tickets.patch(key()).set(Ticket::AMOUNT, *amount).send().await.map(drop),
            Verb::Delete if self.has(Pattern::Parts) => {
                self.world.tickets(process).delete_with_parts(key()).await.map(drop)
            }
            Verb::Delete => tickets.delete(key(), IfMatch::Any).await,
            Verb::Unit(one, other) => {
                let mut unit = tickets.unit(Ticket::partition(TENANT))?;
                if self.has(Pattern::Series) {
                    let old = self.world.series(process).get(Ticket::key(TENANT, one.number)).await?;
                    let mut row = SeriesRow::new(one.clone());
                    for (hour, work) in self.hours(one) {
                        *row.slot_mut(hour)? = Some(work);
                    }
                    unit.put_series(old.as_ref(), &row)?;
                } else {
                    unit.save(tickets.get(Ticket::key(TENANT, one.number)).await?.as_ref(), one)?;
                }
                // The unit of work saves the other ticket, which must keep the values of all its slots.
                unit.save(tickets.get(Ticket::key(TENANT, other.number)).await?.as_ref(), other)?;
                unit.commit().await.map(drop)
            }
            Verb::Comment(comment) => {
                let (tenant, text) = (TENANT.to_owned(), "so it is".to_owned());
                let comment = Comment { tenant, ticket: number, number: *comment, text };
                self.world.tickets(process).insert_part(key(), &comment).await
            }
            Verb::Photo(text) => {
                let content = [Ticket::PHOTO_BLOB.content(whole(text.clone()))];
                self.world.large(process).set(key(), content).await.map(drop)
            }
            Verb::Hour(ticket, hour, work) => {
                self.world.series(process).set(ticket, *hour, *work).await.map(drop)
            }
            Verb::Work(ticket, hour, work) => {
                self.world.series(process).increment(ticket, *hour, *work).await.map(drop)
            }
        }
    }
}
