//! A process that changes tickets with every kind of write.

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::{ErrorCode, Result};

use crate::declared::case::{Case, TENANT};
use crate::declared::model::{Model, Ticket};
use crate::declared::world::{Comment, Tickets};

/// Makes several changes, one after another. Any error except a rejection leaves the outcome unknown, and therefore ends the writer.
pub(crate) async fn write<T: Case>(
    tickets: Tickets<T>,
    model: Model,
    owner: u32,
    mut random: StdRng,
) -> Result<()> {
    for _ in 0..random.random_range(1..6) {
        change(&tickets, &model, owner * 10 + random.random_range(0..3), &mut random).await?;
    }
    Ok(())
}

async fn change<T: Case>(
    tickets: &Tickets<T>,
    model: &Model,
    number: u32,
    random: &mut StdRng,
) -> Result<()> {
    let found = tickets.get(T::at(number)).await?;
    let before = found.as_ref().map(|found| found.ticket());
    model.found(number, before.as_ref());
    let mut after = Ticket {
        number,
        status: random.random_range(0..2),
        // There are fewer addresses than tickets. A unique index therefore rejects some tickets.
        mail: format!("{}@contoso.com", random.random_range(0..6)),
        agent: ["ada", "bob", "cao"][random.random_range(0..3)].to_owned(),
        points: random.random_range(1..100),
        comments: before.as_ref().map_or(0, |before| before.comments),
    };
    let Some(found) = found else {
        model.begun(number, Some(&after));
        let outcome = match random.random_range(0..3) {
            0 => tickets.insert(&T::of(after)).await.map(drop),
            1 => tickets.insert_or_replace(&T::of(after)).await.map(drop),
            _ => tickets.insert_or_merge(&T::of(after)).await.map(drop),
        };
        return answered(model, number, outcome);
    };
    let choice = random.random_range(0..8);
    if choice == 0 && after.comments == 0 {
        model.begun(number, None);
        return answered(model, number, tickets.delete(T::at(number), found.etag()).await);
    }
    after.comments += i32::from(choice == 7);
    model.begun(number, Some(&after));
    let entity = T::of(after.clone());
    let outcome = match choice {
        0 | 1 => tickets.replace(&entity, found.etag()).await.map(drop),
        2 => tickets.merge(&entity, found.etag()).await.map(drop),
        3 => tickets.insert_or_replace(&entity).await.map(drop),
        4 => tickets.update(T::at(number), |ticket| ticket.clone_from(&entity)).await.map(drop),
        5 => tickets.update(found, |ticket| ticket.clone_from(&entity)).await.map(drop),
        6 => {
            let mut unit = tickets.unit(T::all())?;
            unit.replace(&found, &entity)?;
            unit.commit().await.map(drop)
        }
        _ => {
            let comment = u32::try_from(after.comments).unwrap();
            let mut unit = tickets.unit(T::all())?;
            unit.replace(&found, &entity)?;
            unit.insert(&Comment { tenant: TENANT.to_owned(), ticket: number, number: comment })?;
            unit.commit().await.map(drop)
        }
    };
    answered(model, number, outcome)
}

fn answered(model: &Model, number: u32, outcome: Result<()>) -> Result<()> {
    match outcome {
        Ok(()) => model.done(number),
        Err(error) if error.code() == ErrorCode::UniqueViolation => model.refused(number),
        Err(error) => return Err(error),
    }
    Ok(())
}
