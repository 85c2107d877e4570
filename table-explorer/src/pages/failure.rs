//! The page for a failure, with a description, the error code and rule, and advice.

use http::Response;
use maud::{DOCTYPE, Markup, html};

use crate::assets;
use crate::failure::Failure;
use crate::frame::Frame;
use crate::pages::Context;
use crate::response::{self, Body};
use crate::show;

/// Returns the failure page for a request within the session, with the navigation.
pub(crate) fn page(context: &Context<'_>, failure: &Failure) -> Response<Body> {
    let frame = Frame { title: "Not shown".to_owned(), main: report(failure), ..Frame::default() };
    response::page(failure.status(), frame.render(context.state, &context.known, context.reader.cost()))
}

/// Returns the failure page without navigation, for a request without a session or if the tables cannot be listed.
pub(crate) fn outside(failure: &Failure) -> Response<Body> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Tables" }
                link rel="stylesheet" href={ "/assets/style.css?v=" (assets::VERSION) };
            }
            body { main.alone { (report(failure)) } }
        }
    };
    response::page(failure.status(), markup)
}

fn report(failure: &Failure) -> Markup {
    html! {
        h1 { "This page cannot be shown" }
        div.report role="alert" {
            p { (show::text(&failure.to_string())) }
            @if let Some((code, rule)) = failure.code() {
                p.faint { "Code " code { (code) } @if let Some(rule) = rule { ", rule " code { (rule) } } }
            }
            @if let Some(step) = failure.next_step() { p { (step) } }
        }
    }
}
