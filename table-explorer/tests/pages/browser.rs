//! An HTTP client for an explorer. Like a browser, it keeps the cookie and follows redirects.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use table_core::{DynTableStore, Engine};
use table_explorer::{Explorer, Source};

/// The `Host` header of every request.
pub(crate) const HERE: &str = "127.0.0.1:8000";

/// A browser session.
pub(crate) struct Browser {
    pub(crate) explorer: Explorer,
    cookie: String,
}

/// A response whose body has been read completely.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// Sends one request without a session cookie.
pub(crate) async fn send(
    explorer: &Explorer,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == HOST.as_str()) {
        request = request.header(HOST, HERE);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = explorer.handle(request.body(Bytes::from(body)).unwrap(), HERE).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, body: String::from_utf8_lossy(&body).into_owned() }
}

impl Browser {
    /// Opens a session on an explorer.
    pub(crate) async fn open(explorer: Explorer) -> Self {
        let first = send(&explorer, Method::GET, &explorer.first_path(), &[], String::new()).await;
        assert_eq!(first.status, StatusCode::SEE_OTHER);
        let cookie = first.headers[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        Self { explorer, cookie }
    }

    /// Opens a session with a read-only explorer for an engine.
    pub(crate) async fn reading(engine: &Engine) -> Self {
        Self::open(Explorer::new(source(engine))).await
    }

    /// Opens a session with a writable explorer for an engine.
    pub(crate) async fn writing(engine: &Engine) -> Self {
        Self::open(Explorer::writable(source(engine))).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(&self.explorer, Method::GET, path, &[(COOKIE.as_str(), &self.cookie)], String::new()).await
    }

    /// Returns the body of a response, or the error that ended it.
    pub(crate) async fn download(&self, path: &str) -> std::io::Result<Bytes> {
        let request = Request::builder().uri(path).header(HOST, HERE).header(COOKIE, &self.cookie);
        let response = self.explorer.handle(request.body(Bytes::new()).unwrap(), HERE).await;
        assert_eq!(response.status(), StatusCode::OK);
        Ok(response.into_body().collect().await?.to_bytes())
    }

    /// Reads a page that must exist, and returns its body.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        answer.body
    }

    /// Submits a form that contains exactly the given fields.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let headers = [
            (COOKIE.as_str(), self.cookie.as_str()),
            (CONTENT_TYPE.as_str(), "application/x-www-form-urlencoded"),
        ];
        send(&self.explorer, Method::POST, path, &headers, body).await
    }
}

impl Answer {
    pub(crate) fn location(&self) -> &str {
        self.headers[LOCATION].to_str().unwrap()
    }
}

pub(crate) fn source(engine: &Engine) -> Source {
    Source::new(DynTableStore::new(engine.clone()), "test").with_engine(engine.clone())
}

/// Returns the value of a hidden field on a page as a browser sends it.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let at = page.find(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("no field {name}"));
    let value = page[at..].split("value=\"").nth(1).unwrap().split('"').next().unwrap();
    unescaped(value)
}

/// Replaces the HTML escapes in a string from a page with the characters that they represent.
fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns the URL of every link on a page.
#[allow(dead_code, reason = "the tests of large tables follow one link at a time")]
pub(crate) fn links(page: &str) -> Vec<String> {
    let links = page.split("<a ").skip(1).filter_map(|rest| attribute(rest.split('>').next()?, "href"));
    links.collect()
}

/// Returns the names and values of the fields of the form whose tag contains `mark`, in order, as a browser sends them when no checkbox is checked and no
/// button is pressed.
#[allow(dead_code, reason = "the tests of large tables send no forms")]
pub(crate) fn fields(page: &str, mark: &str) -> Vec<(String, String)> {
    let mut forms = page.split("<form ").skip(1);
    let form = forms.find(|form| form.split('>').next().unwrap().contains(mark));
    let form = form.unwrap_or_else(|| panic!("no form {mark} in {page}")).split("</form>").next().unwrap();
    let mut fields = Vec::new();
    for rest in form.split('<').skip(1) {
        let (tag, text) = rest.split_once('>').unwrap();
        let (element, _) = tag.split_once(' ').unwrap_or((tag, ""));
        let value = attribute(tag, "value").unwrap_or_default();
        match element {
            "input" if attribute(tag, "type").as_deref() == Some("checkbox") => {}
            "input" => fields.extend(attribute(tag, "name").map(|name| (name, value))),
            "textarea" => {
                let text = text.strip_prefix('\n').unwrap_or(text);
                fields.extend(attribute(tag, "name").map(|name| (name, unescaped(text))));
            }
            "select" => fields.push((attribute(tag, "name").unwrap(), "\0".to_owned())),
            "option" => {
                let (_, chosen) = fields.last_mut().unwrap();
                if chosen == "\0" || tag.ends_with(" selected") {
                    *chosen = value;
                }
            }
            _ => {}
        }
    }
    fields
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split(&format!("{name}=\"")).nth(1)?.split('"').next()?;
    Some(unescaped(value))
}
