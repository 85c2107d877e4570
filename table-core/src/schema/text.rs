//! The text format of a stored schema: one fact per line.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use table_store::{EdmType, Error, Result};

use crate::key::codec::Form;
use crate::schema::IndexKind;
use crate::schema::alphabet;
use crate::schema::fault::SchemaFault;
use crate::schema::stored::{Source, StoredIndex, StoredPiece, StoredProperty, StoredSchema};
use crate::schema::token::{Tokens, token};

/// The version of the text format written by this program.
pub(super) const VERSION: &str = "1";
/// The keyword for all properties. It is not a valid property name.
const ALL: &str = "*";

impl fmt::Display for StoredSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "schema {VERSION}\nentity {}\ntable {}", token(&self.entity), token(&self.table))?;
        write_facts(self, &name_of, f)
    }
}

/// Returns the name of a part's source, as it is written in the text format. The name of a property is preceded by a dot.
pub(super) fn name_of(source: &Source) -> String {
    match source {
        Source::Property(name) => format!(".{name}"),
        Source::Key(label) => label.clone(),
    }
}

/// Writes the lines that describe how entities are stored. `name` returns the name of the field or property in a key part.
pub(super) fn write_facts(
    schema: &StoredSchema,
    name: &dyn Fn(&Source) -> String,
    f: &mut dyn fmt::Write,
) -> fmt::Result {
    if let Some(kind) = &schema.kind {
        writeln!(f, "kind {}", token(kind))?;
    }
    write_key("PartitionKey", &schema.partition_key, name, f)?;
    write_key("RowKey", &schema.row_key, name, f)?;
    write_properties("property", &schema.properties, f)?;
    schema.keeps.iter().try_for_each(|kept| match kept.split_once(' ') {
        Some((kind, name)) => writeln!(f, "keeps {} {}", token(kind), token(name)),
        None => writeln!(f, "keeps {}", token(kept)),
    })?;
    schema.indexes.iter().try_for_each(|index| write_index(index, name, f))
}

fn write_index(index: &StoredIndex, name: &dyn Fn(&Source) -> String, f: &mut dyn fmt::Write) -> fmt::Result {
    let line = format!("index {}", token(&index.name));
    let kind = match index.kind {
        IndexKind::Copies => "copies",
        IndexKind::List => "list",
    };
    let unique = if index.unique { " unique" } else { "" };
    writeln!(f, "{line} {kind}{unique}{}", if index.sparse { " sparse" } else { "" })?;
    if let Some(when) = &index.when {
        writeln!(f, "{line} when {}", token(when))?;
    }
    if let Some(table) = &index.table {
        writeln!(f, "{line} table {}", token(table))?;
    }
    if let Some(key) = &index.partition_key {
        let line = format!("{line} PartitionKey");
        // Without a line for an empty key, the index would be read as an index in the entity's partition.
        if key.is_empty() {
            writeln!(f, "{line} \"\"")?;
        }
        write_key(&line, key, name, f)?;
    }
    write_key(&format!("{line} RowKey"), &index.row_key, name, f)?;
    let all = [ALL.to_owned()];
    for kept in index.include.as_deref().unwrap_or(&all) {
        writeln!(f, "{line} keeps {}", token(kept))?;
    }
    write_properties(&format!("{line} property"), &index.properties, f)
}

fn write_properties(line: &str, properties: &[StoredProperty], f: &mut dyn fmt::Write) -> fmt::Result {
    properties.iter().try_for_each(|StoredProperty { name, edm, optional }| {
        writeln!(f, "{line} {} {edm}{}", token(name), if *optional { " optional" } else { "" })
    })
}

fn write_key(
    line: &str,
    key: &[StoredPiece],
    name: &dyn Fn(&Source) -> String,
    f: &mut dyn fmt::Write,
) -> fmt::Result {
    for piece in key {
        match piece {
            // The parser recognises literals by their quotes, so a literal is always quoted.
            StoredPiece::Literal(text) => writeln!(f, "{line} {}", serde_json::Value::from(text.as_str()))?,
            StoredPiece::Part { source, codec, form } => {
                let ordered = if form.ordered { "ordered" } else { "unordered" };
                let mut width = form.min.to_string();
                if !form.is_fixed() {
                    write!(width, "..{}", form.max)?;
                }
                let alphabet = alphabet::print(form.alphabet);
                let (name, codec, alphabet) = (token(&name(source)), token(codec), token(&alphabet));
                writeln!(f, "{line} {name} {codec} {width} {ordered} {alphabet}")?;
            }
        }
    }
    Ok(())
}

impl From<StoredSchema> for String {
    fn from(schema: StoredSchema) -> Self {
        schema.to_string()
    }
}

