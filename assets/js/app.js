import "./copy-button.js";
import "./field-search.js";
import "./keyboard-shortcuts.js";
import "./memory-list.js";
import "./policy-draft.js";
import "./request-notice.js";
import "./side-panel.js";
import "./theme-toggle.js";
