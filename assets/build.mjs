// Builds static/dist from the sources in this folder, and writes down which sources it was built from.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "..", "static", "dist");
const inter = join(here, "node_modules", "@fontsource-variable", "inter");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

execFileSync(join(here, "node_modules", ".bin", "tailwindcss"), ["-i", "css/app.css", "-o", join(dist, "app.css"), "--minify"], {
  cwd: here,
  stdio: "inherit",
});

const script = { bundle: true, minify: true, legalComments: "none", logLevel: "warning", target: "es2022", outdir: dist };
await build({ ...script, format: "esm", entryPoints: ["app.js", "yaml-editor.js"].map((name) => join(here, "js", name)) });
await build({ ...script, format: "iife", entryPoints: [join(here, "js", "theme.js")] });

copyFileSync(join(here, "favicon.svg"), join(dist, "favicon.svg"));
copyFileSync(join(inter, "files", "inter-latin-wght-normal.woff2"), join(dist, "inter.woff2"));
copyFileSync(join(here, "node_modules", "@codemirror", "state", "LICENSE"), join(dist, "yaml-editor.LICENSE.txt"));
copyFileSync(join(inter, "LICENSE"), join(dist, "inter.LICENSE.txt"));

// `sha256sum --check` reads this file from the root of the repository.
const sources = ["build.mjs", "favicon.svg", "package.json", "package-lock.json"]
  .concat(readdirSync(join(here, "css")).map((name) => `css/${name}`))
  .concat(readdirSync(join(here, "js")).map((name) => `js/${name}`))
  .sort();
const digest = (path) => createHash("sha256").update(readFileSync(join(here, path))).digest("hex");
writeFileSync(join(dist, "SOURCES.sha256"), sources.map((path) => `${digest(path)}  assets/${path}\n`).join(""));
