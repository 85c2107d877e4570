// The script of the explorer: keys, times in the reader's zone, plans while a query is written, live feeds and heat. Every page works without it.
"use strict";

const rows = () => [...document.querySelectorAll(".grid tbody tr:not(.columns)")];
let chosen = null;

/** Selects the row at a distance from the selected row, scrolls to it, and moves the focus to its key. */
async function choose(step) {
  let all = rows();
  if (all.length === 0) return;
  const at = all.indexOf(chosen);
  if (step > 0 && at === all.length - 1) await scroller?.below();
  if (step < 0 && at === 0) await scroller?.above();
  all = rows();
  const from = all.indexOf(chosen);
  select(all[Math.max(0, Math.min(from + step, all.length - 1))] ?? all[0]);
  chosen.scrollIntoView({ block: "nearest" });
  chosen.querySelector("a.key, a")?.focus({ preventScroll: true });
}

function select(row) {
  chosen?.classList.remove("sel");
  chosen = row;
  chosen.classList.add("sel");
  detail(row);
}

/** Shows the selected row of a partition at the side, with one request after the selection stops moving. */
let resting;
function detail(row) {
  clearTimeout(resting);
  const link = row.querySelector("a.key");
  if (!link || !row.closest(".wrap.selects")) return;
  resting = setTimeout(async () => {
    const answer = await fetch(link.href).catch(() => null);
    if (!answer?.ok || chosen !== row) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("detail");
    if (!found) return;
    localise(found);
    document.getElementById("detail")?.replaceWith(document.adoptNode(found));
    add(page);
  }, 150);
}

/** Adds the requests of another read, and the rows that it omitted, to the counts in the footer. */
const [cost, omission] = ["cost", "omitted"].map((id) => document.getElementById(id));
const counts = (page) => {
  const [cost, omission] = ["cost", "omitted"].map((id) => page.getElementById(id)?.dataset);
  return { requests: Number(cost?.requests ?? 0), rows: Number(cost?.rows ?? 0), omitted: Number(omission?.rows ?? 0) };
};
const sums = counts(document);
function add(page) {
  const further = counts(page);
  show({ requests: sums.requests + further.requests, rows: sums.rows + further.rows, omitted: sums.omitted + further.omitted });
}
function show({ requests, rows, omitted }) {
  Object.assign(sums, { requests, rows, omitted });
  const text = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
  if (cost) cost.textContent = `This page sent ${text(requests, "request")} to the store, which read ${text(rows, "row")}.`;
  if (omission && omitted > 0) {
    omission.hidden = false;
    omission.querySelector("b").textContent = text(omitted, "row");
  }
}

function go(selector) {
  document.querySelector(selector)?.click();
}

const KEYS = {
  "?": () => document.getElementById("keys").showModal(),
  "/": () => document.getElementById("find").focus(),
  j: () => choose(1),
  k: () => choose(-1),
  x: () => chosen?.querySelector(".mark input")?.click(),
  r: () => {
    const large = document.body.classList.toggle("raw-keys");
    sessionStorage.setItem("raw", large ? "1" : "");
    say(large ? "raw keys are large" : "raw keys are small");
  },
  n: () => go("a.next"),
  p: () => go("a.first"),
  q: () => go('.side a[href$="/q"]'),
  e: () => go("a.edit"),
  g: () => go("a.brand"),
  t: () => document.querySelector(".jump input[name=at]")?.focus(),
};

function say(text) {
  document.getElementById("live").textContent = text;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Enter" && event.target === document.body && chosen) {
    chosen.querySelector("a.key, a")?.click();
    return;
  }
  const action = KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

// A click outside a link selects the row.
document.addEventListener("click", (event) => {
  const row = event.target.closest(".wrap.selects tbody tr:not(.columns)");
  if (row && !event.target.closest("a, input, button")) select(row);
});

document.getElementById("help")?.addEventListener("click", KEYS["?"]);
if (sessionStorage.getItem("raw")) document.body.classList.add("raw-keys");

/** The minimum number of pages that the document keeps, the number of rows in a page, and the maximum number of empty pages that one step follows. */
const KEPT = 4;
const ROWS = 200;
const EMPTY = 20;

/** The pages of a grid, read while the reader scrolls. Pages outside the window are dropped, and read again when the reader scrolls back. */
class Scroller {
  constructor(wrap) {
    this.wrap = wrap;
    this.pages = [{ address: location.href, body: wrap.querySelector("tbody") }];
    this.dropped = [];
    wrap.addEventListener("scroll", () => this.fill(), { passive: true });
  }

