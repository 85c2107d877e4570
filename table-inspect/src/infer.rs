//! Infers declarations that match the rows of an existing table.
//!
//! Rows are grouped into kinds by `EntityType` and key prefix. Within a kind, keys are split at literals that all rows share, and at separators that occur
//! equally often in all rows. A part is recognised as digits, ticks, a date or a GUID only if the codec reproduces its text exactly in every row. All other
//! parts are strings.

mod key;
mod kinds;
mod name;
mod part;
mod properties;
mod source;

use table_core::TableEntity;

pub use key::Piece;
pub use kinds::Group;
pub use part::Codec;
pub use properties::Property;

/// A kind of row in a table. One struct is inferred for each kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The name of the struct.
    pub name: String,
    /// The `EntityType` of all rows of the kind, if any.
    pub kind: Option<String>,
    /// The pieces of the PartitionKey.
    pub partition_key: Vec<Piece>,
    /// The pieces of the RowKey.
    pub row_key: Vec<Piece>,
    /// The properties, in order of first occurrence.
    pub properties: Vec<Property>,
    /// The number of sampled rows of this kind.
    pub rows: usize,
    /// Notes about parts of the declaration that are uncertain.
    pub notes: Vec<String>,
}

/// The declarations inferred from a table's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Inference {
    /// The name of the table.
    pub table: String,
    /// The kinds, most frequent first.
    pub kinds: Vec<Kind>,
    /// The keys of rows that belong to no kind, because too few other rows are similar to them.
    pub unexplained: Vec<(String, String)>,
    /// The number of sampled rows.
    pub rows: usize,
}

/// Infers declarations for a table from a sample of its rows.
///
/// ```
/// use table_core::TableEntity;
/// use table_inspect::infer::infer;
///
/// let row = |id: i32| {
///     let entity = TableEntity::new("Sales", format!("empid_{id:06}"))?;
///     Ok(entity.with("Age", 30 + id))
/// };
/// let rows: Vec<TableEntity> = (0..9).map(row).collect::<table_core::Result<_>>()?;
/// let text = infer("Company", &rows).to_string();
/// assert!(text.contains("#[row_key(\"empid_\", digits(6, number))]"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn infer(table: &str, rows: &[TableEntity]) -> Inference {
    let (groups, unexplained) = kinds::group(rows);
    let mut names = name::Names::default();
    let kinds = groups.iter().map(|group| of_group(group, &mut names)).collect();
    let unexplained = unexplained.iter().map(|row| {
        let key = row.key();
        (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned())
    });
    Inference { table: table.to_owned(), kinds, unexplained: unexplained.collect(), rows: rows.len() }
}

/// Groups rows by kind, most frequent kind first. Returns the groups, and the rows that belong to no kind.
#[must_use]
pub fn groups(rows: &[TableEntity]) -> (Vec<Group<'_>>, Vec<&TableEntity>) {
    kinds::group(rows)
}

/// Splits the keys of rows of one kind into pieces.
#[must_use]
pub fn pieces(keys: &[&str]) -> Vec<Piece> {
    key::pieces(keys)
}

fn of_group(group: &Group<'_>, names: &mut name::Names) -> Kind {
    let rows = &group.rows;
    let texts = |of: fn(&TableEntity) -> &str| rows.iter().map(|row| of(row)).collect::<Vec<_>>();
    let mut partition_key = key::pieces(&texts(|row| row.key().partition_key.as_str()));
    let mut row_key = key::pieces(&texts(|row| row.key().row_key.as_str()));
    let mut notes = Vec::new();
    let mut properties = properties::of(rows, group.kind.is_some(), &mut notes);
    let mut fields = name::Names::default();
    for property in &mut properties {
        property.field = fields.take(&name::snake(&property.name));
    }
    let partitions = key::parts_mut(&mut partition_key).map(|piece| ("partition", piece));
    let row_parts = key::parts_mut(&mut row_key).map(|piece| ("row", piece));
    for (fallback, piece) in partitions.chain(row_parts) {
        properties::unify(piece, &mut properties);
        if let Piece::Part { field, codec, .. } = piece
            && field.is_empty()
        {
            *field = fields.take(codec.field().unwrap_or(fallback));
        }
    }
    notes.extend(partition_key.iter().chain(&row_key).filter_map(doubt));
    let constant = match row_key.as_slice() {
        [Piece::Literal(text)] => text,
        _ => &group.prefix,
    };
    let name = names.take_type(group.kind.as_deref().unwrap_or(constant));
    Kind { name, kind: group.kind.clone(), partition_key, row_key, properties, rows: rows.len(), notes }
}

/// Returns a note if the codec of a part is uncertain. It is uncertain if the part has only a few distinct values.
fn doubt(piece: &Piece) -> Option<String> {
    /// The minimum number of distinct values at which a matching codec is considered reliable.
    const ENOUGH: usize = 5;
    let Piece::Part { field, codec, texts, .. } = piece else { return None };
    let different = texts.iter().collect::<std::collections::HashSet<_>>().len();
    (different < ENOUGH && !matches!(codec, Codec::Text | Codec::Without(_))).then(|| {
        format!("`{field}` is inferred from {different} different values; compare it with more rows")
    })
}

#[cfg(test)]
mod tests;
