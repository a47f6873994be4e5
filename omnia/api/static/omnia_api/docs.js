const main = document.getElementById("docs");

SwaggerUIBundle({
  url: main.dataset.document,
  domNode: main,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
  requestInterceptor(request) {
    const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
    if (token) request.headers["X-CSRFToken"] = token[1];
    return request;
  },
});
