// `@azure/data-tables`: shared access signatures, stored policies, keys.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { AzureNamedKeyCredential, AzureSASCredential, TableClient, TableServiceClient, generateAccountSas, generateTableSas } from "@azure/data-tables";

import { ACCOUNT, HOUR, NOW, all, endpoint, fresh, refused } from "./server.mjs";
import { CREDENTIAL, KEYS, OPTIONS, rows, table } from "./table.mjs";

describe("signatures of tables", () => {
    test("a signature of a table bounds what it permits", async (context) => {
        const client = await table(context);
        for (const rowKey of ["r", "z"]) await client.createEntity({ ...KEYS, rowKey, n: 1 });
        const holder = (sas) => new TableClient(endpoint("Table"), client.tableName, new AzureSASCredential(sas), OPTIONS);
        const expiresOn = new Date(NOW + HOUR);
        const keys = { startPartitionKey: "p", startRowKey: "a", endPartitionKey: "p", endRowKey: "s" };
        const read = holder(generateTableSas(client.tableName, CREDENTIAL, { permissions: { query: true }, expiresOn, ...keys }));
        assert.equal((await read.getEntity("p", "r")).n, 1);
        assert.deepEqual(await rows(read), ["r"]);
        assert.deepEqual(await refused(read.createEntity({ partitionKey: "p", rowKey: "b" })), [403, "AuthorizationPermissionMismatch"]);
        const write = holder(generateTableSas(client.tableName, CREDENTIAL, { permissions: { add: true, update: true, delete: true }, expiresOn }));
        await write.createEntity({ partitionKey: "p", rowKey: "b" });
        await write.submitTransaction([["upsert", { partitionKey: "p", rowKey: "c" }], ["delete", { partitionKey: "p", rowKey: "b" }]]);
        assert.deepEqual(await refused(write.getEntity("p", "c")), [403, "AuthorizationPermissionMismatch"]);
        const old = holder(generateTableSas(client.tableName, CREDENTIAL, { permissions: { query: true }, expiresOn: new Date(NOW - HOUR) }));
        assert.deepEqual(await refused(old.getEntity("p", "r")), [403, "AuthenticationFailed"]);
        const local = { permissions: { query: true }, expiresOn, ipRange: { start: "127.0.0.1", end: "127.0.0.2" } };
        assert.equal((await holder(generateTableSas(client.tableName, CREDENTIAL, local)).getEntity("p", "r")).n, 1);
        const elsewhere = { ...local, ipRange: { start: "10.0.0.1" } };
        assert.equal((await refused(holder(generateTableSas(client.tableName, CREDENTIAL, elsewhere)).getEntity("p", "r")))[0], 403);
    });

    test("stored policies are kept, and what they allow ends with them", async (context) => {
        const client = await table(context);
        await client.createEntity({ ...KEYS, n: 1 });
        const [start, expiry] = [NOW - HOUR, NOW + HOUR].map((time) => new Date(Math.floor(time / 1000) * 1000));
        await client.setAccessPolicy([{ id: "readers", accessPolicy: { start, expiry, permission: "r" } }, { id: "writers" }]);
        const policies = await client.getAccessPolicy();
        assert.deepEqual(policies.map((policy) => policy.id), ["readers", "writers"]);
        assert.deepEqual(policies[0].accessPolicy, { start, expiry, permission: "r" });
        const sas = generateTableSas(client.tableName, CREDENTIAL, { identifier: "readers" });
        const holder = new TableClient(endpoint("Table"), client.tableName, new AzureSASCredential(sas), OPTIONS);
        assert.equal((await holder.getEntity("p", "r")).n, 1);
        await client.setAccessPolicy([]);
        assert.equal((await refused(holder.getEntity("p", "r")))[0], 403);
        const six = Array.from({ length: 6 }, (_, n) => ({ id: `policy${n}`, accessPolicy: { permission: "r" } }));
        assert.deepEqual(await refused(client.setAccessPolicy(six)), [400, "InvalidXmlDocument"]);
    });

    test("a signature of the account lists and bounds", async (context) => {
        const client = await table(context);
        const sas = generateAccountSas(CREDENTIAL, {
            permissions: { list: true, query: true }, resourceTypes: "sco", services: { table: true }, expiresOn: new Date(NOW + HOUR),
        });
        const holder = new TableServiceClient(endpoint("Table"), new AzureSASCredential(sas), OPTIONS);
        assert.ok((await all(holder.listTables())).some((one) => one.name === client.tableName));
        assert.deepEqual(await refused(holder.createTable(fresh("No"))), [403, "AuthorizationPermissionMismatch"]);
        const queues = generateAccountSas(CREDENTIAL, { permissions: { list: true, query: true }, services: { queue: true }, expiresOn: new Date(NOW + HOUR) });
        const wrong = new TableServiceClient(endpoint("Table"), new AzureSASCredential(queues), OPTIONS);
        assert.deepEqual(await refused(all(wrong.listTables())), [403, "AuthorizationServiceMismatch"]);
    });

    test("a wrong key is refused", async () => {
        const stranger = new TableServiceClient(endpoint("Table"), new AzureNamedKeyCredential(ACCOUNT, "d3Jvbmc="), OPTIONS);
        assert.deepEqual(await refused(all(stranger.listTables())), [403, "AuthenticationFailed"]);
    });
});
