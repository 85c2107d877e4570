// Tests of the explorer in a real browser: browsing, queries, edits with a conflict, keyboard use, a live feed and heat, large tables, hostile strings,
// accessibility, narrow screens.
//
// node suite.mjs URL CHROMIUM FOLDER ROWS PARTITIONS SAMPLE WINDOWS PID: opens the one-time URL, and writes screenshots of the pages to the folder. The table
// `Rows` has one partition of ROWS rows, and `Partitions` has PARTITIONS partitions; both are filled while the first steps run. The test scrolls down and back
// through WINDOWS windows of them, or through all of them if it is `all`. SAMPLE is the one-time URL of an explorer with only the sample tables, which is used
// for response times and the book's screenshots. PID is the process id of the server, whose memory is measured.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [url, executablePath, folder, ROWS, PARTITIONS, SAMPLE, WINDOWS, PID] = process.argv.slice(2);
const [origin, sample] = [url, SAMPLE].map((address) => new URL(address).origin);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// No host name resolves, so a page that needs another host reports an error.
const offline = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", offline] });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "Europe/Berlin", locale: "en-GB" });
context.setDefaultTimeout(60_000);
// A page that counts the rows of all tables may read a million rows while others are written. The timeout is therefore long.
context.setDefaultNavigationTimeout(60_000);
/** Collects the faults of pages: requests to other machines, violations of the policy, exceptions, and stored texts that run. */
const faults = [];
context.on("request", (request) => {
  if (![origin, sample].includes(new URL(request.url()).origin)) faults.push(`a request left: ${request.url()}`);
});
context.on("console", (message) => {
  const isExpected = /status of (4\d\d)/.test(message.text());
  if (message.type() === "error" && !isExpected) faults.push(`console: ${message.text()}`);
});
context.on("weberror", (error) => faults.push(`script: ${error.error()}`));
context.on("dialog", (dialog) => {
  faults.push(`a stored text opened a dialog: ${dialog.message()}`);
  dialog.dismiss();
});
const page = await context.newPage();

const open = (path) => page.goto(origin + path);
const shot = (name, over = page) => over.screenshot({ path: join(folder, `${name}.png`) });
const heading = () => page.locator("h1").innerText();

async function browse() {
  await page.goto(url);
  assert.equal(new URL(page.url()).search, "", "the token does not stay in the address");
  assert.equal(await heading(), "Tables");
  await page.click('main a[href="/t/HelpDesk"]');
  assert.match(await page.locator("svg.picture").last().getAttribute("aria-label"), /ByStatus/);
  await page.click('main a[href="/t/HelpDesk/p?pk=contoso"]');
  await page.click("text=Comment, Ticket");
  assert.equal(await page.locator("tbody tr").count(), 50);
  const first = await page.locator("tbody tr").first().innerText();
  await page.click("a.next");
  assert.notEqual(await page.locator("tbody tr").first().innerText(), first);
  await page.reload();
  assert.notEqual(await page.locator("tbody tr").first().innerText(), first, "a link to a page survives a reload");
  await page.click("a.first");
  // The side panel of the partition page already has the links of its first row, so only the URL distinguishes the two pages.
  await Promise.all([page.waitForURL("**/t/HelpDesk/e?*"), page.click("tbody a.key")]);
  assert.match(await page.locator("aside").innerText(), /ByStatus/);
  const time = page.locator("main time").first();
  assert.match(await time.getAttribute("title"), /Z$/, "the instant in UTC is one move away");
  const shown = new Date(await time.getAttribute("datetime")).toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin" });
  assert.ok((await time.innerText()).endsWith(shown), "times are in the reader's zone");
}

