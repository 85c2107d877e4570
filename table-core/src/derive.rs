//! The derive macros, with the documentation of their attributes.

#[doc = include_str!("derive/entity.md")]
pub use table_derive::Entity;

#[doc = include_str!("derive/entity_group.md")]
pub use table_derive::EntityGroup;

#[doc = include_str!("derive/entity_set.md")]
pub use table_derive::EntitySet;

#[doc = include_str!("derive/key_part.md")]
pub use table_derive::KeyPart;

#[doc = include_str!("derive/projection.md")]
pub use table_derive::Projection;
