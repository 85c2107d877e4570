// The vendor's JavaScript clients against a server: node suite.mjs CONNECTION_STRING ACCOUNT KEY.
import "./tables.mjs";
import "./table_signatures.mjs";
import "./queues.mjs";
