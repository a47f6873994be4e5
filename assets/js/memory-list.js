// <memory-list>: arrow keys move between the rows, and "Load more" leaves the focus on the first new one.
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

class MemoryList extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", (event) => this.move(event));
    this.addEventListener("click", (event) => this.leave(event), { capture: true });
    this.addEventListener("htmx:beforeSwap", () => (this.shown = this.rows.length));
    this.addEventListener("htmx:afterSettle", () => this.rows[this.shown]?.focus());
  }

  // A click for a new tab or window is the browser's; htmx would take it.
  leave(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) event.stopPropagation();
  }

  get rows() {
    return [...this.querySelectorAll("a.row")];
  }

  move(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const rows = this.rows;
    const at = rows.indexOf(document.activeElement);
    if (at < 0) return;
    let next;
    if (event.key in STEPS) next = rows[at + STEPS[event.key]];
    else if (event.key === "Home") next = rows.at(0);
    else if (event.key === "End") next = rows.at(-1);
    else return;
    event.preventDefault();
    next?.focus();
  }
}

customElements.define("memory-list", MemoryList);
