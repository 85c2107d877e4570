//! Containers of another program: its items are read and changed through a mapping, and its own members survive.

mod adopted;
mod filters;
mod together;
