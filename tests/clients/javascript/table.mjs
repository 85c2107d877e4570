// A table for a test, and functions for tests of tables.
import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";

import { ACCOUNT, CONNECTION, KEY, all, fresh } from "./server.mjs";

export const OPTIONS = { allowInsecureConnection: true };
export const CREDENTIAL = new AzureNamedKeyCredential(ACCOUNT, KEY);
export const KEYS = { partitionKey: "p", rowKey: "r" };

/** Creates a table for one test. */
export async function table(context) {
    const client = TableClient.fromConnectionString(CONNECTION, fresh("Js"), OPTIONS);
    await client.createTable();
    context.after(() => client.deleteTable());
    return client;
}

export const rows = async (client, filter) => (await all(client.listEntities({ queryOptions: { filter } }))).map((entity) => entity.rowKey);
