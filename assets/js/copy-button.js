// <copy-button data-text="…"> or <copy-button data-from="id">: copies, and says so. A browser only lets
// pages served over HTTPS or from this machine write to the clipboard; elsewhere the button stays away.
class CopyButton extends HTMLElement {
  connectedCallback() {
    this.hidden = !navigator.clipboard;
    this.button = this.querySelector("button");
    this.label = this.querySelector("[data-label]");
    this.button.addEventListener("click", () => this.copy());
  }

  async copy() {
    const before = this.label.textContent;
    await navigator.clipboard.writeText(this.dataset.text ?? document.getElementById(this.dataset.from).textContent);
    this.label.textContent = "Copied";
    setTimeout(() => (this.label.textContent = before), 2000);
  }
}

customElements.define("copy-button", CopyButton);
