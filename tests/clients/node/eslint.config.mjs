// How the pages' own scripts are linted: everything that ESLint recommends, and what keeps a strict CSP content.
import js from "../../../.cache/node/node_modules/@eslint/js/src/index.js";

const browser = ["AbortController", "AbortSignal", "Blob", "CSSStyleSheet", "DOMException", "Event", "HTMLElement", "HTMLFormElement", "HTMLSelectElement", "RadioNodeList", "TextDecoder", "TextEncoder", "URL", "addEventListener", "atob", "btoa", "getSelection", "clearTimeout", "console", "crypto", "document", "fetch", "location", "navigator", "performance", "setTimeout", "window", "FormData", "Element", "customElements"];

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: "latest", sourceType: "script", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-shadow": "error",
      "no-unused-vars": ["error", { varsIgnorePattern: "^_$" }],
      "no-var": "error",
      "prefer-const": "error",
      "array-callback-return": "error",
      "no-promise-executor-return": "error",
      "no-param-reassign": "error",
      "object-shorthand": "error",
    },
  },
];
