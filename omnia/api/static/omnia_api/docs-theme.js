// Runs before the first paint: the theme chosen in the dashboard, else the system's, in this page's own terms.
const chosen = localStorage.getItem("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", chosen === "dark" || (chosen !== "light" && dark.matches));
dark.addEventListener("change", follow);
follow();
