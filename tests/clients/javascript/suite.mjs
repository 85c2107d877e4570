// Tests of a server with Microsoft's JavaScript clients. Usage: node suite.mjs CONNECTION_STRING ACCOUNT KEY.
import "./tables.mjs";
import "./table_signatures.mjs";
import "./queues.mjs";
