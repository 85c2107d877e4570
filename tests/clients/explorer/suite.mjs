// The explorer in a real browser: browse, query, edit with a conflict, keys alone, a live feed, hostile texts, accessibility, narrow screens.
//
// node suite.mjs URL CHROMIUM FOLDER: opens the one-time URL, and leaves pictures of the pages in the folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [url, executablePath, folder] = process.argv.slice(2);
const origin = new URL(url).origin;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "Europe/Berlin", locale: "en-GB" });
context.setDefaultTimeout(10_000);
/** What no page may do: leave this machine, break its policy, throw, or run a stored text. */
const faults = [];
context.on("request", (request) => {
  if (!request.url().startsWith(origin)) faults.push(`a request left: ${request.url()}`);
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
  await page.click("tbody a.key");
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
  assert.equal(await heading(), "Changed meanwhile");
  const cells = await page.locator("table.grid tbody tr").first().innerText();
  assert.match(cells, /Age\s+37\s+50/);
  await shot("conflict");
  await page.click("text=Save mine over it");
  assert.match(await page.locator("table.facts").innerText(), /37/);
  await open("/t/HelpDesk/edit?pk=contoso&rk=ticket_000007");
  assert.match(await page.locator(".report").innerText(), /declares index ByEmail/);
}

/** A reader without a pointer: finds a table, opens a row, changes the size of raw keys, asks for the keys. */
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
}

async function feed() {
  await open("/t/HelpDesk/feed?pk=contoso");
  await page.waitForSelector("#feed-state >> text=live");
  await page.waitForSelector("#feed li.new");
  await shot("feed");
}

async function work() {
  await open("/work?queue=helpdesk");
  await shot("work");
  await page.click("button:text(\"Requeue\")");
  await page.waitForSelector("text=The queue has no poison");
}

async function hostile() {
  await open("/t/Hostile");
  for (const path of await page.locator("main a.key").evaluateAll((links) => links.map((link) => link.getAttribute("href")))) {
    await open(path);
    const rows = await page.locator("main a.key").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    for (const row of rows) await open(row);
  }
  assert.equal(await page.evaluate(() => window.stolen), undefined);
}

/** Pages on which every reader depends; each is audited in both colour schemes, and measured on a narrow screen. */
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
  ["failure", "/t/Missing/p?pk=a"],
];

async function audit() {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const [name, path] of PAGES) {
      await open(path);
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
      assert.ok(passes.length > 10, "the audit looked at the page");
      const serious = violations.filter((found) => ["serious", "critical"].includes(found.impact));
      for (const found of serious) faults.push(`${name}, ${colorScheme}: ${found.id}: ${found.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
      await shot(`${name}-${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 320, height: 700 });
  for (const [name, path] of PAGES) {
    await open(path);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 320) faults.push(`${name}: ${width} points wide on a screen of 320`);
    if (name === "partition") await shot("narrow");
  }
}

let failed;
for (const step of [browse, query, edit, keys, feed, work, hostile, audit]) {
  try {
    await step();
    console.log(`${step.name}: done`);
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
