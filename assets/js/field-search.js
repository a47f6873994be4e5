// <field-search>: leaves the fields of the form that have every word typed, and the sections that have any.
class FieldSearch extends HTMLElement {
  connectedCallback() {
    this.hidden = false;
    this.addEventListener("input", (event) => {
      event.stopPropagation();
      this.narrow(event.target.value.toLowerCase().split(/\s+/).filter(Boolean));
    });
  }

  narrow(words) {
    const form = this.closest("form");
    let found = 0;
    for (const setting of form.querySelectorAll(".setting")) {
      const known = setting.dataset.words ?? "";
      setting.hidden = !words.every((word) => known.includes(word));
      found += !setting.hidden;
    }
    for (const part of form.querySelectorAll(".settings-group, .settings-card")) {
      part.hidden = words.length > 0 && !part.querySelector(".setting:not([hidden])");
    }
    for (const link of form.querySelectorAll(".section-link")) link.hidden = form.querySelector(link.hash).hidden;
    form.querySelector("[data-none]").hidden = found > 0;
    this.querySelector("[data-found]").textContent = words.length ? `${found} fields` : "";
  }
}

customElements.define("field-search", FieldSearch);
