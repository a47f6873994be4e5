// <theme-toggle>: three buttons, auto, light and dark; the choice stays in this browser.
class ThemeToggle extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", (event) => {
      const button = event.target.closest("button[value]");
      if (button) this.choose(button.value);
    });
    this.show(localStorage.getItem("theme") ?? "auto");
  }

  choose(theme) {
    localStorage.setItem("theme", theme);
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    this.show(theme);
  }

  show(theme) {
    for (const button of this.querySelectorAll("button[value]")) {
      button.setAttribute("aria-pressed", String(button.value === theme));
    }
  }
}

customElements.define("theme-toggle", ThemeToggle);
