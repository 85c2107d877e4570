// Runs Azurite until the process that started it ends. Only that process holds the other end of the standard input pipe, so the pipe closes with the process.
"use strict";
const end = () => process.exit(0);
process.stdin.on("end", end).on("close", end).on("error", end).resume();
require("azurite/dist/src/azurite.js");