async function query() {
  await open("/t/Company/q");
  await page.fill('[name="part.department"]', "Sales");
  await page.waitForSelector("#plan >> text=PartitionKey eq 'Sales'");
  await page.fill('[name="part.id"]', "301..309");
  await page.waitForSelector("#plan >> text=empid_00030:");
  await page.fill('[name="property"]', "Age");
  await page.selectOption('[name="is"]', "ge");
  await page.fill('[name="value"]', "30");
  await page.waitForSelector("#plan >> text=Age ge 30");
  await page.click("button.go");
  assert.ok((await page.locator("section[aria-label=Result] tbody tr").count()) > 0);
  assert.doesNotMatch(page.url(), /filter=/, "the shared address has only what was asked");
  await shot("query");
  const shared = await context.newPage();
  await shared.goto(page.url());
  assert.equal(await shared.locator('[name="part.id"]').inputValue(), "301..309");
  await shared.close();
  await open("/t/Company/q?property=Age&is=ge&value=60&run=1");
  await page.click("text=Scan the table");
  assert.match(await page.locator(".foot").first().innerText(), /found, [\d,]+ read/);
}

async function edit() {
  const path = "/t/Company/e?pk=Sales&rk=empid_000301";
  await open(path);
  await page.keyboard.press("e");
  await page.waitForSelector("form.edit");
  const other = await context.newPage();
  await other.goto(page.url());
  const age = (on) => on.locator('.property:has(input[value="Age"]) input.value');
  await age(other).fill("50");
  await other.click("button.go");
  await other.waitForSelector("aside");
  await other.close();
  await age(page).fill("old");
  await page.click("button.go");
  assert.match(page.url(), /edit/, "the browser refuses a text that is no number");
  await age(page).fill("37");
  await page.click("button.go");
  assert.equal(await heading(), "Conflict");
  const cells = await page.locator("table.grid tbody tr").first().innerText();
  assert.match(cells, /Age\s+37\s+50/);
  await shot("conflict");
  await page.click("text=Overwrite with my values");
  assert.match(await page.locator("table.facts").innerText(), /37/);
  await open("/t/HelpDesk/edit?pk=contoso&rk=ticket_000007");
  assert.match(await page.locator(".report").innerText(), /declares index ByEmail/);
}

/** Uses only the keyboard: finds a table, opens a row, shows raw keys, and shows the list of keys. */
async function keys() {
  await open("/");
  await page.keyboard.press("/");
  await page.keyboard.type("sensor");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/t/SensorReadings");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.locator("tr.sel").count(), 1);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/t/SensorReadings/p?pk=*");
  await page.keyboard.press("r");
  assert.ok(await page.evaluate(() => document.body.classList.contains("raw-keys")));
  await page.keyboard.press("r");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await shot("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "the focus is visible");
  await page.keyboard.press("g");
  await page.waitForURL(origin + "/");
  // Goes from the list of tables to a saved change, using only the keyboard.
  for (const key of ["j", "Enter"]) await page.keyboard.press(key);
  await page.waitForURL("**/t/Company");
  for (const key of ["j", "Enter"]) await page.keyboard.press(key);
  await page.waitForURL("**/t/Company/p?pk=Finance");
  for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
  await page.waitForURL("**/t/Company/e?*");
  await page.keyboard.press("e");
  await page.waitForURL("**/edit?*");
  const field = page.locator('.property:has(input[value="Age"]) .value');
  for (let nth = 0; nth < 40 && !(await field.evaluate((one) => one === document.activeElement)); nth += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("44");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/t/Company/e?*");
  assert.match(await page.locator("table.facts").innerText(), /Age\s+Int32\s+44/);
}

async function feed() {
  await open("/t/HelpDesk/feed?pk=contoso");
  await page.waitForSelector("#feed-state >> text=live");
  await page.waitForSelector("#feed li.new");
  await shot("feed");
}

/** A hidden page has no open stream. A page that is shown again has each entry that was written meanwhile, once. */
async function hidden() {
  const other = await context.newPage();
  await other.addInitScript(() => {
    window.streams = [];
    window.EventSource = class extends EventSource {
      constructor(address) {
        super(address);
        window.streams.push(this);
      }
    };
    window.isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => window.isHidden });
    window.hide = (isHidden) => {
      window.isHidden = isHidden;
      document.dispatchEvent(new Event("visibilitychange"));
      return window.streams.filter((stream) => stream.readyState !== EventSource.CLOSED).length;
    };
  });
  const numbers = (on) => on.locator("#feed .number").evaluateAll((all) => all.map((one) => Number(one.innerText.replaceAll(",", ""))));
  await other.goto(`${origin}/t/HelpDesk/feed?pk=contoso`);
  await other.waitForSelector("#feed li.new");
  assert.equal(await other.evaluate(() => window.hide(true)), 0, "a hidden page has no stream");
  const [last] = await numbers(other);
  let newest = last;
  while (newest < last + 3) {
    await open("/t/HelpDesk/feed?pk=contoso");
    [newest] = await numbers(page);
  }
  assert.equal((await numbers(other))[0], last, "a hidden page reads nothing");
  assert.equal(await other.evaluate(() => window.hide(false)), 1, "a page that is shown has one stream");
  await other.waitForFunction((newest) => Number(document.querySelector("#feed .number").innerText.replaceAll(",", "")) >= newest, newest);
  const found = await numbers(other);
  assert.deepEqual(found, found.map((_, at) => found[0] - at), "each entry is listed once, in order");
  await other.goto(`${origin}/load`);
  assert.equal(await other.evaluate(() => window.hide(true)), 0);
  assert.equal(await other.evaluate(() => window.hide(false)), 1);
  await other.close();
}

