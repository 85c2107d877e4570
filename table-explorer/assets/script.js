// The script of the explorer: keys, times in the reader's zone, plans while a query is written, the live feed. Every page works without it.
"use strict";

const rows = () => [...document.querySelectorAll(".grid tbody tr")];
let chosen = -1;

/** Marks a row, brings it into view, and says its key. */
function choose(at) {
  const all = rows();
  if (all.length === 0) return;
  all[chosen]?.classList.remove("sel");
  chosen = Math.max(0, Math.min(at, all.length - 1));
  const row = all[chosen];
  row.classList.add("sel");
  row.scrollIntoView({ block: "nearest" });
  row.querySelector("a.key, a")?.focus({ preventScroll: true });
}

function go(selector) {
  document.querySelector(selector)?.click();
}

const KEYS = {
  "?": () => document.getElementById("keys").showModal(),
  "/": () => document.getElementById("find").focus(),
  j: () => choose(chosen + 1),
  k: () => choose(chosen - 1),
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
};

function say(text) {
  document.getElementById("live").textContent = text;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Enter" && event.target === document.body && chosen >= 0) {
    rows()[chosen]?.querySelector("a.key, a")?.click();
    return;
  }
  const action = KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

document.getElementById("help")?.addEventListener("click", KEYS["?"]);
if (sessionStorage.getItem("raw")) document.body.classList.add("raw-keys");

/** Shows times in the reader's zone; the title keeps the instant in UTC. The form is the one that the page had, so nothing moves. */
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

/** Shows the plan of the query that is being written. An older answer never replaces a newer one. */
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
  // Empty fields stay out of the address, so that it can be shared.
  query.addEventListener("submit", () => {
    for (const field of query.querySelectorAll("input")) if (field.value === "" && field.name !== "value") field.disabled = true;
    for (const row of query.querySelectorAll(".condition")) {
      if (row.querySelector('[name="property"]')?.value === "") for (const field of row.querySelectorAll("input, select")) field.disabled = true;
    }
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    say("copied");
    button.textContent = "Copied";
  });
}

/** Appends the entries of a feed as they are written. */
const feed = document.getElementById("feed");
if (feed?.dataset.events) {
  const state = document.getElementById("feed-state");
  const source = new EventSource(feed.dataset.events);
  source.addEventListener("live", () => { state.textContent = "live"; });
  source.addEventListener("error", () => { state.textContent = "connecting again"; });
  source.addEventListener("message", (event) => {
    const item = new DOMParser().parseFromString(event.data, "text/html").querySelector("li");
    if (!item) return;
    item.classList.add("new");
    localise(item);
    document.getElementById("feed-empty")?.remove();
    feed.prepend(document.adoptNode(item));
    say("one more change");
  });
}

// A page that the browser kept has its fields again when the reader comes back.
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("#query [disabled]")) field.disabled = false;
});
