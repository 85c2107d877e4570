//! Paths to members of an item, such as `/customer/id`.

use std::fmt;

use serde_json::{Map, Value as Json};

/// A path to a member, as a list of names from the item's root.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The path as given, such as `/customer/id` or `/"tenant-id"`.
    text: String,
    names: Vec<String>,
    sql: String,
}

/// The error for a path that passes through a value that is not an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAnObject;

impl Path {
    /// Parses a path in the service's format. A name in double quotes may contain `/`.
    ///
    /// Returns `None` if the path has no names, or if a name cannot be used in SQL or in an indexing policy.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mut names, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            rest = rest.strip_prefix('/')?;
            let end = match rest.strip_prefix('"') {
                Some(quoted) => quoted.find('"')? + 2,
                None => rest.find('/').unwrap_or(rest.len()),
            };
            let (name, after) = rest.split_at_checked(end)?;
            let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
            let is_plain =
                |c: char| !c.is_control() && !matches!(c, '"' | '\'' | '\\' | '*' | '?' | '[' | ']');
            if name.is_empty() || !name.chars().all(is_plain) {
                return None;
            }
            names.push(name.to_owned());
            rest = after;
        }
        let sql = names.iter().fold("c".to_owned(), |sql, name| format!("{sql}['{name}']"));
        (!names.is_empty()).then(|| Self { text: text.to_owned(), names, sql })
    }

    /// Returns the path of a member defined by this library. Its name is never an SQL keyword.
    pub(crate) fn own(name: &str) -> Self {
        Self { text: format!("/{name}"), names: vec![name.to_owned()], sql: format!("c.{name}") }
    }

    /// Returns the path of the member `name` in the object at this path.
    pub(crate) fn member(&self, name: &str) -> Self {
        let names = self.names.iter().cloned().chain([name.to_owned()]).collect();
        Self { text: format!("{}/{name}", self.text), names, sql: format!("{}['{name}']", self.sql) }
    }

    /// Returns the path as an SQL expression.
    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the path in the syntax of indexing policies, followed by `ending`. The ending `?` indexes only the value itself, and `*` indexes everything
    /// below it.
    pub(crate) fn in_policy(&self, ending: &str) -> String {
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let quoted = |name: &String| if is_plain(name) { name.clone() } else { format!("\"{name}\"") };
        let names: Vec<String> = self.names.iter().map(quoted).collect();
        format!("/{}/{ending}", names.join("/"))
    }

    /// Returns the path to the member, as a list of names from the item's root.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Returns the name of the first member.
    pub(crate) fn root(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// Returns `true` if both paths consist of the same names. Quotes are ignored.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.names == other.names
    }

    /// Returns `true` if the paths are equal or one is a prefix of the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.names.starts_with(&other.names) || other.names.starts_with(&self.names)
    }

    /// Returns the value at the path in an item, or `None` if the value is missing or null.
    pub(crate) fn find<'a>(&self, item: &'a Json) -> Result<Option<&'a Json>, NotAnObject> {
        let mut at = item;
        for name in &self.names {
            match at {
                Json::Object(members) => match members.get(name) {
                    None | Some(Json::Null) => return Ok(None),
                    Some(value) => at = value,
                },
                _ => return Err(NotAnObject),
            }
        }
        Ok(Some(at))
    }

    /// Sets the value at the path, and creates missing objects on the path.
    pub(crate) fn set(&self, item: &mut Map<String, Json>, value: Json) -> Result<(), NotAnObject> {
        let Some((last, parents)) = self.names.split_last() else { return Ok(()) };
        let mut at = item;
        for name in parents {
            let parent = at.entry(name.as_str()).or_insert(Json::Null);
            if parent.is_null() {
                *parent = Map::new().into();
            }
            at = parent.as_object_mut().ok_or(NotAnObject)?;
        }
        at.insert(last.clone(), value);
        Ok(())
    }

    /// Removes the value at the path. The objects on the path remain.
    pub(crate) fn remove(&self, item: &mut Map<String, Json>) {
        let Some((last, parents)) = self.names.split_last() else { return };
        let mut at = item;
        for name in parents {
            match at.get_mut(name).and_then(Json::as_object_mut) {
                Some(parent) => at = parent,
                None => return,
            }
        }
        at.remove(last);
    }
}

/// Formats the path as originally given.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_parsed_as_the_service_writes_it() {
        let names = |text: &str| Path::parse(text).map(|path| path.names);
        assert_eq!(names("/customer/id").unwrap(), ["customer", "id"]);
        assert_eq!(names("/\"a/b\"/c").unwrap(), ["a/b", "c"]);
        assert_eq!(Path::parse("/tenant-id/x").unwrap().sql(), "c['tenant-id']['x']");
        for text in
            ["", "a", "/", "//", "/a/", "/a//b", "/\"a", "/\"a\"b", "/it's", "/a[0]", "/a/*", "/a/?", "/\"\""]
        {
            assert_eq!(names(text), None, "{text}");
        }
        assert_eq!(Path::parse("/tenant-id/x").unwrap().in_policy("?"), "/\"tenant-id\"/x/?");
        let quoted = Path::parse("/\"customer\"/id").unwrap();
        assert!(quoted.is_same(&Path::parse("/customer/id").unwrap()));
        let overlaps =
            |left: &str, right: &str| Path::parse(left).unwrap().overlaps(&Path::parse(right).unwrap());
        assert!(overlaps("/a", "/a/b") && overlaps("/a/b", "/a") && overlaps("/a", "/a"));
        assert!(!overlaps("/a/b", "/a/c") && !overlaps("/a", "/ab"));
    }

    #[test]
    fn a_member_is_set_where_it_is_found() {
        let path = Path::parse("/a/b").unwrap();
        let mut item: Json = serde_json::json!({"a": null, "x": 1});
        assert_eq!(path.find(&item), Ok(None));
        path.set(item.as_object_mut().unwrap(), 7.into()).unwrap();
        assert_eq!(item, serde_json::json!({"a": {"b": 7}, "x": 1}));
        assert_eq!(path.find(&item), Ok(Some(&7.into())));
        path.remove(item.as_object_mut().unwrap());
        assert_eq!(item, serde_json::json!({"a": {}, "x": 1}));
        let mut blocked = serde_json::json!({"a": [1]});
        assert_eq!(path.find(&blocked), Err(NotAnObject));
        assert_eq!(path.set(blocked.as_object_mut().unwrap(), 7.into()), Err(NotAnObject));
        assert_eq!(blocked, serde_json::json!({"a": [1]}), "nothing is overwritten");
    }
}
