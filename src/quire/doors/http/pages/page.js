// Signs in with the token of the fragment, and shows who one is and which notebooks there are.
// All that comes from the server is put in as text, never as HTML.
"use strict";

const STATES = "SELECT log, state, count(*) FROM cells GROUP BY log, state";
const at = (id) => document.getElementById(id);

async function ask(path, body) {
  const options = { credentials: "same-origin", headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const told = answer.status === 204 ? null : await answer.json().catch(() => null);
  if (answer.ok) return told;
  throw Object.assign(new Error(told?.error?.message ?? `The server answers ${answer.status}.`), { status: answer.status });
}

/** Take the token out of the address at once: it is not to stand in the history. */
function taken() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("sign-in")) history.replaceState(null, "", location.pathname);
  return { token: given.get("sign-in"), notebook: given.get("notebook") };
}

function showSignedOut(why) {
  at("who").textContent = "Nobody is signed in here.";
  at("why").textContent = why ?? "";
  at("signed-out").hidden = false;
  at("notebooks").hidden = true;
  at("sign-out").hidden = true;
}

function showMe(me) {
  const behalf = me.on_behalf_of ? `, for ${me.on_behalf_of}` : "";
  at("who").textContent = `You are ${me.actor}${behalf}: ${me.scopes.join(", ")}`;
  at("sign-out").hidden = false;
}

const ORDER = ["running", "queued", "error", "dead_kernel", "lost", "timeout", "cancelled", "skipped", "ok", "never_run"];

/** What a person wants to know of all its cells: what goes on, or what went wrong, or that all is well. */
function stateOf(counts) {
  if (counts === undefined) return "";
  const found = ORDER.find((state) => counts.has(state)) ?? "";
  const many = counts.get(found);
  return found === "ok" || found === "never_run" ? found.replace("_", " ") : `${many} ${found.replace("_", " ")}`;
}

async function states() {
  const found = new Map();
  try {
    for (const [log, state, count] of (await ask("/api/query", { sql: STATES })).rows) {
      if (!found.has(log)) found.set(log, new Map());
      found.get(log).set(state, count);
    }
  } catch (refused) {
    if (refused.status === 401) throw refused; // else: not everybody may ask questions
  }
  return found;
}

function cell(kind, text, label, name) {
  const made = document.createElement(kind);
  made.textContent = text;
  made.dataset.label = label;
  if (name) made.className = name;
  return made;
}

function row(info, counts, chosen) {
  const state = stateOf(counts);
  const good = state === "ok" ? "good" : /error|dead|lost|timeout/.test(state) ? "bad" : "";
  const made = document.createElement("tr");
  const name = cell("th", info.name + (info.archived ? " (put away)" : ""), "Name");
  name.scope = "row";
  name.title = info.log;
  made.append(
    name,
    cell("td", state, "State", good),
    cell("td", String(info.head.seq), "Events", "number"),
    cell("td", new Date(info.head.at).toLocaleString(), "Changed"),
    cell("td", info.created_by, "Begun by"),
  );
  if (chosen) {
    made.className = "chosen";
    made.setAttribute("aria-current", "true");
  }
  return made;
}

async function showNotebooks(chosen) {
  const [notebooks, counts] = await Promise.all([ask("/api/notebooks"), states()]);
  at("rows").replaceChildren(...notebooks.map((info) => row(info, counts.get(info.log), info.log === chosen)));
  at("none").hidden = notebooks.length > 0;
  at("table").hidden = notebooks.length === 0;
  at("signed-out").hidden = true;
  at("notebooks").hidden = false;
  document.querySelector(".chosen")?.scrollIntoView({ block: "center" });
}

async function begin() {
  const { token, notebook } = taken();
  let refused;
  if (token) await ask("/api/sign-in", { token }).catch((error) => { refused = error.message; });
  try {
    showMe(await ask("/api/me"));
    await showNotebooks(notebook);
  } catch (error) {
    showSignedOut(refused ?? (error.status === 401 ? "" : error.message));
  }
}

at("sign-out").addEventListener("click", async () => {
  await ask("/api/sign-out", {}).catch(() => {});
  showSignedOut("You have signed out.");
  at("main").focus();
});
addEventListener("hashchange", () => { if (location.hash.startsWith("#sign-in=")) begin(); });
begin();
