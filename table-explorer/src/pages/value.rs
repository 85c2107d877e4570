//! The page for the complete value of one property, shown as text, JSON, bytes or an image.

use http::header::{CONTENT_DISPOSITION, HeaderValue};
use http::{Response, StatusCode};
use maud::{Markup, html};
use table_core::{TableName, Value};
use table_inspect::value;

use crate::columns;
use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::json_text;
use crate::link;
use crate::pages::{Context, entity};
use crate::response::{self, Body};
use crate::show;

/// The maximum number of characters or bytes shown on the page. A download contains the complete value.
const CHARACTERS: usize = 200_000;
const BYTES: usize = 4_096;

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    let (key, name) = (entity::key(context)?, context.request.required("name")?);
    let row = entity::read(context, table, &key).await?;
    let missing = || Failure::NotFound(format!("the entity has no property `{}`", show::text(name)));
    let (found, pieces) = columns::joined(&row, name).ok_or_else(missing)?;
    let form = context.request.query("as").unwrap_or("text");
    if form == "raw" {
        return Ok(raw(&found));
    }
    let image = media_type(&bytes(&found));
    let main = html! {
        h1 { (show::stored(name)) }
        p.sub { (show::type_name(found.edm_type())) " · " (show::size(bytes(&found).len())) @if pieces > 1 { " in " (pieces) " pieces" } }
        nav.tabs aria-label="Forms" {
            @for (other, label) in [("text", "Text"), ("json", "JSON"), ("hex", "Bytes"), ("image", "Image")] {
                @if other != "image" || image.is_some() {
                    a href=(link::value(table, &key, name, other)) aria-current=[(other == form).then_some("true")] { (label) }
                }
            }
            a href=(link::value(table, &key, name, "raw")) download="value" { "Download" }
        }
        (body(&found, form, &link::value(table, &key, name, "raw")))
    };
    let frame = Frame {
        title: name.to_owned(),
        crumbs: vec![
            (table.as_str().to_owned(), link::table(table, "")),
            (key.partition_key.as_str().to_owned(), link::partition(table, key.partition_key.as_str())),
            (key.row_key.as_str().to_owned(), link::entity(table, &key)),
        ],
        table: Some(table),
        partition: Some(key.partition_key.as_str()),
        main,
        ..Frame::default()
    };
    Ok(response::page(StatusCode::OK, frame.render(context.state, &context.known, context.reader.cost())))
}

fn bytes(found: &Value) -> Vec<u8> {
    match found {
        Value::Binary(bytes) => bytes.clone(),
        other => value::show(other).into_bytes(),
    }
}

fn body(found: &Value, form: &str, raw: &str) -> Markup {
    let text = match found {
        Value::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => value::show(other),
    };
    match form {
        "hex" => html! { pre.source tabindex="0" { (dump(&bytes(found))) } },
        "image" => html! { p { img.value src=(raw) alt="The value as an image"; } },
        "json" => match json_text::indented(&text) {
            Ok(indented) => html! { pre.source tabindex="0" { (clipped(&indented)) } },
            Err(error) => html! { p.empty { "The value is not JSON: " (show::text(&error.to_string())) } },
        },
        _ => html! { pre.source tabindex="0" { (clipped(&text)) } },
    }
}

fn clipped(text: &str) -> Markup {
    let shown: String = text.chars().take(CHARACTERS).collect();
    html! { (show::stored(&shown)) @if shown.len() < text.len() { "\n… the download has all " (show::characters(text.chars().count())) } }
}

/// Returns a hex dump with 16 bytes per line.
fn dump(bytes: &[u8]) -> String {
    let line = |(at, line): (usize, &[u8])| {
        let text: String = line
            .iter()
            .map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '·' })
            .collect();
        format!("{:08x}  {:47}  {text}\n", at * 16, show::hex(line))
    };
    let shown: String = bytes.chunks(16).take(BYTES / 16).enumerate().map(line).collect();
    let rest = bytes.len().saturating_sub(BYTES);
    if rest == 0 { shown } else { format!("{shown}… and {}", show::size(rest)) }
}

/// Returns the media type of an image, recognised by its first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    const TYPES: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"RIFF", "image/webp"),
    ];
    TYPES.into_iter().find(|(beginning, _)| bytes.starts_with(beginning)).map(|(_, media_type)| media_type)
}

/// Responds with the bytes of a value. An image is shown inline; any other value is sent as a download, which browsers do not interpret.
fn raw(found: &Value) -> Response<Body> {
    let bytes = bytes(found);
    let media_type = media_type(&bytes);
    let mut response =
        response::whole(StatusCode::OK, media_type.unwrap_or("application/octet-stream"), bytes);
    if media_type.is_none() {
        response
            .headers_mut()
            .insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"value\""));
    }
    response
}
