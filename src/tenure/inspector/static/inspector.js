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
    const shows = event.target.dataset?.shows;
    if (shows) document.querySelector(shows).textContent = event.target.value;
  });

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
    const asks = event.detail.ctx.sourceElement;
    if (asks?.matches?.("[data-watch]") && (paused || document.hidden)) event.preventDefault();
  });
  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx } = event.detail;
    if (!ctx?.response) return;
    const asked = ctx.sourceElement;
    const { raw, status } = ctx.response;
    if (raw.redirected) location.reload(); // signed out since: the page says so
    // An answer that comes after another question was asked is about something else by now.
    const late = asked?.matches?.("[data-watch]") && (paused || !asked.isConnected);
    if (raw.redirected || late || (status >= 400 && asked?.matches?.("[data-watch]"))) event.preventDefault();
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const asked = event.detail.ctx?.sourceElement;
    if (asked?.matches?.("form[data-address]")) {
      const said = [...new FormData(asked)].filter(([, value]) => value !== "");
      const query = new URLSearchParams(said).toString();
      history.replaceState(null, "", asked.getAttribute("action") + (query && `?${query}`));
    }
    document.activeElement?.closest("[data-entry]")?.classList.add("at");
    // A list with data-most drops its oldest entries.
    all("[data-most]").forEach((list) => {
      while (list.children.length > Number(list.dataset.most)) list.lastElementChild.remove();
    });
    offerPause();
  });
  offerPause();
})();
