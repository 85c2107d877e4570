//! A recipe that evaluates a design before deployment. From a workload, it computes the partition load, the next split, the partition keys that are near their
//! size limit, and alternative level orders.

use table_advice::{Design, Distribution, Step, Workload};
use table_core::selection::Selection;
use table_core::{Entity, Result};

use super::Shown;

#[derive(Clone, Debug, Entity)]
#[entity(table = "Events")]
#[partition_key(tenant, user)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    #[digits(10)]
    number: u64,
    body: String,
}

pub(super) fn run() -> Result<Shown> {
    // A few tenants produce most events, and each tenant has one user with many events.
    let (tenants, users) = (Distribution::zipf(40, 1.1)?, Distribution::zipf(60, 1.2)?);
    let asked = tenants.clone();
    let workload = Workload::new("events of tenants")
        .seconds(120)
        .pattern("store", 80.0, move |draw| {
            let (tenant, user) = (format!("t{:02}", draw.of(&tenants)), format!("u{:02}", draw.of(&users)));
            Step::write(&Event { tenant, user, number: draw.number(), body: "x".repeat(700) })
        })
        .pattern("latest of a tenant", 40.0, move |draw| {
            let tenant = format!("t{:02}", draw.of(&asked));
            Step::read(&Selection::from(Event::within(tenant)), 20, 20 * 1_500)
        });
    let design = Design::of::<Event>()
        .partitions(2)
        .days(21.0)
        .question("by tenant", &["tenant"])
        .question("by tenant and user", &["tenant", "user"])
        .question("by user", &["user"]);
    let container = workload.run()?.container(&design)?;
    let advice = match container.max_full(0.8) {
        Ok(()) => String::new(),
        Err(error) => format!("advice: {error}\n"),
    };
    let text = format!("A design on paper, with a workload of three weeks\n\n{container}{advice}");
    Ok(Shown { name: "design", text, picture: Some(container.svg()) })
}
