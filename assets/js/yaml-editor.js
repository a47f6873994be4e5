// <yaml-editor>: a code editor over its textarea, which stays what the form sends. Marks the lines of the
// problems that the server lists in #problems. Tab moves on, as everywhere on the page.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.content], color: "var(--code-value)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", fontSize: "0.8125rem", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 24%, transparent)",
  },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderColor: "var(--line)" },
});

class YamlEditor extends HTMLElement {
  connectedCallback() {
    if (this.view) return;
    this.area = this.querySelector("textarea");
    const typing = document.activeElement === this.area || "focus" in this.dataset;
    this.view = new EditorView({ parent: this, state: this.state() });
    this.area.hidden = true;
    if (typing) this.view.focus();
    this.problems = new MutationObserver(() => this.mark());
    this.problems.observe(this.parentElement, { childList: true });
    this.mark();
  }

  disconnectedCallback() {
    this.problems.disconnect();
    this.view.destroy();
  }

  state() {
    return EditorState.create({
      doc: this.area.value,
      selection: { anchor: this.area.selectionStart },
      extensions: [
        EditorView.cspNonce.of(this.closest("policy-draft").dataset.nonce),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Policy as YAML" }),
        EditorView.updateListener.of((update) => update.docChanged && this.changed()),
        [lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(), highlightActiveLine(), bracketMatching()],
        [yaml(), syntaxHighlighting(colours), theme],
        keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap]),
      ],
    });
  }

  changed() {
    this.area.value = this.view.state.doc.toString();
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  mark() {
    const { doc } = this.view.state;
    const found = [...this.parentElement.querySelectorAll("#problems [data-line]")].map(({ dataset }) => {
      const line = doc.line(Math.min(Number(dataset.line), doc.lines));
      return { from: line.from + line.text.search(/\S|$/), to: line.to, severity: "error", message: dataset.message };
    });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }
}

customElements.define("yaml-editor", YamlEditor);
