/** What a folder may import, what core may not do, and how long a file may be. web/README.md has the table in words. */

import js from "@eslint/js"
import hooks from "eslint-plugin-react-hooks"
import { defineConfig, globalIgnores } from "eslint/config"
import ts from "typescript-eslint"

const FOLDERS = ["core", "sync", "actions", "editor", "outputs", "frame", "ui", "hooks", "cells"]
const SCREENS = [
  ...["notebook", "proposals", "activity", "people", "params", "home", "runs", "schedules", "settings"],
  ...["runtime", "history", "find", "outline", "files", "shell"],
  ...["comments", "since", "moments", "reading", "sharing", "tour", "review"],
]

/** Which of our folders each one may import, and which packages. A screen imports all but other screens. */
const TABLE = {
  core: { ours: [], packages: ["@noble/hashes"] },
  sync: { ours: ["core"], packages: [] },
  actions: { ours: ["core", "sync"], packages: [] },
  editor: { ours: ["core"], packages: ["@codemirror", "@lezer", "react", "react-dom"] },
  // Code in a text is coloured as cells are.
  outputs: { ours: ["core", "ui"], files: ["editor/colour_code.ts"], packages: ["react", "react-dom", "markdown-it", "katex"] },
  frame: { ours: [], files: ["outputs/protocol.ts"], packages: ["vega", "vega-lite", "vega-embed", "plotly.js-dist-min"] },
  ui: { ours: [], packages: ["react", "react-dom", "@base-ui/react"] },
  hooks: { ours: ["core", "sync"], packages: ["react"] },
  cells: { ours: ["core", "sync", "actions", "hooks", "ui", "editor", "outputs"], packages: ["react", "react-dom"] },
}
const REACT = ["react", "react-dom", "wouter", "@base-ui/react"]

const NETWORK = ["fetch", "WebSocket", "XMLHttpRequest", "EventSource", "localStorage", "sessionStorage", "indexedDB"]
const IMPURE = ["document", "window", "navigator", "location", "crypto", "performance", "setTimeout", "setInterval", "console"]

/** No import of a folder of ours or of a package that is not in the row; `files` of other folders are allowed one by one. */
function imports(folder, { ours, packages, files = [] }) {
  const others = [...FOLDERS, ...SCREENS].filter((other) => other !== folder && !ours.includes(other))
  const allowed = packages.map((name) => `(?!${name.replaceAll(".", "\\.")}(/|$))`).join("")
  return {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            regex: `^(\\.\\./)+${files.map((file) => `(?!${file.replaceAll(".", "\\.")}$)`).join("")}(${others.join("|")})/`,
            message: `${folder} does not import that folder: see the import table in web/README.md.`,
          },
          {
            regex: `^${allowed}[^.]`,
            message: `${folder} does not import that package: see the import table in web/README.md.`,
          },
        ],
      },
    ],
  }
}

function globals(names, message) {
  return { "no-restricted-globals": ["error", ...names.map((name) => ({ name, message }))] }
}

export default defineConfig(
  globalIgnores(["node_modules", "src/core/types.gen.ts"]),
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["*.js"] }, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "max-lines": ["error", 400],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true, ignoreVoidOperator: true }],
      "@typescript-eslint/no-meaningless-void-operator": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "@typescript-eslint/consistent-type-imports": "error",
    },
  },
  { files: ["**/*.js"], extends: [ts.configs.disableTypeChecked] },
  { files: ["src/**/*.tsx"], plugins: { "react-hooks": hooks }, rules: hooks.configs.recommended.rules },
  ...Object.entries(TABLE).map(([folder, row]) => ({
    files: [`src/${folder}/**/*.{ts,tsx}`],
    ignores: ["**/*.test.ts"],
    rules: imports(folder, row),
  })),
  ...SCREENS.map((screen) => ({
    files: [`src/${screen}/**/*.{ts,tsx}`],
    ignores: ["**/*.test.ts"],
    rules: imports(screen, { ours: FOLDERS.filter((folder) => folder !== "frame"), packages: REACT }),
  })),
  {
    files: ["src/**/*.{ts,tsx}"],
    ignores: ["**/*.test.ts", "src/core/**", "src/sync/**"],
    rules: globals(NETWORK, "Only sync reaches the network and storage."),
  },
  {
    files: ["src/core/**/*.ts"],
    ignores: ["**/*.test.ts"],
    rules: {
      ...globals([...NETWORK, ...IMPURE], "core is pure: take it as an argument."),
      "no-restricted-syntax": [
        "error",
        { selector: "MemberExpression[object.name='Date'][property.name='now']", message: "core reads no clock." },
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: "core reads no clock." },
        { selector: "MemberExpression[object.name='Math'][property.name='random']", message: "core has no chance in it." },
      ],
    },
  },
  {
    files: ["src/sync/**/*.ts"],
    ignores: ["**/*.test.ts"],
    rules: globals(["document", "window"], "sync knows no page: take it as an argument."),
  },
)