  fill() {
    const { scrollTop, scrollHeight, clientHeight } = this.wrap;
    if (scrollHeight - scrollTop - clientHeight < clientHeight) this.below();
    else if (scrollTop < clientHeight) this.above();
  }

  /** Fixes the current widths of the columns, because more rows would move them and cause a new layout of every cell. */
  freeze() {
    const table = this.wrap.querySelector("table");
    if (table.style.tableLayout) return;
    const cells = [...table.querySelectorAll("thead th")];
    const widths = cells.map((cell) => cell.offsetWidth);
    cells.forEach((cell, at) => { cell.style.width = `${widths[at]}px`; });
    table.style.tableLayout = "fixed";
  }

  /** Runs one step at a time. A call during a step is ignored. */
  async once(step) {
    if (this.running) return this.running;
    this.running = step().catch(() => say("the next rows could not be read; scroll to try again"));
    await this.running;
    this.running = null;
  }

  below() {
    const link = document.querySelector("a.next[data-next]");
    return link ? this.once(async () => {
      this.freeze();
      let [next, page] = [link, await this.read(sized(link.href))];
      // A store that searches many rows for the next one returns empty pages on the way.
      for (let left = EMPTY; left > 0 && page.body.rows.length === 0 && page.next.matches("a"); left -= 1) {
        next.replaceWith(page.next);
        next = page.next;
        page = await this.read(sized(next.href));
      }
      this.wrap.querySelector("table").append(page.body);
      this.pages.push(page);
      next.replaceWith(page.next);
      const { clientHeight } = this.wrap;
      while (this.pages.length > KEPT && this.wrap.scrollTop - this.pages[0].body.offsetHeight > 2 * clientHeight) {
        const first = this.pages.shift();
        const height = first.body.offsetHeight;
        this.dropped.push(first.address);
        this.keep(first.body);
        first.body.remove();
        this.wrap.scrollTop -= height;
      }
    }) : undefined;
  }

  above() {
    return this.dropped.length > 0 ? this.once(async () => {
      const page = await this.read(this.dropped.at(-1));
      this.dropped.pop();
      this.wrap.querySelector("thead").after(page.body);
      this.pages.unshift(page);
      this.wrap.scrollTop += page.body.offsetHeight;
      const { scrollHeight, scrollTop, clientHeight } = this.wrap;
      const last = this.pages.at(-1);
      if (this.pages.length <= KEPT || scrollHeight - last.body.offsetHeight - scrollTop < 3 * clientHeight) return;
      this.pages.pop();
      this.keep(last.body);
      last.body.remove();
      const next = document.createElement("a");
      Object.assign(next, { className: "btn next", href: last.address, textContent: "Next page" });
      next.dataset.next = "";
      document.querySelector("[data-next]").replaceWith(next);
    }) : undefined;
  }

  /** Moves the marks of rows that leave the document into the form that sends them. */
  keep(body) {
    for (const box of body.querySelectorAll(".mark input:checked")) {
      const kept = document.createElement("input");
      Object.assign(kept, { type: "hidden", name: box.name, value: box.value });
      document.getElementById("marked")?.append(kept);
    }
  }

  /** Moves the marks of rows that come back into their boxes. */
  restore(body) {
    const kept = new Map([...document.querySelectorAll('#marked input[type="hidden"][name="row"]')].map((field) => [field.value, field]));
    for (const box of kept.size > 0 ? body.querySelectorAll(".mark input") : []) {
      box.checked = kept.has(box.value);
      kept.get(box.value)?.remove();
    }
  }

  async read(address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const body = document.adoptNode(page.querySelector(".wrap.rows tbody"));
    const head = page.querySelector(".wrap.rows thead");
    if (body.rows.length > 0 && head.textContent !== this.wrap.querySelector("thead").textContent) {
      const columns = document.adoptNode(head.querySelector("tr"));
      columns.className = "columns";
      body.prepend(columns);
    }
    localise(body);
    this.restore(body);
    add(page);
    return { address, body, next: document.adoptNode(page.querySelector("[data-next]")) };
  }
}

/** Returns the address of a page with the number of rows that one read requests while scrolling. */
function sized(address) {
  const url = new URL(address);
  if (!url.pathname.endsWith("/q")) url.searchParams.set("rows", ROWS);
  return url.href;
}

const scrolling = document.querySelector(".wrap.rows");
const scroller = scrolling && document.querySelector("a.next[data-next]") ? new Scroller(scrolling) : null;
// At first the side shows the first row of the partition.
chosen = document.querySelector(".wrap.selects tbody tr:not(.columns)");
chosen?.classList.add("sel");

