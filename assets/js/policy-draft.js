// <policy-draft>: around the policy editor. Keeps a copy of an unsaved draft in this browser and offers it
// when the page is opened again; marks fields the server finds wrong; Ctrl+S saves. The code editor is
// loaded when the YAML is first shown.
class PolicyDraft extends HTMLElement {
  connectedCallback() {
    this.store = `draft ${this.dataset.key}`;
    this.offered = this.querySelector("[data-kept]");
    this.addEventListener("input", () => this.keep());
    this.addEventListener("keydown", (event) => this.press(event));
    this.addEventListener("click", (event) => this.click(event));
    this.addEventListener("draft-settled", () => this.forget());
    this.addEventListener("htmx:beforeRequest", (event) => this.hold(event, true));
    this.addEventListener("htmx:afterRequest", (event) => this.hold(event, false));
    document.addEventListener("htmx:afterSettle", () => this.refresh());
    this.offer();
    this.loadEditor();
  }

  get form() {
    return this.querySelector("form");
  }

  // What is typed or pressed between sending the whole draft and getting it back would be lost, so nothing can be.
  hold({ target }, held) {
    if (target !== this.form) return;
    if (held) this.pressed = document.activeElement;
    this.form.inert = held;
    if (!held) this.pressed.focus();
  }

  refresh() {
    if (!this.form) return;
    for (const note of this.querySelectorAll(".setting-note")) {
      const field = document.getElementById(note.id.slice("note:".length));
      if (note.querySelector(".field-error")) field?.setAttribute("aria-invalid", "true");
      else field?.removeAttribute("aria-invalid");
    }
    if (this.querySelector("#save-bar[data-dirty]")) this.keep();
    else if (this.offered.hidden) this.forget();
    if (document.activeElement === document.body) this.querySelector(".view[aria-current]")?.focus();
    this.loadEditor();
  }

  loadEditor() {
    if (this.querySelector("yaml-editor:not(:defined)")) import(this.dataset.yaml);
  }

  press(event) {
    const saves = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    const sends = event.key === "Enter" && event.target.matches("input:not([type=radio])");
    if (!saves && !sends) return;
    event.preventDefault();
    if (saves) this.form.querySelector("[data-save]").click();
    else event.target.parentElement.querySelector("button[value^='entry:']")?.click();
  }

  click({ target }) {
    if (target.closest("[data-discard], [data-forget]")) this.forget();
    if (target.closest("[data-restore]")) this.restore();
  }

  keep() {
    this.offered.hidden = true;
    const values = Object.fromEntries(new FormData(this.form));
    delete values.csrfmiddlewaretoken;
    try {
      localStorage.setItem(this.store, JSON.stringify({ at: Date.now(), values }));
    } catch {
      // No room, or no storage at all: the draft is on the page alone.
    }
  }

  forget() {
    localStorage.removeItem(this.store);
    this.offered.hidden = true;
  }

  offer() {
    this.kept = JSON.parse(localStorage.getItem(this.store) ?? "null");
    if (!this.kept || this.querySelector("#save-bar[data-dirty]")) return;
    this.querySelector("[data-when]").textContent = ` (${new Date(this.kept.at).toLocaleString()})`;
    this.offered.hidden = false;
  }

  restore() {
    const { values } = this.kept;
    this.offered.hidden = true;
    const view = values.view === "conflict" ? "changes" : values.view;
    htmx.ajax("POST", this.form.action, { source: this.form, target: "#editor", swap: "outerHTML", values: { ...values, do: view } });
  }
}

customElements.define("policy-draft", PolicyDraft);
