use chrono::{DateTime, TimeDelta, Utc};
use table_advice::meter::Meter;
use table_patterns::{
    ETag, Engine, Entity, ErrorCode, IfMatch, Result, Table, TableStore, TableStoreExt, ticks,
};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Users")]
#[partition_key(tenant)]
#[row_key("user_", id)]
struct User {
    tenant: String,
    #[digits(6)]
    id: u32,
    login: String,
}

/// A row for each login that is in use or reserved for a new user.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins")]
#[partition_key(login)]
#[row_key("login")]
struct Reservation {
    login: String,
    tenant: String,
    user: u32,
    /// `None` once the user row has been written.
    expires: Option<DateTime<Utc>>,
}

struct Users<S> {
    users: Table<User, S>,
    logins: Table<Reservation, S>,
}

impl Reservation {
    fn is_of(&self, user: &User) -> bool {
        (&self.tenant, self.user) == (&user.tenant, user.id)
    }
}

impl<S: TableStore + Clone> Users<S> {
    async fn open(store: &S) -> Result<Self> {
        let users = store.table::<User>().create_if_missing().await?;
        let logins = store.table::<Reservation>().create_if_missing().await?;
        Ok(Self { users, logins })
    }

    /// Reserves the user's login. Returns `None` if another user has it.
    async fn reserve(&self, user: &User, now: DateTime<Utc>) -> Result<Option<ETag>> {
        let mine = Reservation {
            login: user.login.clone(),
            tenant: user.tenant.clone(),
            user: user.id,
            expires: Some(now + TimeDelta::minutes(5)),
        };
        let taken = match self.logins.insert(&mine).await {
            Ok(etag) => return Ok(Some(etag)),
            Err(error) if error.code() == ErrorCode::EntityAlreadyExists => error,
            Err(error) => return Err(error),
        };
        let Some(found) = self.logins.get(Reservation::key(&user.login)).await? else {
            return Err(taken); // released in between: the caller retries
        };
        if found.is_of(user) {
            return Ok(Some(found.etag().clone())); // an earlier attempt
        }
        let owner = self.users.get(User::key(&found.tenant, found.user)).await?;
        let is_used = owner.is_some_and(|owner| owner.login == found.login);
        if is_used || found.expires.is_some_and(|expires| now < expires) {
            return Ok(None);
        }
        // This fails if another registration has replaced the reservation in the meantime.
        match self.logins.replace(&mine, found.etag()).await {
            Ok(etag) => Ok(Some(etag)),
            Err(error) if error.is_precondition_failed() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Registers a user. Returns `false` if another user has the login. Idempotent.
    async fn register(&self, user: &User, now: DateTime<Utc>) -> Result<bool> {
        let Some(reserved) = self.reserve(user, now).await? else { return Ok(false) };
        self.finish(user, reserved).await
    }

    /// Writes the user and confirms the reservation, unless another user has taken it over.
    async fn finish(&self, user: &User, mut reserved: ETag) -> Result<bool> {
        let confirmed = Reservation {
            login: user.login.clone(),
            tenant: user.tenant.clone(),
            user: user.id,
            expires: None,
        };
        loop {
            let written = self.users.insert_or_replace(user).await?;
            match self.logins.replace(&confirmed, reserved).await {
                Ok(_) => return Ok(true),
                Err(error) if error.is_precondition_failed() || error.is_not_found() => {}
                Err(error) => return Err(error),
            }
            let now = self.logins.get(Reservation::key(&user.login)).await?;
            if let Some(now) = now.filter(|now| now.is_of(user)) {
                // Another attempt of this registration changed the reservation. The user is written
                // again, because an attempt that was refused earlier may be about to delete the user.
                reserved = now.etag().clone();
                continue;
            }
            // The reservation has expired, and another user has taken it over.
            return match self.users.delete(User::key(&user.tenant, user.id), written).await {
                Err(error) if !error.is_not_found() => Err(error),
                _ => Ok(false),
            };
        }
    }

    /// Deletes a user and releases the login. Idempotent.
    async fn remove(&self, user: &User) -> Result<()> {
        let reservation = self.logins.get(Reservation::key(&user.login)).await?;
        match self.users.delete(User::key(&user.tenant, user.id), IfMatch::Any).await {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
        let Some(mine) = reservation.filter(|found| found.is_of(user)) else { return Ok(()) };
        match self.logins.delete(Reservation::key(&user.login), mine.etag()).await {
            Err(error) if error.is_precondition_failed() || error.is_not_found() => Ok(()),
            outcome => outcome,
        }
    }
}

fn user(tenant: &str, id: u32, login: &str) -> User {
    User { tenant: tenant.into(), id, login: login.into() }
}

#[pollster::main]
async fn main() -> Result<()> {
    let meter = Meter::new(Engine::in_memory());
    let users = Users::open(&meter).await?;
    meter.take(); // counts from here
    let now = ticks::now();
    let ada = user("contoso", 1, "ada");
    assert!(users.register(&ada, now).await?);
    assert_eq!(meter.take().requests, 3);
    assert!(users.register(&ada, now).await?); // repeated after a lost response

    // A user of another tenant requests the same login.
    meter.take();
    assert!(!users.register(&user("adatum", 7, "ada"), now).await?);
    assert_eq!(meter.take().requests, 3);

    // A program stops before it writes the user. The login is free after five minutes.
    let lost = user("contoso", 2, "grace");
    let reserved = users.reserve(&lost, now).await?.expect("free");
    let grace = user("adatum", 8, "grace");
    assert!(!users.register(&grace, now).await?);
    assert!(users.register(&grace, now + TimeDelta::minutes(6)).await?);

    // The first program then continues. It is refused, and the user that it writes is deleted.
    assert!(!users.finish(&lost, reserved).await?);
    assert!(users.users.get(User::key("contoso", 2)).await?.is_none());

    users.remove(&ada).await?;
    assert!(users.register(&user("adatum", 7, "ada"), now).await?);
    Ok(())
}

#[cfg(test)]
mod tests;
