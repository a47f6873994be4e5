// <keyboard-shortcuts>: "/" goes to the search, "?" opens the list of keys, and ArrowDown leaves the
// search for the rows. Single keys can collide with speech input and screen readers (WCAG 2.1.4), so
// the dialog has a switch that turns them off in this browser.
const typing = (element) => element.closest("input, select, textarea, [contenteditable]") !== null;

class KeyboardShortcuts extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.toggle = this.querySelector("[data-enabled]");
    this.toggle.checked = localStorage.getItem("shortcuts") !== "off";
    this.toggle.addEventListener("change", () => localStorage.setItem("shortcuts", this.toggle.checked ? "on" : "off"));
    document.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("click", (event) => {
      if (event.target.closest("[data-shortcuts]")) this.dialog.showModal();
    });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const search = document.getElementById("q");
    if (event.key === "ArrowDown" && event.target === search) this.act(event, () => document.querySelector("a.row")?.focus());
    if (!this.toggle.checked || typing(event.target)) return;
    if (event.key === "/" && search) this.act(event, () => search.select());
    if (event.key === "?") this.act(event, () => this.dialog.showModal());
  }

  act(event, action) {
    event.preventDefault();
    action();
  }
}

customElements.define("keyboard-shortcuts", KeyboardShortcuts);
