// The server under test, and what both suites need: node suite.mjs CONNECTION_STRING ACCOUNT KEY.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

export const [CONNECTION, ACCOUNT, KEY] = process.argv.slice(2);
export const NOW = Date.now();
export const HOUR = 3600 * 1000;

/** The address that the connection string names for a service: `Table` or `Queue`. */
export const endpoint = (service) => new RegExp(`${service}Endpoint=([^;]*?)/?(;|$)`).exec(CONNECTION)[1];

/** A name that no other run has. */
export const fresh = (stem) => stem + randomUUID().replaceAll("-", "").slice(0, 12);

/** The status and the code with which a call is refused. */
export async function refused(call) {
    const error = await call.then(() => assert.fail("it was not refused"), (error) => error);
    if (error.statusCode === undefined) throw error;
    // Tables tell the code in the body, queues in a header; transactions in the error itself.
    const code = error.details?.odataError?.code ?? error.code ?? error.details?.errorCode;
    return [error.statusCode, code];
}

/** All that an asynchronous iterator gives. */
export async function all(iterator) {
    const found = [];
    for await (const one of iterator) found.push(one);
    return found;
}
