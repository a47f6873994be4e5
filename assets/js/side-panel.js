// <side-panel>: a dialog that opens when htmx puts content into it. The dialog element itself traps
// the focus, closes on Escape and gives the focus back to the link that opened it.
class SidePanel extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.body = this.querySelector("[data-body]");
    this.body.addEventListener("htmx:afterSwap", () => this.open());
    this.addEventListener("click", (event) => {
      if (event.target === this.dialog || event.target.closest("[data-close]")) this.dialog.close();
    });
    this.dialog.addEventListener("close", () => this.body.replaceChildren());
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
    this.querySelector("[data-focus]")?.focus();
  }
}

customElements.define("side-panel", SidePanel);
