//! The page frame: header, navigation, main area and detail pane.

use maud::{DOCTYPE, Markup, html};
use table_core::TableName;
use table_core::schema::StoredSchema;
use table_inspect::keys;
use table_inspect::kind::Kind;

use crate::assets;
use crate::catalog::Known;
use crate::keyed;
use crate::link;
use crate::reader::Cost;
use crate::show;
use crate::state::State;

/// The maximum number of tables in a page's navigation and suggestions. The list of tables shows all of them.
const TABLES: usize = 200;

/// A page with its frame.
#[derive(Default)]
pub(crate) struct Frame<'a> {
    /// The title, which is the last breadcrumb.
    pub(crate) title: String,
    /// The breadcrumb trail: the label and URL of each parent page.
    pub(crate) crumbs: Vec<(String, String)>,
    /// The table shown by the page, if any.
    pub(crate) table: Option<&'a TableName>,
    /// The partition shown by the page, if any.
    pub(crate) partition: Option<&'a str>,
    /// The URL to highlight in the navigation.
    pub(crate) here: &'a str,
    pub(crate) main: Markup,
    pub(crate) aside: Option<Markup>,
}

impl Frame<'_> {
    /// Returns the complete document, with the cost of its reads.
    pub(crate) fn render(&self, state: &State, known: &Known, cost: Cost) -> Markup {
        let layout = if self.aside.is_some() { "page detailed" } else { "page" };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (show::text(&self.title)) " — Tables" }
                    link rel="stylesheet" href={ "/assets/style.css?v=" (assets::VERSION) };
                    script src={ "/assets/script.js?v=" (assets::VERSION) } defer {}
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    (self.header(state, known))
                    div class=(layout) {
                        (self.navigation(state, known))
                        main #main tabindex="-1" {
                            (self.main)
                            @if cost != Cost::default() { (cost_line(cost)) }
                        }
                        @if let Some(aside) = &self.aside { aside aria-label="Detail" { (aside) } }
                    }
                    (keys())
                    div #live.hidden role="status" aria-live="polite" {}
                }
            }
        }
    }

    fn header(&self, state: &State, known: &Known) -> Markup {
        html! {
            header.top {
                a.brand href="/" { "Tables" }
                nav.crumb aria-label="Path" {
                    a href="/" { (show::text(&state.source.name)) }
                    @for (text, address) in &self.crumbs { span.lit aria-hidden="true" { "/" } a href=(address) { (show::stored(text)) } }
                    @if !self.title.is_empty() && !self.here.eq("/") { span.lit aria-hidden="true" { "/" } b aria-current="page" { (show::stored(&self.title)) } }
                }
                span.grow {}
                form.find action="/find" role="search" {
                    input #find name="q" type="search" list="names" placeholder="Find a table" aria-label="Find a table" autocomplete="off";
                    kbd aria-hidden="true" { "/" }
                    datalist #names { @for name in known.tables.iter().take(TABLES) { option value=(name) {} } }
                }
                @if state.is_writable { span.badge.warn { "changes on" } } @else { span.badge { "read-only" } }
                button #help.quiet type="button" aria-label="Keys" title="Keys" { kbd { "?" } }
            }
        }
    }

    fn navigation(&self, state: &State, known: &Known) -> Markup {
        let is_here = |address: &str| (address == self.here).then_some("page");
        html! {
            nav.side aria-label="Tables and partitions" {
                h2 { "Tables" }
                ul.tree {
                    @for name in known.tables.iter().enumerate().filter(|(at, name)| *at < TABLES || self.table == Some(name)).map(|(_, name)| name) {
                        @let is_open = self.table == Some(name);
                        li {
                            a href=(link::table(name, "")) aria-current=[is_here(&link::table(name, ""))] { span { (name) } }
                            @if is_open { (self.partitions(state, known, name)) }
                        }
                    }
                    @if known.tables.is_empty() { li.faint.pad { "none yet" } }
                    @if known.tables.len() > TABLES { li { a.more href="/" { "All " (show::thousands(known.tables.len() as u64)) " tables" } } }
                }
                h2 { "Work" }
                ul.tree {
                    li { a href="/queries" aria-current=[is_here("/queries")] { "Saved queries" } }
                    li { a href="/work" aria-current=[is_here("/work")] { "Outbox and poison" } }
                    @if state.source.queues.is_some() { li { a href="/queues" aria-current=[is_here("/queues")] { "Queues" } } }
                }
                @if state.source.engine.is_some() || state.source.load.is_some() {
                    h2 { "Engine" }
                    ul.tree {
                        li { a href="/load" aria-current=[is_here("/load")] { "Heat of partitions" } }
                        @if state.source.engine.is_some() {
                            li { a href="/growth" aria-current=[is_here("/growth")] { "Growth" } }
                            li { a href="/engine" aria-current=[is_here("/engine")] { "Statistics and checks" } }
                        }
                    }
                }
            }
        }
    }

    /// Returns links to the partitions last shown in the table's tree, without sending a request.
    fn partitions(&self, state: &State, known: &Known, name: &TableName) -> Markup {
        const SHOWN: usize = 30;
        let branches = state.catalog.tree(name);
        let schema = known.of(name).next();
        let current = self
            .partition
            .filter(|current| !branches.iter().take(SHOWN).any(|branch| branch.partition_key == *current));
        html! {
            ul.tree {
                @if let Some(current) = current { li { (branch(name, schema, current, None, true)) } }
                @for found in branches.iter().take(SHOWN) {
                    @let count = if found.is_whole { show::thousands(found.rows as u64) } else { format!("{}+", found.rows) };
                    li { (branch(name, schema, &found.partition_key, Some(count), self.partition == Some(&found.partition_key))) }
                }
                li { a.more href=(link::table(name, "")) { "Partitions" } }
                li { a.more href=(link::table(name, "q")) aria-current=[(self.here == link::table(name, "q")).then_some("page")] { "Query" } }
            }
        }
    }
}

