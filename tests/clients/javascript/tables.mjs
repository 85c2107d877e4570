// `@azure/data-tables`: operations, types, transactions, pages, conditions, errors by code.
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { after, before, describe, test } from "node:test";

import { TableClient, TableServiceClient, TableTransaction, odata } from "@azure/data-tables";

import { ACCOUNT, CONNECTION, all, endpoint, fresh, refused } from "./server.mjs";
import { CREDENTIAL, KEYS, OPTIONS, rows, table } from "./table.mjs";

describe("tables", () => {
    const service = TableServiceClient.fromConnectionString(CONNECTION, OPTIONS);

    test("every type comes back", async (context) => {
        const client = await table(context);
        const values = {
            text: "it's 東京 🚀", empty: "", number: 5, large: 2n ** 40n, least: -(2n ** 63n), real: 1.5, yes: true, no: false,
            bytes: Uint8Array.of(0, 255), nothing: new Uint8Array(0), guid: { type: "Guid", value: "00000000-0000-0000-0000-000000000005" },
            instant: new Date("2020-01-02T03:04:05.678Z"),
        };
        await client.createEntity({ ...KEYS, ...values, absent: null });
        const found = await client.getEntity("p", "r");
        for (const [name, value] of Object.entries(values)) {
            // Treats buffers and byte arrays with the same bytes as equal.
            const plain = (one) => (one instanceof Uint8Array ? [...one] : one);
            assert.deepEqual(plain(found[name]), plain(value), name);
        }
        assert.equal("absent" in found, false);
        assert.match(found.etag, /^W\/"datetime'/);
        assert.match(found.timestamp, /Z$/);
    });

    test("doubles that JSON has no number for, and whole ones, stay doubles", async (context) => {
        const client = await table(context);
        const values = { nan: "NaN", plus: "Infinity", minus: "-Infinity" };
        const typed = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { type: "Double", value }]));
        await client.createEntity({ ...KEYS, ...typed, whole: { type: "Double", value: 5 } });
        const found = await client.getEntity("p", "r");
        assert.deepEqual([found.nan, found.plus, found.minus, found.whole], ["NaN", "Infinity", "-Infinity", 5]);
        // A whole Double does not become an Int32: a filter with Double literals, which have a decimal point, finds it.
        assert.deepEqual(await rows(client, "whole eq 5.0 and whole lt 5.5"), ["r"]);
    });

    test("ticks come back to the last digit", async (context) => {
        const client = await table(context);
        const value = "2020-01-02T03:04:05.1234567Z";
        await client.createEntity({ ...KEYS, at: { type: "DateTime", value } });
        const found = await client.getEntity("p", "r", { disableTypeConversion: true });
        assert.deepEqual(found.at, { type: "DateTime", value });
        assert.deepEqual(await rows(client, `at eq datetime'${value}'`), ["r"]);
        assert.deepEqual(await rows(client, "at gt datetime'2020-01-02T03:04:05.1234567Z'"), []);
    });

    test("filters compare every type", async (context) => {
        const client = await table(context);
        const guid = "00000000-0000-0000-0000-000000000005";
        const values = { text: "b", number: 5, large: 2n ** 40n, real: 1.5, yes: true, bytes: Uint8Array.of(0, 255), guid: { type: "Guid", value: guid } };
        await client.createEntity({ ...KEYS, ...values });
        for (const filter of [
            odata`text gt ${"a"}`, odata`number eq ${5}`, "large eq 1099511627776L", "real lt 1.6", odata`yes eq ${true}`, "bytes eq X'00ff'",
            `guid eq guid'${guid}'`, "not (number gt 5)", "text eq 'b' and (number eq 4 or real ge 1.5)", "PartitionKey eq 'p' and RowKey ge 'a'",
        ]) {
            assert.deepEqual(await rows(client, filter), ["r"], filter);
        }
        for (const filter of ["text lt 'b'", "number ne 5", "missing eq 1", "yes eq false", "text eq 5"]) {
            assert.deepEqual(await rows(client, filter), [], filter);
        }
    });

    test("inserts are refused for a key that exists, reads for one that is missing", async (context) => {
        const client = await table(context);
        await client.createEntity(KEYS);
        assert.deepEqual(await refused(client.createEntity(KEYS)), [409, "EntityAlreadyExists"]);
        assert.deepEqual(await refused(client.getEntity("p", "x")), [404, "ResourceNotFound"]);
        assert.deepEqual(await refused(client.deleteEntity("p", "x")), [404, "ResourceNotFound"]);
        assert.deepEqual(await refused(client.updateEntity({ partitionKey: "p", rowKey: "x" })), [404, "ResourceNotFound"]);
    });

    test("merges keep and replaces remove", async (context) => {
        const client = await table(context);
        await client.createEntity({ ...KEYS, a: 1, b: 2 });
        await client.updateEntity({ ...KEYS, b: 3 }, "Merge");
        let found = await client.getEntity("p", "r");
        assert.deepEqual([found.a, found.b], [1, 3]);
        await client.updateEntity({ ...KEYS, c: 4 }, "Replace");
        found = await client.getEntity("p", "r");
        assert.deepEqual([found.a, found.b, found.c], [undefined, undefined, 4]);
        await client.upsertEntity({ ...KEYS, d: 5 }, "Merge");
        await client.upsertEntity({ ...KEYS, rowKey: "new", d: 6 }, "Replace");
        found = await client.getEntity("p", "r");
        assert.deepEqual([found.c, found.d], [4, 5]);
        assert.equal((await client.getEntity("p", "new")).d, 6);
        await client.deleteEntity("p", "new");
        assert.deepEqual(await rows(client), ["r"]);
    });

    test("of writers with the same version one wins", async (context) => {
        const client = await table(context);
        await client.createEntity({ ...KEYS, n: 0 });
        const { etag } = await client.getEntity("p", "r");
        const writes = Array.from({ length: 20 }, (_, n) => client.updateEntity({ ...KEYS, n }, "Replace", { etag }));
        const ends = await Promise.allSettled(writes);
        assert.equal(ends.filter((end) => end.status === "fulfilled").length, 1);
        for (const { reason } of ends.filter((end) => end.status === "rejected")) {
            assert.deepEqual(await refused(Promise.reject(reason)), [412, "UpdateConditionNotSatisfied"]);
        }
        assert.deepEqual(await refused(client.deleteEntity("p", "r", { etag })), [412, "UpdateConditionNotSatisfied"]);
        await client.deleteEntity("p", "r", { etag: (await client.getEntity("p", "r")).etag });
    });

    test("keys of any characters", async (context) => {
        const client = await table(context);
        for (const rowKey of ["it's", "a b", "100%", "ä+ö&=", "東京", "", "a,b=(c)"]) {
            await client.createEntity({ partitionKey: "p'q", rowKey, n: 1 });
            assert.equal((await client.getEntity("p'q", rowKey)).rowKey, rowKey);
            await client.updateEntity({ partitionKey: "p'q", rowKey, n: 2 });
            assert.deepEqual(await rows(client, odata`PartitionKey eq ${"p'q"} and RowKey eq ${rowKey}`), [rowKey]);
            await client.deleteEntity("p'q", rowKey);
        }
    });

    test("transactions are all or none", async (context) => {
        const client = await table(context);
        const entity = (n) => ({ partitionKey: "p", rowKey: String(n).padStart(3, "0"), n });
        const answer = await client.submitTransaction(Array.from({ length: 100 }, (_, n) => ["create", entity(n)]));
        assert.equal(answer.status, 202);
        assert.equal(answer.subResponses.length, 100);
        // The response to an insert in a transaction has no body, but contains the ETag of the entity.
        assert.deepEqual(answer.subResponses.map((one) => one.status), Array(100).fill(204));
        assert.equal(answer.getResponseForEntity("007").etag, (await client.getEntity("p", "007")).etag);
        const bad = [["create", entity(100)], ["delete", entity(0)], ["create", entity(1)]];
        assert.deepEqual(await refused(client.submitTransaction(bad)), [409, "EntityAlreadyExists"]);
        assert.equal((await rows(client)).length, 100);
        const mixed = new TableTransaction();
        mixed.upsertEntity({ ...entity(0), m: 1 }, "Merge");
        mixed.updateEntity({ ...entity(2), n: 9 }, "Replace", { etag: (await client.getEntity("p", "002")).etag });
        mixed.deleteEntity("p", "001");
        await client.submitTransaction(mixed.actions);
        assert.equal((await client.getEntity("p", "000")).n, 0);
        assert.equal((await client.getEntity("p", "002")).n, 9);
        assert.equal((await rows(client)).length, 99);
    });

    test("transactions that the service refuses are refused by their codes", async (context) => {
        const client = await table(context);
        const create = (rowKey) => ["create", { partitionKey: "p", rowKey }];
        const many = Array.from({ length: 101 }, (_, n) => create(String(n)));
        assert.deepEqual(await refused(client.submitTransaction(many)), [400, "InvalidInput"]);
        assert.deepEqual(await refused(client.submitTransaction([create("a"), create("a")])), [400, "InvalidDuplicateRow"]);
        const stale = ["update", KEYS, "Replace", { etag: "W/\"datetime'2020-01-01T00%3A00%3A00.0000000Z'\"" }];
        await client.createEntity(KEYS);
        assert.deepEqual(await refused(client.submitTransaction([create("a"), stale])), [412, "UpdateConditionNotSatisfied"]);
        assert.deepEqual(await rows(client), ["r"]);
    });

    test("queries select and page", async (context) => {
        const client = await table(context);
        await client.submitTransaction(Array.from({ length: 60 }, (_, n) => ["create", { partitionKey: "p", rowKey: String(n).padStart(3, "0"), n }]));
        const [selected] = await all(client.listEntities({ queryOptions: { filter: "n eq 7", select: ["n", "absent"] } }));
        assert.equal(selected.n, 7);
        assert.equal(selected.rowKey, undefined);
        const pages = await all(client.listEntities().byPage({ maxPageSize: 25 }));
        assert.deepEqual(pages.map((page) => page.length), [25, 25, 10]);
        const [{ continuationToken }] = pages;
        const rest = await all(client.listEntities().byPage({ maxPageSize: 25, continuationToken }));
        assert.deepEqual(rest.map((page) => page.length), [25, 10]);
        assert.equal(rest[0][0].rowKey, "025");
        assert.equal((await all(client.listEntities({ queryOptions: { filter: "n ge 10" } }))).length, 50);
    });

    test("more than a page of entities are all listed", async (context) => {
        const client = await table(context);
        for (let first = 0; first < 1100; first += 100) {
            await client.submitTransaction(Array.from({ length: 100 }, (_, n) => ["create", { partitionKey: "p", rowKey: String(first + n).padStart(5, "0") }]));
        }
        const pages = await all(client.listEntities().byPage());
        assert.deepEqual(pages.map((page) => page.length), [1000, 100]);
        assert.equal((await rows(client)).length, 1100);
    });

    test("tables are listed in pages and by filter, and missing ones refused", async (context) => {
        const stem = fresh("JsList");
        for (const letter of ["a", "b", "c"]) {
            await service.createTable(stem + letter);
            context.after(() => service.deleteTable(stem + letter));
        }
        const queryOptions = { filter: odata`TableName ge ${stem} and TableName lt ${stem + "z"}` };
        assert.deepEqual((await all(service.listTables({ queryOptions }))).map((one) => one.name), [stem + "a", stem + "b", stem + "c"]);
        const pages = await all(service.listTables({ queryOptions }).byPage({ maxPageSize: 2 }));
        assert.deepEqual(pages.map((page) => page.length), [2, 1]);
        // The client treats a table that exists as created, and a missing table as deleted.
        await service.createTable(stem + "a");
        await service.deleteTable(fresh("No"));
        const missing = TableClient.fromConnectionString(CONNECTION, fresh("No"), OPTIONS);
        assert.deepEqual(await refused(all(missing.listEntities())), [404, "TableNotFound"]);
        assert.deepEqual(await refused(missing.createEntity(KEYS)), [404, "TableNotFound"]);
        assert.deepEqual(await refused(service.createTable("1st")), [400, "InvalidResourceName"]);
    });

    test("what is too large or malformed is refused by its code", async (context) => {
        const client = await table(context);
        const insert = (properties) => refused(client.createEntity({ ...KEYS, ...properties }));
        assert.deepEqual(await insert({ text: "x".repeat(32 * 1024 + 1) }), [400, "PropertyValueTooLarge"]);
        assert.deepEqual(await insert({ bytes: new Uint8Array(64 * 1024 + 1) }), [400, "PropertyValueTooLarge"]);
        assert.deepEqual(await insert(Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, "x".repeat(32 * 1024)]))), [400, "EntityTooLarge"]);
        assert.deepEqual(await insert(Object.fromEntries(Array.from({ length: 253 }, (_, n) => [`p${n}`, n]))), [400, "TooManyProperties"]);
        assert.deepEqual(await insert({ ["n".repeat(256)]: 1 }), [400, "PropertyNameTooLong"]);
        assert.deepEqual(await insert({ "a b": 1 }), [400, "PropertyNameInvalid"]);
        assert.deepEqual(await insert({ rowKey: "a/b" }), [400, "OutOfRangeInput"]);
        assert.deepEqual(await insert({ rowKey: "k".repeat(513) }), [400, "PropertyValueTooLarge"]);
        assert.deepEqual(await insert({ large: { type: "Int64", value: "many" } }), [400, "InvalidInput"]);
        assert.deepEqual(await refused(all(client.listEntities({ queryOptions: { filter: "n eq" } }))), [400, "InvalidInput"]);
        assert.deepEqual(await refused(client.updateEntity({ ...KEYS, n: 1 }, "Merge", { etag: "old" })), [400, "InvalidInput"]);
    });

    test("properties of the service are kept", async () => {
        const before = await service.getProperties();
        const cors = [{ allowedOrigins: "https://contoso.com", allowedMethods: "GET,PUT", allowedHeaders: "x-ms-*", exposedHeaders: "x-ms-*", maxAgeInSeconds: 60 }];
        await service.setProperties({ cors });
        const found = await service.getProperties();
        assert.deepEqual(found.cors, cors);
        // Properties that the document omits are unchanged.
        assert.deepEqual(found.hourMetrics, before.hourMetrics);
        await service.setProperties({ cors: [] });
        assert.deepEqual((await service.getProperties()).cors, []);
    });
});

// The account is the first label of the host name. Only a custom resolver can resolve this host name here.
describe("tables, host style", () => {
    const { port } = new URL(endpoint("Table"));
    const agent = new Agent({ lookup: (_, options, found) => (options.all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4)) });
    const local = { name: "local", sendRequest: (request, next) => next(Object.assign(request, { agent })) };
    const options = { ...OPTIONS, additionalPolicies: [{ policy: local, position: "perRetry" }] };
    const url = `http://${ACCOUNT}.table.core.example:${port}`;
    const service = new TableServiceClient(url, CREDENTIAL, options);
    const name = fresh("Js");
    before(() => service.createTable(name));
    after(() => service.deleteTable(name));
    after(() => agent.destroy());

    test("entities are written and read", async () => {
        const client = new TableClient(url, name, CREDENTIAL, options);
        await client.createEntity({ ...KEYS, n: 1 });
        await client.submitTransaction([["upsert", { ...KEYS, m: 2 }, "Merge"]]);
        assert.equal((await client.getEntity("p", "r")).m, 2);
        assert.deepEqual(await rows(client), ["r"]);
    });

    test("the secondary has statistics", async () => {
        assert.equal((await service.getStatistics()).geoReplication.status, "live");
    });
});
