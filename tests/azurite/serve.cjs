// Runs Azurite, and exits with the process that started it: only that process has the other end of its standard input.
"use strict";
const end = () => process.exit(0);
process.stdin.on("end", end).on("close", end).on("error", end).resume();
require("azurite/dist/src/azurite.js");
