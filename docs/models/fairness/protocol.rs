//! The reservation protocol. It determines how a transaction attempts to commit, and how it waits for the reservations of other processes.

use crate::fairness::world::{
    Died, Found, LONGEST, LOSSES, MOST_ATTEMPTS, MOST_DELETED, MOST_EXPIRED, MS, PAUSE, Program, Reservation,
    SHORTEST, Store, Transaction, World, found, row,
};
use crate::fairness::{
    CONDITIONAL, DELETES, GIVES_UP, IN_ORDER, IN_QUEUE, KNOWS, MEASURED, NO_HOLD, OWN_CLOCK, PASSES, RECORDS,
    REMOVES_ODD, RENEWS, RESERVES, TIRES, TOUCHES, WAITS, WAITS_ANYWAY,
};

impl World {
    /// Reads the first reservations in the partition.
    async fn look(&self, program: &Program, transaction: &mut Transaction) -> Result<Found, Died> {
        if program.refusals.get() > 0 && !self.holds(WAITS_ANYWAY) {
            return Ok(Found { first: Vec::new(), is_whole: true });
        }
        let mut found = self.request(program, transaction, found).await?;
        if !self.holds(IN_QUEUE) {
            found.first.retain(|known| !known.is_odd());
        }
        if found.first.is_empty() {
            program.expired.set(0);
        }
        Ok(found)
    }

