// Azurite that ends with the process that started it: only that process holds the other end of its standard input.
"use strict";
const end = () => process.exit(0);
process.stdin.on("end", end).on("close", end).on("error", end).resume();
require("azurite/dist/src/azurite.js");
