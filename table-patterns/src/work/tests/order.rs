//! Tests that the steps of an intent are performed in order.

use std::sync::Mutex;

use super::*;

/// A handler that records each message, and fails for the message `fails`.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Handler<Mail> for Log {
    async fn handle(&self, Mail(to): &Mail, _: work::Delivery<'_>) -> Result<()> {
        self.0.lock().unwrap().push(to.clone());
        if to == "fails" { Err(Error::new(ErrorCode::InvalidInput, "refused")) } else { Ok(()) }
    }
}

#[test]
fn pat_ec_2_a_failed_step_stops_the_later_steps_of_the_program() {
    let (outbox, engine, _) = outbox();
    let table = TableName::new("Company").unwrap();
    block_on(engine.create_table(&table)).unwrap();
    let mut transaction =
        Transaction::new(PartitionKey::new("Sales").unwrap(), engine.capabilities().limits).unwrap();
    let call = |to: &str| Step::call(&Mail(to.into())).unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap()).step(call("first")).step(call("fails"));
    outbox.record(&mut transaction, &intent.step(call("last"))).unwrap();
    block_on(outbox.submit(&table, transaction)).unwrap();
    let log = Log::default();
    block_on(Worker::new(outbox).handler(log.clone()).run_once()).unwrap();
    assert_eq!(*log.0.lock().unwrap(), ["first", "fails"]);
}

#[derive(Serialize, Deserialize)]
struct Unversioned;

impl Message for Unversioned {
    const NAME: &'static str = "unversioned";
    const VERSION: u32 = 0;
}

#[test]
fn pat_ec_2_a_message_without_a_version_is_refused_because_patterns_use_version_0() {
    let error = Step::call(&Unversioned).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput);
    assert!(error.to_string().contains("set `VERSION` to 1 or more"), "{error}");
}
