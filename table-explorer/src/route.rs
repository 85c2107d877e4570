//! Request routing by path.

use std::sync::Arc;

use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{HeaderValue, Method, Response, StatusCode};

use crate::assets;
use crate::failure::{Failure, Result};
use crate::pages::{self, Context};
use crate::request::Request;
use crate::response::{self, Body};
use crate::session;
use crate::state::State;

/// Handles a request to the given host.
pub(crate) async fn answer(state: &Arc<State>, request: http::Request<Bytes>, host: &str) -> Response<Body> {
    let request = Request::new(request);
    match admit(state, &request, host) {
        Ok(Admitted::Answered(response)) => return response,
        Ok(Admitted::Open) => {}
        Err(failure) => return pages::failure::outside(&failure),
    }
    let known = match state.catalog.known(&state.source.tables).await {
        Ok(known) => known,
        Err(failure) => return pages::failure::outside(&failure),
    };
    let reader = state.reader();
    let context = Context { state, request: &request, known, reader };
    match page(&context).await {
        Ok(response) => response,
        Err(failure) => pages::failure::page(&context, &failure),
    }
}

/// The outcome of the checks that precede every page.
enum Admitted {
    /// The response to a request that needs no session.
    Answered(Response<Body>),
    /// The request belongs to the session.
    Open,
}

fn admit(state: &State, request: &Request, host: &str) -> Result<Admitted> {
    let named = session::check_host(&request.headers, host)?;
    if let [folder, name] = request.path.as_slice()
        && folder == "assets"
    {
        let missing = || Failure::NotFound("this asset does not exist".to_owned());
        return assets::asset(name).map(Admitted::Answered).ok_or_else(missing);
    }
    let is_open = state.session.is_open(&request.headers, host);
    if let Some(token) = request.query("token").filter(|_| request.path.is_empty()) {
        // A prefetch does not consume the token, because the browser may never show the response.
        let is_opened = request.method == Method::GET && session::is_navigation(&request.headers);
        if let Some(cookie) =
            Some(token).filter(|_| is_opened).and_then(|token| state.session.begin(token, host))
        {
            let mut response = response::see_other("/");
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            return Ok(Admitted::Answered(response));
        }
        if is_open {
            return Ok(Admitted::Answered(response::see_other("/")));
        }
    }
    if !is_open {
        let text = "this browser has no session; open the address that `tables explore` printed. It is valid once: start the explorer again for another browser";
        return Err(Failure::Forbidden(text.to_owned()));
    }
    if request.method == Method::POST {
        state.session.check_form(&request.headers, request.field("csrf"), &named)?;
    } else if request.method != Method::GET && request.method != Method::HEAD {
        return Err(Failure::Input(format!("the method {} is not supported here", request.method)));
    }
    Ok(Admitted::Open)
}

async fn page(context: &Context<'_>) -> Result<Response<Body>> {
    let path: Vec<&str> = context.request.path.iter().map(String::as_str).collect();
    if context.request.method == Method::POST {
        return post(context, &path).await;
    }
    let markup = match path.as_slice() {
        [] => pages::tables::page(context).await?,
        ["find"] => return Ok(pages::tables::find(context)),
        ["queries"] => pages::queries::page(context).await?,
        ["queues"] => pages::queues::page(context).await?,
        ["work"] => pages::work::page(context).await?,
        ["load"] => pages::load::page(context),
        ["load", "events"] => return pages::load::events(context),
        ["growth"] => pages::growth::page(context).await?,
        ["engine"] => pages::engine::page(context, None)?,
        ["t", table] => pages::table::page(context, &context.table(table)?).await?,
        ["t", table, "p"] => pages::partition::page(context, &context.table(table)?).await?,
        ["t", table, "layout"] => pages::layout::page(context, &context.table(table)?).await?,
        ["t", table, "jump"] => return Ok(pages::partition::jump(context, &context.table(table)?)),
        ["t", table, "e"] => pages::entity::page(context, &context.table(table)?).await?,
        ["t", table, "v"] => return pages::value::page(context, &context.table(table)?).await,
        ["t", table, "q"] => pages::query::page(context, &context.table(table)?).await?,
        ["t", table, "plan"] => pages::query::fragment(context, &context.table(table)?),
        ["t", table, "export"] => return pages::export::answer(context, &context.table(table)?).await,
        ["t", table, "edit"] => pages::change::edit(context, &context.table(table)?).await?,
        ["t", table, "new"] => pages::change::new(context, &context.table(table)?).await?,
        ["t", table, "paste"] => pages::paste::page(context, &context.table(table)?).await?,
        ["t", table, "size"] => pages::heat::page(context, &context.table(table)?).await?,
        ["t", table, "feed"] => pages::feed::page(context, &context.table(table)?).await?,
        ["t", table, "events"] => return pages::feed::events(context, &context.table(table)?),
        _ => return Err(Failure::NotFound("no page has this address".to_owned())),
    };
    Ok(response::page(StatusCode::OK, markup))
}

async fn post(context: &Context<'_>, path: &[&str]) -> Result<Response<Body>> {
    match path {
        ["engine", "verify"] => {
            let report = pages::engine::verify(context).await?;
            Ok(response::page(StatusCode::OK, pages::engine::page(context, Some(&report))?))
        }
        ["work", "requeue"] => pages::work::requeue(context).await,
        ["t", table, "save"] => pages::change::save(context, &context.table(table)?).await,
        ["t", table, "insert"] => pages::change::insert(context, &context.table(table)?).await,
        ["t", table, "delete"] => pages::change::delete(context, &context.table(table)?).await,
        ["t", table, "marked"] => pages::bulk::preview(context, &context.table(table)?).await,
        ["t", table, "delete-marked"] => pages::bulk::delete(context, &context.table(table)?).await,
        ["t", table, "paste"] => pages::paste::post(context, &context.table(table)?).await,
        ["t", table, "keep"] => pages::queries::keep(context, &context.table(table)?).await,
        ["queries", "forget"] => pages::queries::forget(context).await,
        _ => Err(Failure::NotFound("nothing has this address".to_owned())),
    }
}
