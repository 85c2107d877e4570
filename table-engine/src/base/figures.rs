//! Input for the merge [policy](super::policy): the layer sizes, entry counts and merge condition of each segment.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::Base;
use crate::base::policy::{self, Condition, Debt, Figures};
use crate::base::run::Run;
use crate::base::version::Segment;
use crate::key::Span;

impl Base {
    /// Returns how urgent the pending merges are.
    pub(crate) fn debt(&self) -> Debt {
        let figures = self.figures();
        if policy::choose(&figures, self.run_bytes, self.merges.turn).is_some() {
            policy::urgency(&figures, self.run_bytes)
        } else if self.merges.compact.is_some()
            || self.stored.meta.dropped.iter().any(|table| !self.has_rows_of(*table))
        {
            Debt::Some
        } else {
            Debt::None
        }
    }

    /// Returns the merge policy's input for each segment.
    pub(super) fn figures(&self) -> Vec<Figures> {
        let mut dead = BTreeSet::new();
        for table in &self.stored.meta.dropped {
            dead.extend(self.holding(&Span::table(*table)));
        }
        let figures_of = |(index, segment): (usize, &Arc<Segment>)| {
            let layers = segment.layers.iter().map(|layer| layer.weight).collect();
            let mut figures = Figures { layers, condition: Condition::Usual };
            let is_old = |first_new: u64| segment.layers.iter().any(|layer| layer.run.number < first_new);
            let compacts = self.merges.compact.is_some_and(is_old) && !figures.is_settled();
            if let Some(apart) = self.merges.apart.condition(segment) {
                figures.condition = apart;
            } else if dead.contains(&index) || compacts {
                figures.condition = Condition::Required;
            }
            figures
        };
        self.version.segments().iter().enumerate().map(figures_of).collect()
    }

    /// Returns `true` if the base may contain rows of the given table.
    pub(super) fn has_rows_of(&self, table: u32) -> bool {
        self.holding(&Span::table(table)).next().is_some()
    }

    /// Returns the positions of the segments that may contain keys in a span. The indexes of their runs are used. If an index cannot be read, its run is
    /// treated as if it might contain any key.
    fn holding(&self, span: &Span) -> impl Iterator<Item = usize> {
        let from = self.version.find(&span.start);
        let segments = self.version.segments().iter().enumerate().skip(from);
        let within = segments.take_while(|(_, segment)| *segment.start < *span.end);
        within.filter_map(|(index, segment)| {
            let start = (&*segment.start).max(span.start.as_slice());
            let end = self.version.end(index).map_or(span.end.as_slice(), |end| end.min(span.end.as_slice()));
            let holds = |run: &Run| {
                run.may_hold(start, Some(end))
                    && run
                        .directory()
                        .map_or(true, |directory| !directory.within(start, Some(end)).is_empty())
            };
            segment.layers.iter().any(|layer| holds(&layer.run)).then_some(index)
        })
    }
}