/** Heat changes while a program writes, and the focus stays on its row. The side shows the selected row of a partition. */
async function heat() {
  await open("/load");
  // The number of requests in the last hour only increases.
  const count = page.locator('#load tr:has(a[href*="pk=contoso"]) td.num').last();
  await page.focus('#load a.key[href*="pk=contoso"]');
  const before = Number(await count.innerText());
  await page.waitForFunction((before) => Number([...document.querySelectorAll('#load tr:has(a[href*="pk=contoso"]) td.num')].at(-1).innerText) > before, before);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("href")), /pk=contoso/);
  await shot("heat");
  await open("/t/HelpDesk/p?pk=contoso&under=ticket_");
  const [title, requests] = [await page.locator("#detail h2").first().innerText(), await page.evaluate(() => sums.requests)];
  for (const key of ["j", "j", "j"]) await page.keyboard.press(key);
  await page.waitForFunction((title) => document.querySelector("#detail h2").innerText !== title, title);
  const selected = await page.locator("tr.sel a.key").getAttribute("href");
  assert.ok((await page.locator("#detail dd code").nth(1).innerText()).length > 0 && selected.includes("ticket_"));
  assert.equal(await page.evaluate(() => sums.requests), requests + 1, "three moves in a row are one request");
  assert.match(await page.locator("aside").innerText(), /last hour/i);
  await shot("selected");
}

/** Samples of growth: the store's by itself, the tables' by a count. Both have a chart, and a table with the same numbers. */
async function growth() {
  await open("/growth?count=1");
  await page.waitForSelector('td:has-text("160")');
  await shot("growth");
  await page.click('tbody a.key:has-text("Company")');
  assert.ok((await page.locator("svg.chart").count()) === 2 && (await page.locator("tbody tr").count()) > 0);
}

async function work() {
  await open("/work?queue=helpdesk");
  await shot("work");
  await page.check('input[name="work"]');
  await page.click("button:text(\"Requeue\")");
  await page.waitForSelector("text=The queue has no poison");
}

