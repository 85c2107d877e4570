//! Tests writes while each read of the stored schema takes longer than the write lease that it grants (EVO-3).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::store::WriteLease;
use table_core::testing::LimitedStore;
use table_core::{Clock, Engine, ErrorCode, IfMatch, TableStoreExt};

use super::{Employee, employee};
use crate::entities::Entities;
use crate::tests::faults::{Call, Fault, FaultyStore};

#[test]
fn evo_3_a_write_fails_if_each_read_of_the_schema_takes_longer_than_the_lease() {
    let elapsed = Arc::new(AtomicU64::new(0));
    let measured = Arc::clone(&elapsed);
    let clock = Clock::new(|| 0).with_elapsed(move || Duration::from_secs(measured.load(Ordering::SeqCst)));
    let shared = LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.exclusive = None);
    let store = FaultyStore::new(shared);
    let runtime = Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {}));
    let retry = Retry::default().with_runtime(runtime.clone());
    let table = block_on(store.table::<Employee>().with_retry(retry).create_if_missing()).unwrap();
    let entities = Entities::from(table.clone()).with_runtime(runtime);
    block_on(table.insert(&employee(1))).unwrap();
    for write in 0..4 {
        // The first `slow` reads take longer than the lease.
        for slow in 0..10 {
            elapsed.fetch_add(60, Ordering::SeqCst);
            let passes = Arc::clone(&elapsed);
            let mut reads = 0;
            store.script(move |call, _| {
                reads += u32::from(call == Call::Get);
                let passes = Arc::clone(&passes);
                let pass = move || {
                    passes.fetch_add(6, Ordering::SeqCst);
                };
                if call == Call::Get && reads <= slow {
                    Fault::Meanwhile(Box::new(pass))
                } else {
                    Fault::None
                }
            });
            let entity = Employee { age: i32::try_from(slow).unwrap(), ..employee(1) };
            let outcome = match write {
                0 => block_on(table.replace(&entity, IfMatch::Any)).map(drop),
                1 => block_on(table.merge(&entity, IfMatch::Any)).map(drop),
                2 => block_on(entities.insert_or_replace(&entity)).map(drop),
                _ => block_on(entities.bulk().insert_or_replace_all([entity.clone()]))
                    .map(drop)
                    .map_err(|error| error.source),
            };
            let calls = store.calls();
            let count = |of: Call| calls.iter().filter(|call| **call == of).count();
            let is_written = slow < 8;
            assert_eq!(outcome.is_ok(), is_written, "write {write} after {slow} slow reads: {outcome:?}");
            assert_eq!(count(Call::Submit), usize::from(is_written), "write {write} after {slow} slow reads");
            assert_eq!(count(Call::Get), 8.min(slow as usize + 1), "write {write} after {slow} slow reads");
            if let Err(error) = outcome {
                assert!(WriteLease::has_ended(&error) && error.code() == ErrorCode::ServerBusy, "{error}");
                assert!(!error.is_ambiguous());
            }
            store.heal();
            let stored = block_on(table.get(Employee::key("Sales", 1))).unwrap().unwrap();
            assert_eq!(stored.value() == &entity, is_written);
        }
    }
}
