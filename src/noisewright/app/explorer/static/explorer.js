// The explorer's own script: reads the form, keeps it in the address, asks the server, fills the panels.
"use strict";

const form = document.getElementById("form");
const served = JSON.parse(document.body.dataset.served);
const TOKEN = "noisewright-token";
const AMOUNTS = { epsilon: [0.01, 10], rho: [0.0001, 10] };
const LONG = 1000; // milliseconds after which running work is given up for newer wishes
const at = (id) => document.getElementById(id);
const panels = (name) => document.querySelector(`[data-panel="${name}"]`);
let reach = [0.1, 100];
let measure = "";
let digest = null;
let running = null; // the look under way: { controller, since }
let again = false;
let following = null; // the longer work under way
let timer = 0;
let drawnAt = 0;
let wishes = 0; // how often something was changed: what answers an older wish fills no field

function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN);
}

const chosen = (name) => at(name).value;
const moved = () => form.querySelector('input[name="move"]:checked').value;
const amountName = () => (chosen("privacy") === "zero-concentrated" && !planned() ? "rho" : "epsilon");
const planned = () => chosen("question") === "table";
const chance = () => chosen("utility") === "usefulness";

// Which fields count: those of what is chosen. The others are hidden, and disabled so that they are not tabbed to.
function arrange() {
  const rows = served[chosen("question")] || {};
  offer("privacy", Object.keys(rows));
  offer("utility", rows[chosen("privacy")] || []);
  for (const group of form.querySelectorAll(".group")) {
    const on = chosen(group.dataset.of) === group.dataset.is && !(planned() && group.dataset.of !== "question");
    group.hidden = !on;
    for (const field of group.querySelectorAll("input, select")) field.disabled = !on;
  }
  for (const part of form.querySelectorAll("[data-not]")) part.hidden = chosen("question") === part.dataset.not;
  const accuracy = moved() === "accuracy" && !planned();
  form.querySelector(".pills").hidden = planned();
  form.querySelector('[data-mover="target"]').hidden = planned();
  at("target-unit").textContent = `${measure}${accuracy ? "" : ", follows"}`;
  at("amount-unit").textContent = `${amountName()}${accuracy ? ", follows" : ""}`;
  for (const name of ["density", "answers", "curve", "hundred"]) at(`panel-${name}`).hidden = planned();
  at("head-ranking").textContent = planned() ? "The plan" : "Ranking, with gaps";
  at("download").textContent = planned() ? "Download the plan" : "Download the certified mechanism";
}

function offer(name, allowed) {
  const select = at(name);
  for (const option of select.options) {
    option.disabled = option.hidden = !allowed.includes(option.value);
  }
  if (allowed.length && !allowed.includes(select.value)) select.value = allowed[0];
}

// What the form says, without what is empty or as it was at the start.
function state() {
  const found = { question: chosen("question") };
  if (!planned()) Object.assign(found, { privacy: chosen("privacy"), utility: chosen("utility"), move: moved() });
  for (const field of form.querySelectorAll(".group input, .group select")) {
    if (field.disabled) continue;
    if (field.type === "checkbox") {
      if (field.checked) found[field.name] = "on";
    } else if (field.value.trim() !== field.dataset.default) found[field.name] = field.value.trim();
  }
  const truth = at("truth");
  if (!planned() && truth.value.trim() !== truth.dataset.default) found.truth = truth.value.trim();
  const mover = moved() === "accuracy" && !planned() ? "target" : "amount";
  if (at(mover).value.trim()) found[mover] = at(mover).value.trim();
  return found;
}

function remember() {
  history.replaceState(null, "", `${location.pathname}?${new URLSearchParams(state())}`);
}

const ends = (name) => (name === "amount" ? AMOUNTS[amountName()] : reach);
const bent = (name) => (name === "target" && chance() ? (x) => Math.log(x / (1 - x)) : Math.log);
const straight = (name) => (name === "target" && chance() ? (y) => 1 / (1 + Math.exp(-y)) : Math.exp);

