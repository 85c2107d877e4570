//! Tests that the ten programs in the tutorial run in order and on the same folder.

use std::{env, fs};

macro_rules! steps {
    ($($name:ident $file:literal)*) => {
        $(
            mod $name {
                #![allow(dead_code, clippy::pedantic, clippy::unwrap_used, clippy::expect_used, reason = "a program as the page shows it")]
                include!(concat!("../steps/", $file, ".rs"));

                pub(crate) fn run() {
                    main().unwrap();
                }
            }
        )*
        const STEPS: &[(&str, fn())] = &[$(($file, $name::run)),*];
    };
}

steps! {
    step_01 "01"
    step_02 "02"
    step_03 "03"
    step_04 "04"
    step_05 "05"
    step_06 "06"
    step_07 "07"
    step_08 "08"
    step_09 "09"
    step_10 "10"
}

#[test]
fn each_step_runs_on_the_folder_of_the_previous_step() {
    let folder = tempfile::tempdir().unwrap();
    env::set_current_dir(folder.path()).unwrap();
    for (step, run) in STEPS {
        println!("step {step}");
        run();
    }
    let names = ["helpdesk.db", "helpdesk.backup", "helpdesk.restored"];
    assert!(names.iter().all(|name| folder.path().join(name).is_dir()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), names.len());
}
