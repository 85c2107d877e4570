//! Formats inferred declarations as Rust source code.

use std::fmt;

use table_core::EdmType;

use crate::infer::key::Piece;
use crate::infer::name::pascal;
use crate::infer::part::Codec;
use crate::infer::properties::Property;
use crate::infer::{Inference, Kind};

impl fmt::Display for Inference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matching: usize = self.kinds.iter().map(|kind| kind.rows).sum();
        writeln!(
            f,
            "//! Declarations for the table {}, inferred from {} rows, {matching} of which match.",
            self.table, self.rows
        )?;
        for (partition, row) in self.unexplained.iter().take(5) {
            writeln!(f, "//! No match: PartitionKey {partition:?}, RowKey {row:?}.")?;
        }
        writeln!(f)?;
        let types: String = self.kinds.iter().map(Kind::to_string).collect();
        let chrono: Vec<&str> = ["DateTime", "NaiveDate"]
            .into_iter()
            .filter(|name| types.contains(&format!(": {name}")) || types.contains(&format!("<{name}")))
            .collect();
        if !chrono.is_empty() {
            let utc = if chrono.contains(&"DateTime") { ", Utc" } else { "" };
            let names = format!("{}{utc}", chrono.join(", "));
            let names = if names.contains(',') { format!("{{{names}}}") } else { names };
            writeln!(f, "use chrono::{names};")?;
        }
        writeln!(f, "use table_patterns::Entity;")?;
        if types.contains("Uuid") {
            writeln!(f, "use uuid::Uuid;")?;
        }
        for kind in &self.kinds {
            writeln!(f)?;
            self.comment(kind, f)?;
            let table = &self.table;
            let kind_word = kind.kind.as_ref().map(|kind| format!(", kind = {kind:?}")).unwrap_or_default();
            writeln!(
                f,
                "#[derive(Entity, Clone, Debug, PartialEq)]\n#[entity(table = {table:?}{kind_word}{})]",
                allow(kind)
            )?;
            write!(f, "{kind}")?;
        }
        Ok(())
    }
}

impl Inference {
    fn comment(&self, kind: &Kind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "/// {} of {} rows.", kind.rows, self.rows)?;
        kind.notes.iter().try_for_each(|note| writeln!(f, "///\n/// {note}."))
    }
}

/// Returns the `allow` attribute for lints that the layout of an existing table may violate. New declarations should satisfy these lints.
fn allow(kind: &Kind) -> String {
    let mut parts = kind.partition_key.iter().filter(|piece| matches!(piece, Piece::Part { .. }));
    // A PartitionKey without parts also counts as hot, because all rows are then in one partition.
    let is_hot = parts.all(|piece| matches!(piece, Piece::Part { codec, .. } if codec.follows_time()));
    if is_hot {
        ", allow(hot_partition, reason = \"the layout of existing rows\")".to_owned()
    } else {
        String::new()
    }
}

/// Writes the struct and its key attributes.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "#[partition_key({})]", pieces(&self.partition_key))?;
        writeln!(f, "#[row_key({})]\npub struct {} {{", pieces(&self.row_key), self.name)?;
        for piece in self.partition_key.iter().chain(&self.row_key) {
            let Piece::Part { field, codec, is_property, .. } = piece else { continue };
            if *is_property {
                let named = self.properties.iter().find(|property| property.field == *field);
                let name = named
                    .filter(|property| pascal(field) != property.name)
                    .map(|property| format!("{:?}, ", property.name));
                writeln!(f, "    #[property({}also)]", name.unwrap_or_default())?;
            }
            writeln!(f, "    pub {field}: {},", codec.rust_type())?;
        }
        let is_in_key = |property: &&Property| {
            let mut parts = self.partition_key.iter().chain(&self.row_key);
            parts.any(|piece| matches!(piece, Piece::Part { field, is_property: true, .. } if *field == property.field))
        };
        for property in self.properties.iter().filter(|property| !is_in_key(property)) {
            write_property(property, f)?;
        }
        writeln!(f, "}}")
    }
}

fn write_property(property: &Property, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let rust = match property.edm {
        EdmType::String => "String",
        EdmType::Int32 => "i32",
        EdmType::Int64 => "i64",
        EdmType::Double => "f64",
        EdmType::Boolean => "bool",
        EdmType::DateTime => "DateTime<Utc>",
        EdmType::Guid => "Uuid",
        EdmType::Binary => "Vec<u8>",
    };
    let mut words = Vec::new();
    if pascal(&property.field) != property.name {
        words.push(format!("{:?}", property.name));
    }
    if property.is_chunked {
        words.push("chunks".to_owned());
    }
    if !words.is_empty() {
        writeln!(f, "    #[property({})]", words.join(", "))?;
    }
    let optional = property.optional && !property.is_chunked;
    if optional {
        writeln!(f, "    pub {}: Option<{rust}>,", property.field)
    } else {
        writeln!(f, "    pub {}: {rust},", property.field)
    }
}

/// Returns key pieces in declaration syntax.
fn pieces(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => format!("{text:?}"),
        Piece::Part { field, codec, .. } => match codec {
            Codec::Text | Codec::Ticks | Codec::Guid => field.clone(),
            Codec::Without(end) => format!("without({end:?}, {field})"),
            Codec::Digits(width) => format!("digits({width}, {field})"),
            Codec::Unpadded => format!("unpadded({field})"),
            Codec::InvertedTicks => format!("desc({field})"),
            Codec::GuidSimple => format!("guid(simple, {field})"),
            Codec::Pattern(pattern) => format!("pattern({pattern:?}, {field})"),
        },
    };
    let listed: Vec<_> = pieces.iter().map(piece).collect();
    if listed.is_empty() { "\"\"".to_owned() } else { listed.join(", ") }
}
