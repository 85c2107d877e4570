//! Indexed tables as a whole: against a model, beside other writers, through faults, and the layouts they leave.

mod concurrent;
mod faults;
mod kit;
mod layout;
mod life;
mod model;
mod relay;
mod remote;
mod repair;