/** Marks rows by keyboard and deletes them after a preview, and pastes rows after a preview. */
async function bulk() {
  await open("/t/Company/p?pk=Finance");
  const before = await page.locator("tbody tr").count();
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  assert.equal(await page.locator(".mark input:checked").count(), 2);
  await page.click("text=Delete marked rows");
  assert.match(await heading(), /Delete 2 rows/);
  await shot("delete-many");
  await page.check("input[name=sure]");
  await page.click("button:text-is(\"Delete\")");
  assert.match(await heading(), /2 rows deleted/);
  await open("/t/Company/p?pk=Finance");
  assert.equal(await page.locator("tbody tr").count(), before - 2);
  await open("/t/Company/paste");
  await page.fill("textarea", "PartitionKey\tRowKey\tName\tAge\nFinance\tempid_000990\tGrace\t52\nFinance\tempid_000991\t<img src=x onerror=window.stolen=6>\t41");
  await page.click("text=Preview");
  assert.match(await page.locator("section, .wrap.rows").first().innerText(), /990/);
  await shot("paste");
  await page.click("text=Write 2 rows");
  assert.match(await heading(), /2 rows written/);
}

/** Saves a query, finds it in the list, runs it, and exports the result in both formats. */
async function saved() {
  await open("/t/Company/q?part.department=Sales&property=Age&is=ge&value=50&run=1");
  await page.fill("#save-name", "Sales staff from 50");
  await page.click("text=Save the query");
  await page.waitForURL("**/queries");
  await shot("saved");
  await page.click("text=Sales staff from 50");
  assert.equal(await page.locator('[name="part.department"]').inputValue(), "Sales");
  for (const [name, first] of [["JSON lines", /^{/], ["CSV", /^PartitionKey,RowKey,/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`a:text-is("${name}")`)]);
    assert.match(readFileSync(await download.path(), "utf8"), first);
  }
}

async function queues() {
  await open("/queues");
  await page.click("text=helpdesk-poison");
  assert.match(await page.locator("main").innerText(), /messages? shown of about/);
  await shot("queues");
}

/** Scrolls a grid down by a number of windows or until its end, or back to its first page. */
const scroll = (isDown, windows = Infinity) => page.evaluate(async ([isDown, windows]) => {
  if (!scroller) return; // Everything is on the page.
  const wrap = document.querySelector(".wrap.rows");
  const goal = scroller.dropped.length + windows;
  const isOver = () => (isDown ? scroller.dropped.length >= goal || !document.querySelector("a.next[data-next]") : scroller.dropped.length === 0);
  let idle = 0;
  while (!isOver()) {
    idle = scroller.running ? 0 : idle + 1;
    if (idle > 200) throw new Error("scrolling reads no further rows");
    wrap.scrollTop = isDown ? wrap.scrollHeight : 0;
    await new Promise((done) => requestAnimationFrame(done));
  }
}, [isDown, windows]);

/** Returns the number of nodes and the bytes of the heap after a garbage collection. */
async function held(session) {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { nodes: of("Nodes"), bytes: of("JSHeapUsedSize") };
}

