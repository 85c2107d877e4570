// `@azure/storage-queue`: messages, metadata, lists, policies, signatures, properties, errors by code.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
    AccountSASPermissions, AnonymousCredential, QueueClient, QueueSASPermissions, QueueServiceClient, StorageSharedKeyCredential,
} from "@azure/storage-queue";

import { ACCOUNT, CONNECTION, HOUR, KEY, NOW, all, endpoint, fresh, refused } from "./server.mjs";

const CREDENTIAL = new StorageSharedKeyCredential(ACCOUNT, KEY);
const service = QueueServiceClient.fromConnectionString(CONNECTION);

/** Creates a queue for one test. */
async function queue(context, metadata) {
    const client = service.getQueueClient(fresh("js"));
    await client.create({ metadata });
    context.after(() => client.deleteIfExists());
    return client;
}

const texts = (messages) => messages.map((message) => message.messageText);

describe("queues", () => {
    test("messages are peeked, leased, updated and deleted", async (context) => {
        const client = await queue(context);
        const sent = await client.sendMessage("<a & b> \"東京\" 🚀");
        assert.ok(sent.expiresOn - sent.insertedOn === 7 * 24 * HOUR);
        assert.deepEqual(texts((await client.peekMessages({ numberOfMessages: 5 })).peekedMessageItems), ["<a & b> \"東京\" 🚀"]);
        const { receivedMessageItems: [message] } = await client.receiveMessages({ visibilityTimeout: 600 });
        assert.deepEqual([message.messageId, message.messageText, message.dequeueCount], [sent.messageId, "<a & b> \"東京\" 🚀", 1]);
        assert.deepEqual((await client.receiveMessages()).receivedMessageItems, []);
        const changed = await client.updateMessage(message.messageId, message.popReceipt, "later", 600);
        assert.ok(changed.nextVisibleOn > NOW);
        assert.deepEqual(await refused(client.deleteMessage(message.messageId, message.popReceipt)), [400, "PopReceiptMismatch"]);
        await client.deleteMessage(message.messageId, changed.popReceipt);
        assert.deepEqual(await refused(client.deleteMessage(message.messageId, changed.popReceipt)), [404, "MessageNotFound"]);
        assert.equal((await client.getProperties()).approximateMessagesCount, 0);
    });

    test("an update without a text changes the visibility alone", async (context) => {
        const client = await queue(context);
        await client.sendMessage("kept");
        const { receivedMessageItems: [message] } = await client.receiveMessages({ visibilityTimeout: 600 });
        await client.updateMessage(message.messageId, message.popReceipt, undefined, 0);
        const { receivedMessageItems: [again] } = await client.receiveMessages({ visibilityTimeout: 600 });
        assert.deepEqual([again.messageText, again.dequeueCount], ["kept", 2]);
    });

    test("messages are hidden and expire as they were sent", async (context) => {
        const client = await queue(context);
        const never = await client.sendMessage("never", { messageTimeToLive: -1, visibilityTimeout: 3600 });
        assert.equal(never.expiresOn.toISOString(), "9999-12-31T23:59:59.000Z");
        assert.ok(never.nextVisibleOn > NOW + HOUR / 2);
        assert.deepEqual((await client.peekMessages()).peekedMessageItems, []);
        const soon = await client.sendMessage("soon", { messageTimeToLive: 100 });
        assert.equal(soon.expiresOn - soon.insertedOn, 100_000);
        // The pop receipt from the send is sufficient to delete the message (QUE-11).
        await client.deleteMessage(never.messageId, never.popReceipt);
        assert.equal((await client.getProperties()).approximateMessagesCount, 1);
    });

    test("receivers beside one another get different messages", async (context) => {
        const client = await queue(context);
        await Promise.all(Array.from({ length: 40 }, (_, n) => client.sendMessage(String(n))));
        const receive = () => client.receiveMessages({ numberOfMessages: 4, visibilityTimeout: 600 });
        const answers = await Promise.all(Array.from({ length: 10 }, receive));
        const found = answers.flatMap((answer) => texts(answer.receivedMessageItems));
        assert.equal(new Set(found).size, 40);
        assert.equal(found.length, 40);
    });

    test("a queue is cleared", async (context) => {
        const client = await queue(context);
        for (let n = 0; n < 40; n += 1) await client.sendMessage(String(n));
        assert.equal((await client.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.length, 32);
        await client.clearMessages();
        assert.deepEqual((await client.peekMessages()).peekedMessageItems, []);
    });

    test("queues exist, and are created and deleted once", async () => {
        const client = service.getQueueClient(fresh("js"));
        assert.equal(await client.exists(), false);
        assert.equal((await client.createIfNotExists()).succeeded, true);
        assert.equal((await client.createIfNotExists()).succeeded, false);
        assert.deepEqual(await refused(client.create({ metadata: { other: "yes" } })), [409, "QueueAlreadyExists"]);
        assert.equal(await client.exists(), true);
        assert.equal((await client.deleteIfExists()).succeeded, true);
        assert.equal((await client.deleteIfExists()).succeeded, false);
        assert.deepEqual(await refused(client.delete()), [404, "QueueNotFound"]);
        assert.deepEqual(await refused(client.sendMessage("x")), [404, "QueueNotFound"]);
        assert.deepEqual(await refused(service.createQueue("Not-A-Name")), [400, "InvalidResourceName"]);
    });

    test("metadata are kept", async (context) => {
        const client = await queue(context, { owner: "ada", stage: "<1 & 2>" });
        assert.deepEqual((await client.getProperties()).metadata, { owner: "ada", stage: "<1 & 2>" });
        await client.setMetadata({ owner: "bob" });
        assert.deepEqual((await client.getProperties()).metadata, { owner: "bob" });
        await client.setMetadata({});
        assert.deepEqual((await client.getProperties()).metadata, {});
        assert.deepEqual(await refused(client.setMetadata({ "a-b": "c" })), [400, "InvalidMetadata"]);
    });

    test("queues are listed in pages by prefix with metadata", async (context) => {
        const stem = fresh("list");
        for (let n = 0; n < 5; n += 1) {
            await service.createQueue(`${stem}-${n}`, { metadata: { number: String(n) } });
            context.after(() => service.deleteQueue(`${stem}-${n}`));
        }
        const pages = await all(service.listQueues({ prefix: stem, includeMetadata: true }).byPage({ maxPageSize: 2 }));
        assert.deepEqual(pages.map((page) => page.queueItems.length), [2, 2, 1]);
        assert.deepEqual(pages[2].queueItems.map(({ name, metadata }) => [name, metadata]), [[`${stem}-4`, { number: "4" }]]);
        assert.equal((await all(service.listQueues({ prefix: stem }))).length, 5);
        assert.deepEqual(await all(service.listQueues({ prefix: `${stem}-9` })), []);
    });

    test("what is out of range is refused by its code", async (context) => {
        const client = await queue(context);
        assert.deepEqual(await refused(client.receiveMessages({ numberOfMessages: 33 })), [400, "OutOfRangeQueryParameterValue"]);
        assert.deepEqual(await refused(client.peekMessages({ numberOfMessages: 0 })), [400, "OutOfRangeQueryParameterValue"]);
        assert.deepEqual(await refused(client.receiveMessages({ visibilityTimeout: 604_801 })), [400, "OutOfRangeQueryParameterValue"]);
        const late = client.sendMessage("x", { visibilityTimeout: 100, messageTimeToLive: 100 });
        assert.equal((await refused(late))[0], 400);
        assert.deepEqual(await refused(client.sendMessage("x".repeat(65_537))), [413, "RequestBodyTooLarge"]);
        await client.sendMessage("x".repeat(65_536));
    });

    test("a signature of a queue bounds what it permits", async (context) => {
        const client = await queue(context);
        await client.sendMessage("x");
        const holder = (permissions, options) => {
            const granted = permissions && { permissions: QueueSASPermissions.parse(permissions), expiresOn: new Date(NOW + HOUR) };
            return new QueueClient(client.generateSasUrl({ ...granted, ...options }), new AnonymousCredential());
        };
        const read = holder("r");
        assert.deepEqual(texts((await read.peekMessages()).peekedMessageItems), ["x"]);
        assert.equal((await read.getProperties()).approximateMessagesCount, 1);
        assert.deepEqual(await refused(read.sendMessage("y")), [403, "AuthorizationPermissionMismatch"]);
        assert.deepEqual(await refused(read.receiveMessages()), [403, "AuthorizationPermissionMismatch"]);
        assert.deepEqual(await refused(read.delete()), [403, "AuthorizationFailure"]);
        const work = holder("aup");
        await work.sendMessage("y");
        const { receivedMessageItems: [message] } = await work.receiveMessages({ visibilityTimeout: 600 });
        const { popReceipt } = await work.updateMessage(message.messageId, message.popReceipt, "z", 600);
        await work.deleteMessage(message.messageId, popReceipt);
        const late = holder("r", { expiresOn: new Date(NOW - HOUR) });
        assert.deepEqual(await refused(late.peekMessages()), [403, "AuthenticationFailed"]);
    });

    test("stored policies are kept, and what they allow ends with them", async (context) => {
        const client = await queue(context);
        await client.sendMessage("x");
        const [startsOn, expiresOn] = [NOW - HOUR, NOW + HOUR].map((time) => new Date(Math.floor(time / 1000) * 1000));
        await client.setAccessPolicy([{ id: "workers", accessPolicy: { startsOn, expiresOn, permissions: "rp" } }]);
        const { signedIdentifiers } = await client.getAccessPolicy();
        assert.deepEqual(signedIdentifiers, [{ id: "workers", accessPolicy: { startsOn, expiresOn, permissions: "rp" } }]);
        const worker = new QueueClient(client.generateSasUrl({ identifier: "workers" }), new AnonymousCredential());
        assert.deepEqual(texts((await worker.peekMessages()).peekedMessageItems), ["x"]);
        await client.setAccessPolicy([]);
        assert.deepEqual(await refused(worker.peekMessages()), [403, "AuthenticationFailed"]);
    });

    test("a signature of the account lists and bounds", async (context) => {
        const client = await queue(context);
        const url = service.generateAccountSasUrl(new Date(NOW + HOUR), AccountSASPermissions.parse("l"), "sco");
        const holder = new QueueServiceClient(url, new AnonymousCredential());
        assert.ok((await all(holder.listQueues())).some((one) => one.name === client.name));
        assert.deepEqual(await refused(holder.createQueue(fresh("no"))), [403, "AuthorizationPermissionMismatch"]);
    });

    test("a wrong key and no key are refused", async () => {
        const url = endpoint("Queue");
        const stranger = new QueueServiceClient(url, new StorageSharedKeyCredential(ACCOUNT, "d3Jvbmc="));
        assert.deepEqual(await refused(all(stranger.listQueues())), [403, "AuthenticationFailed"]);
        const nameless = new QueueServiceClient(url, new AnonymousCredential());
        assert.equal((await refused(all(nameless.listQueues())))[0], 403);
    });

    test("properties of the service are kept", async () => {
        const rule = { allowedOrigins: "https://contoso.com", allowedMethods: "GET,PUT", allowedHeaders: "x-ms-*", exposedHeaders: "x-ms-*", maxAgeInSeconds: 60 };
        await service.setProperties({ cors: [rule] });
        assert.deepEqual((await service.getProperties()).cors, [rule]);
        await service.setProperties({ cors: [] });
        assert.deepEqual((await service.getProperties()).cors, []);
    });

    test("the secondary has statistics", async () => {
        const secondary = new QueueServiceClient(`${endpoint("Queue")}-secondary`, CREDENTIAL);
        assert.equal((await secondary.getStatistics()).geoReplication.status, "live");
    });
});