/** Shows times in the reader's time zone; the title keeps the time in UTC. Both have the same length, so nothing moves. */
function localise(root) {
  const two = (number) => String(number).padStart(2, "0");
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    time.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  }
}
localise(document);

/** Shows the plan of the query in the form. An older response never replaces a newer one. */
const query = document.getElementById("query");
if (query) {
  let number = 0;
  let timer;
  query.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const own = ++number;
      const fields = new URLSearchParams(new FormData(query));
      const answer = await fetch(`${query.dataset.plan}?${fields}`);
      if (own !== number || !answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const plan = page.getElementById("plan");
      if (plan) document.getElementById("plan").replaceWith(plan);
    }, 120);
  });
  // The address omits empty fields, which makes it short enough to share.
  query.addEventListener("submit", () => {
    for (const field of query.querySelectorAll("input")) if (field.value === "" && !field.closest(".condition")) field.disabled = true;
    for (const row of query.querySelectorAll(".condition")) {
      if ([...row.querySelectorAll("input")].every((field) => field.value === "")) for (const field of row.querySelectorAll("input, select")) field.disabled = true;
    }
  });
  // The parts of another entity have other names.
  document.getElementById("entity")?.addEventListener("change", () => {
    for (const field of query.querySelectorAll('[name^="part."]')) field.disabled = true;
    query.requestSubmit();
  });
}

/** Lets the browser check a value by the type that is selected for it. */
for (const row of document.querySelectorAll(".property")) {
  const [type, value] = [row.querySelector("select"), row.querySelector("input.value")];
  if (!value) continue;
  const check = () => {
    const pattern = type.selectedOptions[0]?.dataset.pattern;
    if (pattern) value.pattern = pattern;
    else value.removeAttribute("pattern");
  };
  type.addEventListener("change", check);
  check();
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    say("copied");
    button.textContent = "Copied";
  });
}

/** Keeps a stream open while the page is visible. A browser opens few connections to a host, so hidden pages must not occupy them. */
function live(address, begin) {
  let [source, last] = [null, null];
  const follow = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      const url = new URL(address, location.href);
      if (last) url.searchParams.set("from", last);
      source = new EventSource(url);
      source.addEventListener("message", (event) => { last = event.lastEventId || last; });
      begin(source);
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

/** Appends the entries of a feed while they are written. */
const feed = document.getElementById("feed");
if (feed?.dataset.events) {
  const state = document.getElementById("feed-state");
  live(feed.dataset.events, (source) => {
    let reason = null;
    source.addEventListener("live", () => { state.textContent = "live"; });
    source.addEventListener("failed", (event) => { reason = event.data; });
    source.addEventListener("cost", () => { reason = null; });
    source.addEventListener("error", () => { state.textContent = reason ? `connecting again: ${reason}` : "connecting again"; });
    const before = { ...sums };
    source.addEventListener("cost", (event) => {
      const [requests, rows, omitted] = event.data.split(" ").map(Number);
      show({ requests: before.requests + requests, rows: before.rows + rows, omitted: before.omitted + omitted });
    });
    source.addEventListener("message", (event) => {
      const item = new DOMParser().parseFromString(event.data, "text/html").querySelector("li");
      if (!item) return;
      item.classList.add("new");
      localise(item);
      document.getElementById("feed-empty")?.remove();
      feed.prepend(document.adoptNode(item));
      say("one more change");
    });
  });
}

/** Updates the heat of partitions. The focus and the selected row stay with their partition, and a new busiest partition is announced. */
const heat = document.getElementById("load");
if (heat) {
  const address = (row) => row?.querySelector("a.key")?.getAttribute("href");
  const busiest = () => heat.querySelector("#load-sum .busiest")?.textContent;
  live(heat.dataset.events, (source) => source.addEventListener("message", (event) => {
    const next = new DOMParser().parseFromString(event.data, "text/html").getElementById("load");
    if (!next) return;
    const [first, selected, focused] = [busiest(), address(chosen), address(document.activeElement.closest("#load tr"))];
    heat.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)));
    const row = (of) => of && rows().find((row) => address(row) === of);
    chosen = row(selected) ?? null;
    chosen?.classList.add("sel");
    row(focused)?.querySelector("a.key").focus({ preventScroll: true });
    if (busiest() && busiest() !== first) say(`most requests go to ${busiest()}`);
  }));
}

// A page from the browser's cache keeps the values of its fields when the reader returns.
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("#query [disabled]")) field.disabled = false;
});
