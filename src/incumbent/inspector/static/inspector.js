// Keys, and the few things that HTML alone cannot do. Every page works without this file.
(() => {
  "use strict";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const typing = (element) =>
    element.closest("input, textarea, select, [contenteditable]") !== null;
  let going = false;

  function entries() {
    return all("[data-entry]").filter((one) => one.offsetParent !== null);
  }

  function step(by) {
    const list = entries();
    if (!list.length) return;
    const at = list.findIndex((one) => one.classList.contains("at"));
    const next = list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + by))];
    list.forEach((one) => one.classList.toggle("at", one === next));
    const target = next.querySelector("a, button, [tabindex]") || next;
    target.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  // A letter presses the button of the entry at hand that asks for it: data-press="k".
  function press(letter) {
    const here = document.querySelector("[data-entry].at") || document;
    const button = here.querySelector(`[data-press="${CSS.escape(letter)}"]`);
    if (button) button.click();
    return button !== null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (going) {
      going = false;
      const place = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (place) place.click();
      return;
    }
    if (event.key === "g") going = true;
    else if (event.key === "/") document.querySelector("[data-search]")?.focus();
    else if (event.key === "?") document.getElementById("keys")?.showModal();
    else if (event.key === "j" || event.key === "ArrowDown") step(1);
    else if (event.key === "k" || event.key === "ArrowUp") step(-1);
    else if (!press(event.key)) return;
    event.preventDefault();
  });

  // data-copy="#id" copies the text of an element.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const from = document.querySelector(button.dataset.copy);
    await navigator.clipboard.writeText(from.value ?? from.textContent);
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  // A form with data-live sends itself when something in it changes.
  document.addEventListener("change", (event) => {
    event.target.closest("form[data-live]")?.requestSubmit();
  });
  document.addEventListener("input", (event) => {
    const { shows, from, until } = event.target.dataset ?? {};
    if (shows) document.querySelector(shows).textContent = until ? moment(event.target, from, until) : event.target.value;
  });

  // What was typed before the page listened is asked for as soon as it does.
  function heed(form) {
    const typed = all("[data-search]", form).find((field) => field.value !== field.defaultValue);
    typed?.dispatchEvent(new Event("input", { bubbles: true }));
  }
  document.addEventListener("htmx:after:init", (event) => heed(event.target));
  all("form[data-htmx-powered]").forEach(heed);

  // What a slider over time stands at: its right end is the present.
  function moment(slider, from, until) {
    if (slider.value === slider.max) return "now";
    const share = slider.value / slider.max;
    const when = new Date(Date.parse(from) + share * (Date.parse(until) - Date.parse(from)));
    const month = when.toLocaleString("en", { month: "long", timeZone: "UTC" });
    return `${when.getUTCDate()} ${month} ${when.getUTCFullYear()}, ${when.toISOString().slice(11, 19)} UTC`;
  }

  // An element with data-watch asks again and again, unless somebody paused it or looks elsewhere.
  let paused = false;
  function offerPause() {
    all("[data-pause]").forEach((button) => {
      button.hidden = false;
      button.textContent = paused ? "Go on" : "Pause";
      button.setAttribute("aria-pressed", String(paused));
    });
  }
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-pause]")) return;
    paused = !paused;
    offerPause();
  });
  document.addEventListener("htmx:before:request", (event) => {
    const { ctx } = event.detail;
    if (!ctx.sourceElement?.matches?.("[data-watch]")) return;
    ctx.question = ctx.sourceElement.getAttribute("hx-get");
    if (paused || document.hidden) event.preventDefault();
  });
  document.addEventListener("htmx:before:swap", (event) => {
    const ctx = event.detail.ctx;
    const asked = ctx?.sourceElement;
    if (!ctx?.response || !asked?.matches?.("[data-watch]")) return;
    // Signed out since, or the service has a problem: the list stays as it is.
    const failed = ctx.response.raw.redirected || ctx.response.status >= 400;
    // An answer to a question that is not asked any more is about something else.
    const late = !asked.isConnected || asked.getAttribute("hx-get") !== ctx.question;
    if (failed || paused || late) event.preventDefault();
    if (ctx.response.raw.redirected) location.reload();
  });
  document.addEventListener("htmx:after:swap", () => {
    // The address says what is shown, so that a reload shows it again.
    const here = document.querySelector("[data-canonical]");
    if (here) history.replaceState(null, "", here.dataset.canonical);
    document.activeElement?.closest("[data-entry]")?.classList.add("at");
    // A list with data-most drops its oldest entries.
    all("[data-most]").forEach((list) => {
      while (list.children.length > Number(list.dataset.most)) list.lastElementChild.remove();
    });
    offerPause();
  });
  offerPause();

  // From now on keys are heard.
  document.documentElement.dataset.keys = "on";
})();
