//! Completes the pending work after a history, and checks the results.

use std::time::Duration;

use table_core::{Error, PartitionKey};
use table_patterns::feed::Cursor;
use table_patterns::work::Sweep;
use tokio::time::sleep;

use super::{COUNTED, DEALS, Deal, Increment, Process, STATES, TEAM, Total};

/// Completes all pending work, and checks that the derived rows match the entities.
pub(super) async fn checked(owner: &Process, increments: &[Increment]) -> Result<(), String> {
    let failed = |step: &'static str| move |error: Error| format!("{step}: {error}");
    let mut pending = u64::MAX;
    for _ in 0..8 {
        sleep(Duration::from_secs(800)).await;
        let sweep = Sweep::new(owner.outbox.clone());
        sweep.sweep_registered().await.map_err(failed("sweep"))?;
        owner.worker.run_until_idle().await.map_err(failed("worker"))?;
        pending = sweep.sweep_registered().await.map_err(failed("sweep"))?.pending;
        if pending == 0 {
            break;
        }
    }
    if pending > 0 {
        return Err(format!("{pending} intents remain"));
    }
    let mut is_behind = true;
    for _ in 0..8 {
        is_behind = owner.view.catch_up(1_000).await.map_err(failed("view"))?.is_behind;
        if !is_behind {
            break;
        }
        // A follower whose requests failed may still hold a lease, which expires during this sleep.
        sleep(Duration::from_secs(60)).await;
    }
    if is_behind {
        return Err("the view is still behind".to_owned());
    }
    let found = owner.deals.query(Deal::rows(TEAM)).collect().await.map_err(failed("deals"))?;
    let deals: Vec<Deal> = found.into_iter().collect();
    let report = owner.deals.check().run().await.map_err(failed("check"))?;
    if !report.is_clean() {
        return Err(format!("{:?}", report.findings));
    }
    check_increments(&deals, increments)?;
    check_feed(owner, &deals).await?;
    check_view(owner, &deals).await
}

fn check_increments(deals: &[Deal], increments: &[Increment]) -> Result<(), String> {
    for Increment { id, bit, outcome } in increments {
        let deal = deals.iter().find(|deal| deal.id == *id).ok_or("a counted deal is gone")?;
        let is_applied = deal.cents & (1 << bit) != 0;
        match outcome {
            Ok(()) if !is_applied => return Err(format!("increment {bit} of {id} was lost")),
            Err(error) if is_applied && !error.is_ambiguous() => {
                return Err(format!("increment {bit} of {id} was refused, and is applied: {error}"));
            }
            _ => {}
        }
    }
    // If an increment was applied twice, its bit is carried into the bit of another increment.
    for deal in deals.iter().filter(|deal| deal.id < COUNTED) {
        let own = increments.iter().filter(|increment| increment.id == deal.id);
        let possible = own.fold(0_i64, |sum, increment| sum | 1 << increment.bit);
        if deal.cents & !possible != 0 {
            return Err(format!("{deal:?} has more than its increments, {possible:b}"));
        }
    }
    Ok(())
}

/// Checks that the feed contains each change once, and that applying the changes in order yields the stored deals.
async fn check_feed(owner: &Process, deals: &[Deal]) -> Result<(), String> {
    let (table, team) = (owner.deals.table().name().unwrap(), PartitionKey::new(TEAM).unwrap());
    let entries = owner.deals.feed().read(table, &team, &Cursor::default(), usize::MAX).await;
    let entries = entries.map_err(|error| format!("feed: {error}"))?;
    for id in 0..DEALS {
        let source = format!("deal_{id:02}");
        let of_deal: Vec<_> = entries.iter().filter(|entry| entry.source.as_str() == source).collect();
        let mut is_there = false;
        for entry in &of_deal {
            let follows = match entry.kind.as_str() {
                "inserted" => !is_there,
                _ => is_there,
            };
            if !follows {
                return Err(format!("the feed has {} of {source} out of order: {of_deal:?}", entry.kind));
            }
            is_there = entry.kind != "deleted";
        }
        let stored = deals.iter().find(|deal| deal.id == id);
        if is_there != stored.is_some() {
            return Err(format!("the feed of {source} ends with {:?}", of_deal.last()));
        }
        if let Some(deal) = stored.filter(|deal| deal.id < COUNTED) {
            let updates = of_deal.iter().filter(|entry| entry.kind == "updated").count();
            if updates != deal.cents.count_ones() as usize {
                return Err(format!("the feed has {updates} updates of {deal:?}"));
            }
        }
    }
    Ok(())
}

async fn check_view(owner: &Process, deals: &[Deal]) -> Result<(), String> {
    let rows = owner.view.table().await.map_err(|error| format!("view: {error}"))?;
    for state in STATES {
        let of_state: Vec<&Deal> = deals.iter().filter(|deal| deal.state == state).collect();
        let mut expected: Vec<(String, i64, i64)> =
            of_state.iter().map(|deal| (format!("deal_{:02}", deal.id), 1, deal.cents)).collect();
        let sums = (of_state.len(), of_state.iter().map(|deal| deal.cents).sum::<i64>());
        expected.insert(0, ("all".to_owned(), i64::try_from(sums.0).unwrap(), sums.1));
        let found =
            rows.query(Total::partition(state)).collect().await.map_err(|error| format!("view: {error}"))?;
        let mut found: Vec<_> = found.into_iter().map(|row| (row.row, row.deals, row.cents)).collect();
        // If no deals exist, the view may or may not have a row for their sum.
        if found.first().is_none_or(|row| row.0 != "all") {
            found.insert(0, ("all".to_owned(), 0, 0));
        }
        if found != expected {
            return Err(format!("the view has {found:?} for {state}, expected {expected:?}"));
        }
    }
    Ok(())
}