function fromSlider(name) {
  const [low, high] = ends(name).map(bent(name));
  // The slider of accuracy goes from coarse to fine, so that right is always "more".
  const share = at(`${name}-slider`).value / 1000;
  const turned = name === "target" && !chance() ? 1 - share : share;
  return String(Number(straight(name)(low + turned * (high - low)).toPrecision(3)));
}

function toSlider(name) {
  const text = at(name).value.trim();
  const parts = text.split("/").map(Number);
  const value = parts.length === 2 ? parts[0] / parts[1] : parts[0];
  const slider = at(`${name}-slider`);
  slider.setAttribute("aria-valuetext", text);
  if (!(value > 0) || (name === "target" && chance() && value >= 1)) return;
  const [low, high] = ends(name).map(bent(name));
  const share = Math.min(Math.max((bent(name)(value) - low) / (high - low), 0), 1);
  slider.value = Math.round(1000 * (name === "target" && !chance() ? 1 - share : share));
}

function complain(entry, message) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const place of form.querySelectorAll(".error")) place.textContent = "";
  at("problem").hidden = true;
  at("results").classList.toggle("stale", Boolean(message));
  if (!message) return;
  const field = entry && [...form.elements].find((each) => each.name === entry && !each.disabled && each.id);
  const place = field && at(`${field.id}-error`);
  if (place) {
    field.setAttribute("aria-invalid", "true");
    place.textContent = message;
  } else {
    at("problem").textContent = message;
    at("problem").hidden = false;
    at("results").classList.remove("stale");
  }
}

function call(path, body, signal) {
  const headers = { "content-type": "application/json", "x-noisewright-token": token() || "" };
  return fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body), signal });
}

// Ask the server and hand over each event as it comes; true if all came to an end.
async function listen(path, body, controller, hear) {
  const answer = await call(path, body, controller.signal);
  if (answer.status === 401) {
    at("gate").hidden = false;
    throw new Error((await answer.json()).message);
  }
  if (!answer.ok) {
    const told = await answer.json();
    hear({ event: "refused", entry: told.entry || "", message: told.message });
    return;
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) hear(JSON.parse(part.slice("data: ".length)));
  }
}

function fill(found) {
  for (const [name, html] of Object.entries(found)) panels(name).innerHTML = html; // escaped by the server
}

function busy(text, done, steps) {
  at("progress").hidden = !text;
  at("progress-text").textContent = text || "";
  at("progress-bar").max = steps || 1;
  at("progress-bar").value = done || 0;
}

const width = (name) => Math.floor(document.querySelector(`#panel-${name} .body`).clientWidth) || 320;
const widths = () => [width("odds"), width("ranking")];

// For those who wait for the page, such as tests: busy from a change until it was answered.
function mark() {
  document.body.toggleAttribute("data-busy", Boolean(timer || running || again));
}

async function look() {
  clearTimeout(timer);
  timer = 0;
  if (!token()) {
    at("gate").hidden = false;
    mark();
    return;
  }
  if (running) {
    again = true;
    if (performance.now() - running.since > LONG) running.controller.abort();
    return;
  }
  if (following) following.abort();
  remember();
  const mine = { controller: new AbortController(), since: performance.now(), wish: wishes };
  running = mine;
  mark();
  document.body.removeAttribute("data-whole");
  const waiting = setTimeout(() => busy("designing …", 0, 4), 400);
  let seen = null;
  try {
    drawnAt = width("odds");
    await listen("look", { state: state(), widths: widths() }, mine.controller, (said) => {
      if (said.event === "progress" && performance.now() - mine.since > 400) busy(`${said.step} …`, said.done, said.steps);
      if (said.event === "refused") complain(said.entry, said.message);
      if (said.event === "look") {
        seen = said;
        show(said, mine.wish === wishes);
      }
    });
  } catch (error) {
    if (error.name !== "AbortError") complain("", error.message || "The server does not answer; is it still running?");
  } finally {
    clearTimeout(waiting);
    busy("");
    running = null;
  }
  if (again) {
    again = false;
    look();
  } else if (seen && seen.more) {
    at("more").hidden = !seen.slow;
    if (!seen.slow) follow(seen.slow);
  } else if (seen) {
    document.body.dataset.whole = document.body.dataset.looks;
  }
  mark();
}

