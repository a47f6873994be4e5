import "./copy-button.js";
import "./keyboard-shortcuts.js";
import "./memory-list.js";
import "./request-notice.js";
import "./side-panel.js";
import "./theme-toggle.js";
