// The server under test, and functions for both suites. Usage: node suite.mjs CONNECTION_STRING ACCOUNT KEY.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

export const [CONNECTION, ACCOUNT, KEY] = process.argv.slice(2);
export const NOW = Date.now();
export const HOUR = 3600 * 1000;

/** Returns the address of a service, `Table` or `Queue`, in the connection string. */
export const endpoint = (service) => new RegExp(`${service}Endpoint=([^;]*?)/?(;|$)`).exec(CONNECTION)[1];

/** Returns a unique name. */
export const fresh = (stem) => stem + randomUUID().replaceAll("-", "").slice(0, 12);

/** Returns the status and the code of a refused call. */
export async function refused(call) {
    const error = await call.then(() => assert.fail("it was not refused"), (error) => error);
    if (error.statusCode === undefined) throw error;
    // The table service sends the error code in the body, and the queue service in a header. The client reports a transaction's error code in its own error.
    const code = error.details?.odataError?.code ?? error.code ?? error.details?.errorCode;
    return [error.statusCode, code];
}

/** Returns all items of an asynchronous iterator. */
export async function all(iterator) {
    const found = [];
    for await (const one of iterator) found.push(one);
    return found;
}