/// Returns the link to a partition in the navigation.
fn branch(
    name: &TableName,
    schema: Option<&StoredSchema>,
    partition_key: &str,
    count: Option<String>,
    is_here: bool,
) -> Markup {
    html! {
        a href=(link::partition(name, partition_key)) aria-current=[is_here.then_some("page")] {
            span.cut { (partition_name(schema, partition_key)) }
            @if let Some(count) = count { span.n { (count) } }
        }
    }
}

/// Returns a `PartitionKey`. Its parts are coloured if it matches the schema.
pub(crate) fn partition_name(schema: Option<&StoredSchema>, partition_key: &str) -> Markup {
    let segments = |schema: &StoredSchema| keys::segments(&schema.partition_key, partition_key);
    match schema.and_then(|schema| Some((schema, segments(schema)?))) {
        Some((schema, segments)) => keyed::coloured(&Kind::Entity(schema), &segments),
        None => show::raw_key(partition_key),
    }
}

/// Returns a horizontal bar without text, to be shown next to the number it represents.
pub(crate) fn bar(length: u64, most: u64) -> Markup {
    html! { svg.bar viewBox={ "0 0 " (most) " 10" } width=(most) height="10" aria-hidden="true" { rect x="0" y="0" width=(length.max(2)) height="10" rx="3" {} } }
}

/// Returns the cost of a page, preceded by a note if its result is incomplete.
fn cost_line(cost: Cost) -> Markup {
    html! {
        p #omitted.note role="status" data-rows=(cost.omitted) hidden[cost.omitted == 0] {
            span.badge.warn { "incomplete" } " " b { (show::count_of(cost.omitted, "row")) } " omitted, because the store cannot represent them as entities."
        }
        p #cost.cost data-requests=(cost.requests) data-rows=(cost.rows) { "This page sent " (show::count_of(cost.requests, "request")) " to the store, which read " (show::count_of(cost.rows, "row")) "." }
    }
}

/// Returns the keyboard shortcuts dialog.
fn keys() -> Markup {
    const KEYS: [(&str, &str); 11] = [
        ("?", "these keys"),
        ("/", "find a table"),
        ("j k", "next and previous row"),
        ("Enter", "open the row"),
        ("x", "mark the row"),
        ("r", "raw keys large or small"),
        ("n p", "next page, back to the first"),
        ("t", "jump to a key"),
        ("q", "query the table"),
        ("e", "edit the entity"),
        ("g", "list of tables"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl { @for (key, meaning) in KEYS { dt { @for one in key.split(' ') { kbd { (one) } " " } } dd { (meaning) } } }
            form method="dialog" { button.btn { "Close" } }
        }
    }
}