    /// Deletes reservations of other processes, up to the limit for one transaction.
    async fn delete(
        &self,
        program: &Program,
        transaction: &mut Transaction,
        keys: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<(), Died> {
        let keys: Vec<_> = keys.into_iter().take(MOST_DELETED).collect();
        let may_delete = program.may_delete;
        let delete = |store: &mut Store| {
            if may_delete {
                store.reservations.retain(|key, _| !keys.contains(key));
            }
        };
        self.request(program, transaction, delete).await
    }

    /// Returns `true` if the process no longer waits, because several consecutive reservations expired while it was waiting for them.
    fn is_tired(&self, program: &Program) -> bool {
        self.holds(TIRES) && program.expired.get() >= MOST_EXPIRED
    }

    /// Returns the key under which a process remembers a reservation for which it no longer waits. A renewed reservation has a later date.
    fn passed_form(&self, reservation: &Reservation) -> ((u64, u64), i64) {
        (reservation.key(), if self.holds(RENEWS) { reservation.date } else { 0 })
    }

    /// Returns the reservation for which the transaction must wait, if any.
    fn ahead(&self, program: &Program, transaction: &Transaction, found: &Found) -> Option<Reservation> {
        if !self.holds(WAITS) || (!self.holds(IN_ORDER) && transaction.own.is_some()) {
            return None;
        }
        if self.is_tired(program) {
            return None;
        }
        let passed = program.passed.borrow();
        let first = found.first.iter().find(|known| !passed.contains(&self.passed_form(known)));
        first.filter(|first| transaction.own != Some(first.key())).copied()
    }

    /// Waits until the transaction's own reservation comes first, or until no other reservation remains that it must wait for.
    async fn wait(
        &self,
        program: &Program,
        transaction: &mut Transaction,
        mut found: Found,
    ) -> Result<(), Died> {
        let (mut seen, mut waited, mut began, mut read) = (None::<Reservation>, 0, self.now(), MS);
        let start = self.now();
        while let Some(first) = self.ahead(program, transaction, &found) {
            if seen.is_none_or(|seen| seen.key() != first.key()) {
                // The previous reservation is gone. Its owner would have deleted it sooner, so another process has deleted it.
                if seen.is_some_and(|seen| waited >= seen.hold / 2) {
                    program.expired.set(program.expired.get() + 1);
                }
                (seen, waited, began) = (Some(first), 0, self.now());
            }
            let paused = self.now();
            let clock = i64::try_from(paused).unwrap_or(0) + program.ahead;
            let age =
                if self.holds(OWN_CLOCK) { waited } else { u64::try_from(clock - first.date).unwrap_or(0) };
            if first.is_odd() && self.holds(NO_HOLD) {
                program.passed.borrow_mut().insert(self.passed_form(&first));
                seen = None;
                if self.holds(REMOVES_ODD) {
                    let odd = found.first.iter().filter(|known| known.is_odd());
                    self.delete(program, transaction, odd.map(Reservation::key)).await?;
                }
            } else if self.holds(PASSES) && age >= if first.is_odd() { LONGEST } else { first.hold } {
                program.passed.borrow_mut().insert(self.passed_form(&first));
                program.expired.set(program.expired.get() + 1);
                seen = None;
                self.delete(program, transaction, [first.key()]).await?;
            } else {
                if first.is_odd() {
                    self.fail(format!("process {} waits for a row of another form", program.number));
                }
                let pause = (waited / 16).clamp(read, PAUSE);
                self.sleep(pause * 100 / program.speed).await;
            }
            let looking = self.now();
            found = self.look(program, transaction).await?;
            read = (self.now() - looking).clamp(MS, PAUSE);
            // The process measures time with its own clock, which may be too fast or too slow.
            waited += (self.now() - paused) * program.speed / 100;
            if self.now() - start > MOST_EXPIRED * LONGEST {
                program.expired.set(MOST_EXPIRED);
            }
            if self.now() - began > 3 * LONGEST && !transaction.has_paused {
                self.fail(format!("process {} waits for one reservation for too long", program.number));
            }
        }
        Ok(())
    }

    /// Reads the row and the reservations with two concurrent requests. The requests may take effect in either order.
    async fn read_and_look(
        &self,
        program: &Program,
        transaction: &mut Transaction,
    ) -> Result<((u64, u64), Found), Died> {
        let apart = self.below(program.latency / 2 + 1);
        if self.random.one_in(2) {
            let read = self.request(program, transaction, row).await?;
            // The other request was sent at the same time. After this pause, its response has arrived.
            self.sleep(apart).await;
            let found = found(&mut self.store.borrow_mut());
            return Ok((read, found));
        }
        let found = self.look(program, transaction).await?;
        self.sleep(apart).await;
        let read = row(&mut self.store.borrow_mut());
        Ok((read, found))
    }

    /// Reads the row. If other transactions have reserved the partition, waits for them first.
    async fn read(&self, program: &Program, transaction: &mut Transaction) -> Result<(u64, u64), Died> {
        let mut looked = program.is_shared.get() || transaction.own.is_some();
        let (mut read, mut found) = if looked {
            self.read_and_look(program, transaction).await?
        } else {
            (self.request(program, transaction, row).await?, Found::default())
        };
        let is_unknown =
            |read: (u64, u64)| !program.remembers && program.known.get().is_some_and(|known| known != read.1);
        let mut is_shared = is_unknown(read);
        if is_shared && !looked && self.holds(KNOWS) {
            found = self.look(program, transaction).await?;
            looked = true;
        }
        if looked {
            transaction.own = transaction.own.filter(|own| found.may_contain(*own));
        }
        if looked && self.is_tired(program) {
            let own = transaction.own;
            let others = found.first.iter().map(Reservation::key).filter(|key| Some(*key) != own);
            self.delete(program, transaction, others).await?;
            // The next transaction looks again, until no reservation is left.
            is_shared = true;
        }
        if looked && self.ahead(program, transaction, &found).is_some() {
            self.wait(program, transaction, found).await?;
            read = self.request(program, transaction, row).await?;
            is_shared = true;
        }
        if !program.remembers {
            program.known.set(Some(read.1));
        }
        program.is_shared.set(is_shared && self.holds(KNOWS));
        Ok(read)
    }

    /// Writes the row in one attempt of a process that remembers the version of the row. Returns `true` if the row was written.
    async fn commit_remembered(
        &self,
        program: &Program,
        transaction: &mut Transaction,
    ) -> Result<bool, Died> {
        let has_waited = program.is_shared.get();
        if let Some(version) = program.known.take()
            && self.commit(program, transaction, (0, version)).await?
        {
            program.is_shared.set(has_waited);
            return Ok(true);
        }
        let read = self.request(program, transaction, row).await?;
        let is_committed = self.commit(program, transaction, read).await?;
        program.is_shared.set(has_waited || self.holds(RECORDS));
        Ok(is_committed)
    }

    /// Writes the row if it still has the version that was read. Returns `true` if it was written.
    async fn commit(
        &self,
        program: &Program,
        transaction: &mut Transaction,
        (value, version): (u64, u64),
    ) -> Result<bool, Died> {
        let own = transaction.own.filter(|_| self.holds(DELETES));
        if own.is_some() && !program.may_delete {
            // The commit also deletes the transaction's own reservation. This process must not delete, so the entire commit is refused.
            self.request(program, transaction, |_| ()).await?;
            program.refusals.set(program.refusals.get() + 1);
            if program.refusals.get() > 1 {
                self.fail(format!("process {} is refused again and again", program.number));
            }
            if self.holds(GIVES_UP) {
                transaction.own = None;
            }
            return Ok(false);
        }
        let is_conditional = self.holds(CONDITIONAL);
        let committed = self
            .request(program, transaction, |store| {
                if is_conditional && store.version != version {
                    return None;
                }
                // A process that remembers the version of the row does not know its value.
                let value = if program.remembers { store.value } else { value };
                (store.value, store.version) = (value + 1, store.version + 1);
                store.commits += 1;
                own.map(|own| store.reservations.remove(&own));
                Some(store.version)
            })
            .await?;
        if committed.is_some() {
            program.known.set(committed);
        }
        Ok(committed.is_some())
    }

    /// Writes a reservation. The first reservation in the partition also changes the version of the row, so other transactions notice it.
    async fn reserve(&self, program: &Program, transaction: &mut Transaction) -> Result<(), Died> {
        let found = self.look(program, transaction).await?;
        let owner = program.number;
        if program.refusals.get() > 0 && self.holds(GIVES_UP) {
            return Ok(());
        }
        let own = transaction.own.filter(|own| found.may_contain(*own));
        let touches = self.ahead(program, transaction, &found).is_none() && self.holds(TOUCHES);
        let last = found.first.last().map_or(0, |known| known.number);
        let (number, id) = own.unwrap_or((last + 1, self.below(u64::from(u32::MAX))));
        let date = i64::try_from(self.now()).unwrap_or(0) + program.ahead;
        let reservation = Reservation { number, id, owner, hold: transaction.hold, date };
        let reserve = |store: &mut Store| {
            store.reservations.insert((number, id), reservation);
            store.version += u64::from(touches);
        };
        self.request(program, transaction, reserve).await?;
        transaction.own = Some((number, id));
        Ok(())
    }

    pub(super) async fn transaction(&self, program: &Program) -> Result<(), Died> {
        let mut transaction = Transaction::default();
        for attempt in 1.. {
            let began = self.now();
            let read = self.read(program, &mut transaction).await?;
            let reading = self.now();
            let is_committed = if program.remembers {
                self.commit_remembered(program, &mut transaction).await?
            } else {
                self.commit(program, &mut transaction, read).await?
            };
            if is_committed {
                return Ok(());
            }
            let is_bound = !transaction.has_paused && !self.is_hostile && program.may_delete;
            if attempt >= MOST_ATTEMPTS && is_bound {
                self.fail(format!("process {} lost {attempt} attempts", program.number));
            }
            if attempt > 10 * MOST_ATTEMPTS {
                return Ok(());
            }
            transaction.lost += 1;
            program.is_shared.set(self.holds(KNOWS));
            let spent = (self.now() - reading) + (reading - began).min(2 * (self.now() - reading));
            let hold =
                if self.holds(MEASURED) { (4 * spent + 4 * PAUSE).max(2 * transaction.hold) } else { 0 };
            transaction.hold = hold.clamp(SHORTEST, LONGEST);
            let backoff = (MS << transaction.lost.min(7)).min(100 * MS);
            self.sleep(backoff / 2 + self.below(backoff / 2)).await;
            // If a reservation has changed the version of the row, the next attempt may be refused although no other process has written. The attempt is
            // repeated to find out.
            let is_disturbed = !std::mem::take(&mut transaction.has_touched);
            let reserves = transaction.own.is_none() || is_disturbed;
            if transaction.lost >= LOSSES && reserves && self.holds(RESERVES) {
                self.reserve(program, &mut transaction).await?;
                transaction.has_touched = true;
            }
        }
        Ok(())
    }
}
