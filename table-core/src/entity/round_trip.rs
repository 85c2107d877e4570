//! Checks the round-trip law for entities. Writing an entity and reading it back must return an equal entity.

use std::fmt::Debug;

use table_store::{Error, ErrorCode, Result};

use crate::entity::Entity;
use crate::query::EntityRef;

/// Checks that each entity equals itself after a round trip: `from_entity(to_entity(entity)) == entity`.
///
/// Use this function to test the declaration of an entity type. Pass entities whose fields are at the limits of their ranges. The function stores nothing.
///
/// The law holds for every type stored by this crate except `DateTime<Utc>`. Such values are truncated to 100 ns, the precision of an `Edm.DateTime` (TICK-6).
/// Truncate them when the entity is created, with [`ticks::truncate`](crate::ticks::truncate) or [`ticks::now`](crate::ticks::now). A custom `Property`, a
/// custom codec or a JSON property may also violate the law.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::{Entity, entity, ticks};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[partition_key(device)]
/// #[row_key(id)]
/// struct Reading { device: String, id: u32, at: DateTime<Utc> }
///
/// let at = "2014-04-23T09:00:00.123456789Z".parse()?;
/// let reading = Reading { device: "d-7".into(), id: 1, at };
/// let error = entity::check_round_trip([&reading]).unwrap_err();
/// assert!(error.to_string().contains("09:00:00.123456700"));
/// entity::check_round_trip([&Reading { at: ticks::truncate(at), ..reading }])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `EntityMismatch`, with both entities, if an entity changes in the round trip; any error from [`Entity::key_of`], [`Entity::to_row`]
/// and [`FromEntity::from_entity`](crate::entity::FromEntity::from_entity).
pub fn check_round_trip<'e, E: Entity + PartialEq + Debug>(
    entities: impl IntoIterator<Item = &'e E>,
) -> Result<()> {
    for entity in entities {
        let (key, row) = (entity.key_of()?, entity.to_row()?);
        let read =
            E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()))?;
        if read != *entity {
            let message = format!(
                "an entity is read back unequal; an instant keeps 100 ns, other values must be stored whole: {entity:?} was written, and {read:?} read"
            );
            return Err(Error::new(ErrorCode::EntityMismatch, message)
                .with_key(key.partition_key.as_str(), key.row_key.as_str()));
        }
    }
    Ok(())
}
