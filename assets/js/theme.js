// Runs before the first paint, so that a chosen theme never flashes. "auto" leaves it to the system.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
