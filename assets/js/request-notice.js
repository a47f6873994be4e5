// <request-notice>: a live region that says when a request made by htmx failed; the next one clears it.
class RequestNotice extends HTMLElement {
  connectedCallback() {
    document.addEventListener("htmx:beforeRequest", () => (this.textContent = ""));
    document.addEventListener("htmx:sendError", () => (this.textContent = "The server did not answer. Try again."));
    document.addEventListener("htmx:responseError", (event) => {
      this.textContent =
        event.detail.xhr.status === 404
          ? "This memory is no longer there: it was forgotten, replaced or has expired."
          : "That did not work. Reload the page and try again.";
    });
  }
}

customElements.define("request-notice", RequestNotice);