/** Returns the resident memory of the server's process in bytes, if the system reports it. */
function resident() {
  try {
    return 1024 * Number(readFileSync(`/proc/${PID}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]);
  } catch {
    return 0;
  }
}

const firstKey = () => page.locator("tbody tr a.key").first().innerText();
const lastKey = () => page.locator("tbody tr a.key").last().innerText();

/** Waits until a large table is filled. Its last row is written last. */
async function filled(path) {
  for (let nth = 0; nth < 600; nth += 1) {
    await open(path);
    if ((await page.locator("tbody tr a.key").count()) > 0) return;
    await page.waitForTimeout(500);
  }
  assert.fail(`${path} was not filled`);
}

/** Jumps to a key by keyboard. */
async function jump(key) {
  await page.keyboard.press("t");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(key);
  await Promise.all([page.waitForURL(`**at=${key}*`), page.keyboard.press("Enter")]);
  assert.equal(await firstKey(), key);
}

/** Scrolls large tables down by many windows and back, jumps to places in the whole table and to the end, and checks the memory of page and server. */
async function large() {
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");
  const windows = WINDOWS === "all" ? Infinity : Number(WINDOWS);
  const tables = [
    ["/t/Rows/p?pk=all", Number(ROWS), (nth) => String(nth).padStart(9, "0")],
    ["/t/Partitions", Number(PARTITIONS), (nth) => `p${String(nth).padStart(8, "0")}`],
  ];
  const waited = Date.now();
  for (const [path, count, key] of tables) await filled(`${path}${path.includes("?") ? "&" : "?"}at=${key(count - 1)}`);
  console.log(`the large tables were filled after ${Date.now() - waited} ms more`);
  for (const [path, count, key] of tables) {
    await open(path);
    assert.equal(await firstKey(), key(0));
    await page.evaluate(() => choose(1_000));
    const bottom = await page.locator("tr.sel a.key").innerText();
    await page.keyboard.press("j");
    await page.waitForFunction((bottom) => document.querySelector("tr.sel a.key").innerText > bottom, bottom);
    await scroll(true, 4);
    const [full, before, begun] = [await held(session), resident(), Date.now()];
    await scroll(true, windows);
    if (windows === Infinity) assert.equal(await lastKey(), key(count - 1), "the last row is shown");
    const end = await held(session);
    const [, requests, rows] = (await page.locator("#cost").innerText()).replaceAll(",", "").match(/sent (\d+) requests.*read (\d+) rows/);
    const shown = Number((await lastKey()).replace("p", "")) + 1;
    // The side panel reads the two selected rows again, or only the second if the selection did not stop on the first.
    const again = Number(rows) - shown;
    if (path.includes("/p?")) assert.ok(again >= 0 && again <= 2, `each row is read once: ${rows} for ${shown}`);
    await scroll(false);
    assert.equal(await firstKey(), key(0), "the first row is shown again");
    const back = await held(session);
    console.log(`${path}: the first ${shown} of ${count} in ${requests} requests, ${Date.now() - begun} ms down and back; nodes and bytes ${[full, end, back].map(({ nodes, bytes }) => `${nodes} ${bytes}`).join(", ")}`);
    for (const later of [end, back]) {
      assert.ok(later.nodes < 1.5 * full.nodes + 2_000, `${later.nodes} nodes, after ${full.nodes}`);
      assert.ok(later.bytes < full.bytes + 4_000_000, `${later.bytes} bytes, after ${full.bytes}`);
    }
    assert.ok((await page.locator("tbody tr").count()) < 2_000);
    // Jumps to places throughout the table, and scrolls on from each of them.
    const jumping = Date.now();
    for (let nth = 1; nth <= 8; nth += 1) {
      const at = Math.floor((count * nth) / 9);
      await jump(key(at));
      await scroll(true, 1);
      assert.ok((await lastKey()) >= key(Math.min(at + 600, count - 1)), "the windows behind the place are read");
    }
    await jump(key(count - 120));
    await scroll(true);
    assert.equal(await lastKey(), key(count - 1), "the last row is shown");
    assert.match(await page.locator("[data-next]").innerText(), /end of the/);
    await page.keyboard.press("p");
    await page.waitForFunction((first) => document.querySelector("tbody tr a.key")?.innerText === first, key(0));
    const grown = resident() - before;
    console.log(`${path}: 9 places and back in ${Date.now() - jumping} ms; the server grew by ${grown} of ${before} bytes`);
    assert.ok(grown < 48_000_000, `the server grew by ${grown} bytes`);
  }
  await session.detach();
  // If a page of rows is shorter than twice the window height, one scroll reads just enough pages to fill the window, and then stops.
  await page.setViewportSize({ width: 1440, height: 500 });
  await open("/t/Rows/q?partition=all&top=12&run=1");
  const requests = () => page.evaluate(() => sums.requests);
  for (let move = 1; move <= 10; move += 1) {
    const before = await requests();
    await page.evaluate(() => { const wrap = document.querySelector(".wrap.rows"); wrap.scrollTop = wrap.scrollHeight; });
    await page.waitForFunction((before) => sums.requests > before, before);
    await page.waitForTimeout(150);
  }
  const few = await requests();
  await page.waitForTimeout(1_000);
  assert.equal(await requests(), few, "nothing is read while nothing moves");
  assert.ok(few <= 32, `${few} requests for ten moves`);
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Scrolling passes pages of a result without rows. A mark of a row that leaves the document is sent, and restored when the row comes back. */
async function sparse() {
  const last = String(Math.min(Number(ROWS) - 1, 90_000)).padStart(9, "0");
  await filled(`/t/Rows/p?pk=all&at=${last}`);
  const filter = `N eq 7 and RowKey le '${last}' and (RowKey lt '000001000' or RowKey eq '${last}')`;
  await open(`/t/Rows/q?${new URLSearchParams({ partition: "all", filter, top: 100, run: 1, scan: 1 })}`);
  await page.locator(".mark input").first().check();
  await scroll(true);
  assert.equal(await lastKey(), last, "the row behind the empty pages is shown");
  const [dropped, shown] = await page.evaluate(() => [scroller.dropped.length, rows().length]);
  assert.ok(dropped > 0 && 100 * dropped + shown === 1_001, `${dropped} pages of 100 rows and ${shown} rows`);
  assert.match(await page.locator("[data-next]").innerText(), /end of the/);
  await scroll(false);
  const kept = page.locator('#marked input[name="row"][type="hidden"]');
  assert.deepEqual([await page.locator(".mark input").first().isChecked(), await kept.count()], [true, 0], "the mark comes back with its row");
  await scroll(true);
  assert.equal(await kept.count(), 1, "the mark of the dropped row is in the form");
  await page.click("text=Delete marked rows");
  assert.match(await heading(), /Delete 1 row of/);
}

async function hostile() {
  await open("/queues?name=hostile");
  await open("/t/Hostile/feed?pk=feed");
  await open("/t/Hostile/q?run=1");
  await open("/t/Hostile");
  for (const path of await page.locator("main a.key").evaluateAll((links) => links.map((link) => link.getAttribute("href")))) {
    await open(path);
    const rows = await page.locator("main a.key").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    for (const row of rows) await open(row);
  }
  assert.equal(await page.evaluate(() => window.stolen), undefined);
}

/** The pages that are audited in both colour schemes and measured on a narrow screen. */
const PAGES = [
  ["tables", "/"],
  ["table", "/t/HelpDesk"],
  ["inferred", "/t/SensorReadings"],
  ["partition", "/t/HelpDesk/p?pk=contoso&under=ticket_"],
  ["entity", "/t/HelpDesk/e?pk=contoso&rk=ticket_000007"],
  ["value", "/t/HelpDesk/v?pk=contoso&rk=ticket_000004&name=Text&as=text"],
  ["query-page", "/t/Company/q?part.department=Sales&run=1"],
  ["edit", "/t/Company/edit?pk=Sales&rk=empid_000302"],
  ["engine", "/engine"],
  ["work-page", "/work?queue=helpdesk"],
  ["queues-page", "/queues?name=helpdesk"],
  ["queries-page", "/queries"],
  ["feed-page", "/t/HelpDesk/feed?pk=fabrikam"],
  ["paste-page", "/t/Company/paste"],
  ["size", "/t/Company/size"],
  ["layout", "/t/HelpDesk/layout?pk=contoso"],
  ["load-page", "/load"],
  ["growth-page", "/growth"],
  ["growth-table", "/growth?table=Company"],
  ["failure", "/t/Missing/p?pk=a"],
];

/** Reports the time of pages from the request to the last byte, and to the first paint. */
async function times() {
  await page.goto(SAMPLE);
  for (const path of ["/", "/t/HelpDesk", "/t/HelpDesk/p?pk=contoso", "/t/Company/q?part.department=Sales&run=1"]) {
    const found = [];
    for (let nth = 0; nth < 7; nth += 1) {
      await page.goto(sample + path);
      found.push(await page.evaluate(async () => {
        const [navigation] = performance.getEntriesByType("navigation");
        while (performance.getEntriesByName("first-contentful-paint").length === 0) await new Promise(requestAnimationFrame);
        return [navigation.responseEnd - navigation.requestStart, performance.getEntriesByName("first-contentful-paint")[0].startTime];
      }));
    }
    const median = (at) => found.map((times) => times[at]).sort((one, other) => one - other)[3].toFixed(0);
    console.log(`${path}: response after ${median(0)} ms, painted after ${median(1)} ms`);
  }
}

/** The pictures of the book. */
const PICTURES = [
  ["explorer-table", "/t/HelpDesk"],
  ["explorer-partition", "/t/HelpDesk/p?pk=contoso&under=ticket_"],
  ["explorer-entity", "/t/HelpDesk/e?pk=contoso&rk=ticket_000007"],
  ["explorer-query", "/t/Company/q?part.department=Sales&part.id=301..309&property=Age&is=ge&value=30&run=1"],
  ["explorer-work", "/work?queue=helpdesk"],
  ["explorer-engine", "/engine"],
];

/** Writes the pictures of the book as WebP, converted by Chromium from its screenshots. */
async function pictures() {
  await page.setViewportSize({ width: 1280, height: 760 });
  const blank = await browser.newPage();
  for (const [name, path] of PICTURES) {
    await page.goto(sample + path);
    const png = (await page.screenshot()).toString("base64");
    const bytes = Buffer.from(await blank.evaluate(async (png) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      canvas.getContext("2d").drawImage(image, 0, 0);
      // Lowers the quality until the image is smaller than 60 KB.
      let webp;
      for (let quality = 0.82; quality > 0.5 && !(webp?.length < 78_000); quality -= 0.04) webp = canvas.toDataURL("image/webp", quality).split(",")[1];
      return webp;
    }, png), "base64");
    assert.ok(bytes.length < 60_000, `${name} has ${bytes.length} bytes`);
    writeFileSync(join(folder, `${name}.webp`), bytes);
  }
  await blank.close();
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Adds the serious violations that axe finds on the current page to the faults. */
async function axed(name, options) {
  const { violations, passes } = await page.evaluate((options) => axe.run(document, options), options);
  assert.ok(passes.length > 0, "the audit looked at the page");
  const serious = violations.filter((found) => ["serious", "critical"].includes(found.impact));
  for (const found of serious) faults.push(`${name}: ${found.id}: ${found.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  await shot(name);
}

/** Audits each page in both colour schemes, which differ only in colours, and measures it on a narrow and on a wide screen. */
async function audit() {
  for (const [name, path] of PAGES) {
    // Reduced motion disables transitions, so the audit never sees colours halfway between the two schemes.
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await open(path);
    await page.evaluate(axe);
    await axed(`${name}-light`, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] });
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await axed(`${name}-dark`, { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } });
    await page.setViewportSize({ width: 320, height: 700 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 320) faults.push(`${name}: ${width} points wide on a screen of 320`);
    if (["partition", "load-page", "growth-page"].includes(name)) await shot(`${name}-narrow`);
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 3840, height: 2160 });
  for (const [name, path] of PAGES.filter(([name]) => ["table", "partition"].includes(name))) {
    await open(path);
    const widest = await page.locator(".design").first().evaluate((one) => one.offsetWidth);
    if (widest > (name === "table" ? 1_720 : 3_200)) faults.push(`${name}: a line of ${widest} points on a screen of 3840`);
    await shot(`${name}-wide`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

let failed;
for (const step of [browse, query, saved, edit, bulk, keys, feed, hidden, heat, growth, queues, work, hostile, times, pictures, audit, large, sparse]) {
  const begun = Date.now();
  try {
    await step();
    console.log(`${step.name}: done in ${Date.now() - begun} ms`);
  } catch (error) {
    await shot(`failed-${step.name}`).catch(() => {});
    failed = `${step.name} at ${page.url()}: ${error.stack}`;
    break;
  }
}
await browser.close();
for (const fault of faults) console.log(`fault: ${fault}`);
if (failed) console.log(failed);
process.exit(failed || faults.length > 0 ? 1 : 0);