impl TryFrom<String> for StoredSchema {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

/// Parses a stored schema from its text format.
///
/// # Errors
/// `FormatTooNew` if the text has a later format version; `Corrupted`, with the line, if the text is invalid.
impl FromStr for StoredSchema {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        match lines.next().and_then(|line| line.strip_prefix("schema ")) {
            Some(VERSION) => {}
            Some(version) => {
                return Err(Error::of(SchemaFault::TooNew(version.to_owned())));
            }
            None => return Err(Error::of(SchemaFault::Start)),
        }
        let mut schema = Self {
            entity: String::new(),
            table: String::new(),
            kind: None,
            partition_key: Vec::new(),
            row_key: Vec::new(),
            properties: Vec::new(),
            indexes: Vec::new(),
            keeps: Vec::new(),
        };
        for line in lines {
            read_line(&mut schema, &mut Tokens::new(line))
                .ok_or_else(|| Error::of(SchemaFault::Line(line.to_owned())))?;
        }
        if schema.entity.is_empty() || schema.table.is_empty() {
            return Err(Error::of(SchemaFault::Nameless));
        }
        Ok(schema.normal())
    }
}

fn read_line(schema: &mut StoredSchema, tokens: &mut Tokens<'_>) -> Option<()> {
    match tokens.word()?.as_str() {
        "entity" => schema.entity = tokens.word()?,
        "table" => schema.table = tokens.word()?,
        "kind" => schema.kind = Some(tokens.word()?),
        "PartitionKey" => schema.partition_key.push(read_piece(tokens)?),
        "RowKey" => schema.row_key.push(read_piece(tokens)?),
        "property" => schema.properties.push(read_property(tokens)?),
        "keeps" => schema.keeps.push(read_kept(tokens)?),
        "index" => read_index_line(&mut schema.indexes, tokens)?,
        _ => return None,
    }
    tokens.is_at_end().then_some(())
}

/// Parses a kind of derived row with its optional name, such as `feed` or `copied_by Manager`.
fn read_kept(tokens: &mut Tokens<'_>) -> Option<String> {
    let kind = tokens.word()?;
    if tokens.is_at_end() {
        return Some(kind);
    }
    Some(format!("{kind} {}", tokens.word()?))
}

fn read_index_line(indexes: &mut Vec<StoredIndex>, tokens: &mut Tokens<'_>) -> Option<()> {
    let name = tokens.word()?;
    let word = tokens.word()?;
    let kind = match word.as_str() {
        "copies" => IndexKind::Copies,
        "list" => IndexKind::List,
        _ => {
            let index = indexes.iter_mut().find(|index| index.name == name)?;
            return read_index_fact(index, &word, tokens);
        }
    };
    let mut index = StoredIndex {
        name,
        kind,
        unique: false,
        sparse: false,
        when: None,
        table: None,
        partition_key: None,
        row_key: Vec::new(),
        include: Some(Vec::new()),
        properties: Vec::new(),
    };
    while !tokens.is_at_end() {
        match tokens.word()?.as_str() {
            "unique" => index.unique = true,
            "sparse" => index.sparse = true,
            _ => return None,
        }
    }
    indexes.push(index);
    Some(())
}

fn read_index_fact(index: &mut StoredIndex, word: &str, tokens: &mut Tokens<'_>) -> Option<()> {
    match word {
        "when" => index.when = Some(tokens.word()?),
        "table" => index.table = Some(tokens.word()?),
        "property" => index.properties.push(read_property(tokens)?),
        "PartitionKey" => index.partition_key.get_or_insert_default().push(read_piece(tokens)?),
        "RowKey" => index.row_key.push(read_piece(tokens)?),
        "keeps" => {
            let name = tokens.word()?;
            if name == ALL {
                index.include = None;
            } else {
                index.include.as_mut()?.push(name);
            }
        }
        _ => return None,
    }
    Some(())
}

fn read_piece(tokens: &mut Tokens<'_>) -> Option<StoredPiece> {
    let is_literal = tokens.is_quoted();
    let name = tokens.word()?;
    if is_literal && tokens.is_at_end() {
        return Some(StoredPiece::Literal(name));
    }
    let source = name
        .strip_prefix('.')
        .map_or_else(|| Source::Key(name.clone()), |name| Source::Property(name.to_owned()));
    let (codec, width) = (tokens.word()?, tokens.word()?);
    let (min, max) = width.split_once("..").unwrap_or((&width, &width));
    let ordered = match tokens.word()?.as_str() {
        "ordered" => true,
        "unordered" => false,
        _ => return None,
    };
    let alphabet = alphabet::parse(&tokens.word()?)?;
    let form = Form { min: min.parse().ok()?, max: max.parse().ok()?, ordered, alphabet };
    Some(StoredPiece::Part { source, codec, form })
}

fn read_property(tokens: &mut Tokens<'_>) -> Option<StoredProperty> {
    let (name, edm) = (tokens.word()?, EdmType::from_name(&tokens.word()?)?);
    let optional = !tokens.is_at_end();
    if optional && tokens.word()? != "optional" {
        return None;
    }
    Some(StoredProperty { name, edm, optional })
}