function show(said, newest) {
  complain("", "");
  at("gate").hidden = true;
  if (panels("budget")) panels("budget").textContent = "";
  fill(said.panels);
  digest = said.digest;
  measure = said.measure;
  arrange();
  at("download").disabled = !said.download;
  at("more").hidden = true;
  if (said.reach.length) reach = said.reach;
  for (const name of newest ? ["amount", "target"] : []) {
    if (document.activeElement !== at(name) || !at(name).value.trim()) at(name).value = said[name];
    if (document.activeElement !== at(`${name}-slider`)) toSlider(name);
  }
  if (newest) remember();
  document.body.dataset.looks = String(Number(document.body.dataset.looks || 0) + 1);
}

// What takes longer: the rest of the curve, and what the accuracy costs with every mechanism.
async function follow(slow) {
  const controller = new AbortController();
  following = controller;
  const wanted = { ...state(), amount: at("amount").value.trim(), target: at("target").value.trim() };
  try {
    await listen("more", { state: wanted, widths: widths(), slow }, controller, (said) => {
      if (controller.signal.aborted) return;
      if (said.event === "progress" && slow) busy(`${said.step} …`, said.done, said.steps);
      if (said.panels) fill(said.panels);
      if (said.event === "curve" && said.reach.length && !document.activeElement.matches("#target-slider")) {
        reach = said.reach;
        toSlider("target");
      }
      if (said.event === "refused" && slow) complain("", said.message);
      if (said.event === "done") document.body.dataset.whole = document.body.dataset.looks;
    });
  } catch (error) {
    if (error.name !== "AbortError") complain("", error.message);
  } finally {
    if (following === controller) {
      following = null;
      if (!running) busy("");
    }
  }
}

function soon(delay) {
  clearTimeout(timer);
  timer = setTimeout(look, delay);
  mark();
}

function setMove(name) {
  form.querySelector(`input[name="move"][value="${name === "target" ? "accuracy" : "privacy"}"]`).checked = true;
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => {
  const field = event.target;
  if (field.id === "token") return;
  wishes += 1;
  for (const name of ["amount", "target"]) {
    if (field.id === `${name}-slider`) {
      at(name).value = fromSlider(name);
      field.setAttribute("aria-valuetext", at(name).value);
      setMove(name);
    } else if (field.id === name) {
      setMove(name);
      toSlider(name);
    }
  }
  // Another question or measure has another scale, another guarantee another amount.
  if (field.id === "question" || field.id === "utility") at("target").value = "";
  if (field.id === "question" || field.id === "privacy") at("amount").value = "";
  arrange();
  soon(field.type === "range" ? 30 : field.matches("select, [type=radio], [type=checkbox]") ? 0 : 350);
});

at("open").addEventListener("click", () => {
  sessionStorage.setItem(TOKEN, at("token").value.trim());
  at("gate").hidden = true;
  look();
});
at("token").addEventListener("keydown", (event) => event.key === "Enter" && at("open").click());
at("more").addEventListener("click", () => {
  at("more").hidden = true;
  follow(true);
});
at("cancel").addEventListener("click", async () => {
  again = false;
  const lanes = { running, following };
  await call("cancel", {});
  if (lanes.running) lanes.running.controller.abort();
  if (lanes.following) lanes.following.abort();
  busy("");
  complain("", "Cancelled. Change something to go on.");
});
at("download").addEventListener("click", async () => {
  const answer = await call("mechanism", { digest });
  if (!answer.ok) return complain("", (await answer.json()).message);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = planned() ? "plan.json" : "mechanism.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return undefined;
});
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  await navigator.clipboard.writeText(at(button.dataset.copy).textContent);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
});
new ResizeObserver(() => {
  if (drawnAt && Math.abs(width("odds") - drawnAt) > 24) soon(200);
}).observe(document.querySelector(".panels"));

arrange();
look();
