//! The columns of a Parquet file. They are determined by a first pass over the entities.

use std::collections::HashMap;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use table_core::{EdmType, TableEntity, Value};
use table_inspect::record::FileError;

use crate::parquet::KEYS;
use crate::parquet::value::{Form, micros, nanos};

/// The maximum number of properties in a file. Each row group has a chunk for every column, even for columns without values.
const PROPERTIES: usize = 10_000;

/// The properties of all entities that have been added, with their types.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    properties: Vec<Seen>,
    /// The indexes of the properties in `properties`, by name.
    known: HashMap<String, usize>,
}

/// A property, with a count of its values for each type.
#[derive(Clone, Debug)]
struct Seen {
    name: String,
    /// The number of values of each type, in the order of [`EdmType::ALL`].
    types: [u64; 8],
    /// The number of time values that cannot be represented as nanoseconds since 1970 in 64 bits.
    distant: u64,
    /// `true` if any time value is not a whole number of microseconds.
    is_fine: bool,
}

impl Survey {
    /// Adds the properties of an entity.
    ///
    /// # Errors
    /// `Refused` if the entities have more than 10,000 properties with different names.
    pub fn add(&mut self, entity: &TableEntity) -> Result<(), FileError> {
        for (name, value) in entity.iter() {
            let at = match self.known.get(name) {
                Some(at) => *at,
                None => self.push(name)?,
            };
            if let Some(seen) = self.properties.get_mut(at) {
                seen.add(value);
            }
        }
        Ok(())
    }

    fn push(&mut self, name: &str) -> Result<usize, FileError> {
        let at = self.properties.len();
        if at >= PROPERTIES {
            let help = "write JSON lines (`--format jsonl`), or select properties with `--columns`";
            return Err(FileError::Refused(format!(
                "the entities have more than {PROPERTIES} properties with different names, and each needs a column; {help}"
            )));
        }
        self.known.insert(name.to_owned(), at);
        self.properties.push(Seen { name: name.to_owned(), types: [0; 8], distant: 0, is_fine: false });
        Ok(at)
    }

    /// Returns the columns for all entities that have been added.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let [partition, row, timestamp] = KEYS;
        let text = Form::Plain(EdmType::String);
        let mut columns: Vec<Column> = [(partition, text), (row, text), (timestamp, Form::Nanos)]
            .map(|(name, form)| Column { name: name.to_owned(), form, is_required: name != timestamp })
            .into();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for seen in &self.properties {
            for (at, form) in seen.forms().into_iter().enumerate() {
                let is_main = at == 0 && form != Form::Ticks;
                let name =
                    if is_main { seen.name.clone() } else { format!("{}@{}", seen.name, form.suffix()) };
                places.entry(seen.name.clone()).or_default().push(columns.len());
                columns.push(Column { name, form, is_required: false });
            }
        }
        Layout { columns, places }
    }
}

impl Seen {
    fn add(&mut self, value: &Value) {
        let types = EdmType::ALL.iter().zip(&mut self.types);
        if let Some((_, count)) = types.into_iter().find(|(edm, _)| **edm == value.edm_type()) {
            *count += 1;
        }
        if let Value::DateTime(instant) = value {
            self.distant += u64::from(nanos(*instant).is_none());
            self.is_fine |= micros(*instant).is_none();
        }
    }

    /// Returns the forms (representations in a column) of the property's values, most frequent first.
    fn forms(&self) -> Vec<Form> {
        let mut forms = Vec::new();
        for (edm, count) in EdmType::ALL.into_iter().zip(self.types) {
            match (edm, self.distant) {
                (EdmType::DateTime, 0) => forms.push((Form::Nanos, count)),
                (EdmType::DateTime, _) if !self.is_fine => forms.push((Form::Micros, count)),
                (EdmType::DateTime, distant) => {
                    forms.push((Form::Nanos, count - distant));
                    forms.push((Form::Ticks, distant));
                }
                _ => forms.push((Form::Plain(edm), count)),
            }
        }
        forms.retain(|(_, count)| *count > 0);
        forms.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        forms.into_iter().map(|(form, _)| form).collect()
    }
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The name of the column in the file.
    pub(super) name: String,
    pub(super) form: Form,
    is_required: bool,
}

impl Column {
    fn data_type(&self) -> Result<Type, ParquetError> {
        let timestamp = |unit| Some(LogicalType::timestamp(true, unit));
        let (physical, logical, length) = match self.form {
            Form::Plain(EdmType::String) => (Physical::BYTE_ARRAY, Some(LogicalType::String), -1),
            Form::Plain(EdmType::Binary) => (Physical::BYTE_ARRAY, None, -1),
            Form::Plain(EdmType::Guid) => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid), 16),
            Form::Plain(EdmType::Int32) => (Physical::INT32, None, -1),
            Form::Plain(EdmType::Double) => (Physical::DOUBLE, None, -1),
            Form::Plain(EdmType::Boolean) => (Physical::BOOLEAN, None, -1),
            Form::Plain(EdmType::Int64 | EdmType::DateTime) | Form::Ticks => (Physical::INT64, None, -1),
            Form::Nanos => (Physical::INT64, timestamp(TimeUnit::NANOS), -1),
            Form::Micros => (Physical::INT64, timestamp(TimeUnit::MICROS), -1),
        };
        let repetition = if self.is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_length(length)
            .with_repetition(repetition)
            .build()
    }
}

/// The columns of a file.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) columns: Vec<Column>,
    /// The column indexes of each property, by property name.
    places: HashMap<String, Vec<usize>>,
}

impl Layout {
    /// Returns the index and the form of each of a property's columns.
    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = (usize, Form)> {
        let places = self.places.get(name).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|at| Some((*at, self.columns.get(*at)?.form)))
    }

    /// Returns the schema of the file.
    pub(super) fn schema(&self) -> Result<TypePtr, ParquetError> {
        let fields = self.columns.iter().map(|column| column.data_type().map(Arc::new));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Type::group_type_builder("entities").with_fields(fields).build()?))
    }
}
