//! Compares the heat (load per partition) of two layouts before any table exists. The key of one layout is a time, and the key of the other is a compound key
//! (PAT-ANTI-1).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use table_advice::{Draw, Report as DryRun, Step, Workload};
use table_core::{Entity, Result};

use crate::data::earthquakes::Earthquake;
use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::earthquake_heat::{HourlyEarthquake, RegionalEarthquake, region};
use crate::recipe::{Recipe, Report};

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "heat",
    question: "If three times the week's earthquakes occurred every second, which key could handle them: the hour or the region?",
    schema: RegionalEarthquake::SCHEMA,
    run: |_, inputs| Box::pin(std::future::ready(run(inputs))),
};

/// The number of times per second that each event is written.
const TIMES: usize = 3;
const PATTERN: &str = "report an earthquake";

type Write = fn(&Earthquake, DateTime<Utc>) -> Result<Step>;

fn run(inputs: &Inputs) -> Result<Report> {
    let by_hour = dry_run("by hour", inputs, |event, time| Step::write(&HourlyEarthquake::at(event, time)))?;
    let by_region = dry_run("by network and region", inputs, |event, time| {
        Step::write(&RegionalEarthquake::at(event, time))
    })?;

    let mut of_region: HashMap<(&str, &str), usize> = HashMap::new();
    for event in &inputs.earthquakes {
        *of_region.entry((&event.network, region(event))).or_default() += 1;
    }
    let most = of_region.values().copied().max().unwrap_or_default();
    assert_eq!(by_region.heat().partitions(), of_region.len());
    #[expect(clippy::cast_precision_loss, reason = "a few thousand are represented exactly")]
    let share = most as f64 / inputs.earthquakes.len() as f64;
    assert!(
        (by_region.peak().share - share).abs() < 1e-9,
        "each second has every event as often as the others"
    );
    assert!((by_hour.peak().share - 1.0).abs() < 1e-9, "an hour takes all that comes in it");
    by_region.require_no_throttling()?;
    let advised = by_hour.require_max_partition_share(0.5).err();
    assert!(by_hour.require_no_throttling().is_err() && advised.is_some());

    let mut answer = Grid::new(["Layout", "#Partitions", "Hottest", "#Share", "#Throttled"]);
    for (layout, report) in [("hour", &by_hour), ("network and region", &by_region)] {
        let peak = report.peak();
        let cells = [
            layout.to_owned(),
            report.heat().partitions().to_string(),
            peak.partition_key,
            format!("{:.1} %", peak.share * 100.0),
            thousands(report.throttling().refused_load),
        ];
        answer.row(cells);
    }
    let mut shown = Report::new("", answer);
    for report in [&by_hour, &by_region] {
        for line in report.heat_map().to_string().lines() {
            shown = shown.note(line);
        }
    }
    Ok(match advised {
        Some(advice) => shown.note(advice.to_string()),
        None => shown,
    })
}

/// Writes each event several times at simulated times, starting with the earliest event. The simulated times include the end of an hour.
fn dry_run(layout: &str, inputs: &Inputs, write: Write) -> Result<DryRun> {
    let events: Vec<Earthquake> = inputs.earthquakes.iter().rev().cloned().collect();
    let start = DateTime::from_timestamp(1_517_961_595, 0).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand are represented exactly")]
    let per_second = (events.len() * TIMES) as f64;
    let next = move |draw: &mut Draw<'_>| {
        let place = usize::try_from(draw.number()).unwrap_or_default() % events.len().max(1);
        events.get(place).map_or_else(|| Ok(Step::default()), |event| write(event, draw.instant()))
    };
    Workload::new(layout).seconds(10).start(start).pattern(PATTERN, per_second, next).run()
}
