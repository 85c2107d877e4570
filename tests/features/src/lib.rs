//! Turns on features of dependencies, and has nothing else.
//!
//! Cargo turns on what the packages named in a command ask for, and compiles a dependency anew where that differs. With these features
//! named by what most commands build, the tests of one package share what the tests of all have compiled.
