/** How the editor looks: the tokens of ui/tokens.css, light and dark alike. Sizes are those of Code.module.css. */

import { EditorView } from "@codemirror/view"

const peerColours = Object.fromEntries(
  Array.from({ length: 8 }, (_, colour) => [`.cm-peer-${colour}`, { "--peer": `var(--peer-${colour})` }]),
)

const popup = {
  border: "1px solid var(--line)",
  borderRadius: "var(--radius)",
  color: "var(--ink)",
  backgroundColor: "var(--paper-raised)",
  boxShadow: "var(--shadow)",
}

export const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    overflowX: "visible",
    fontFamily: "var(--font-code)",
    fontSize: "var(--text-code)",
    fontVariantLigatures: "none",
    lineHeight: "var(--leading-code)",
  },
  ".cm-content": { padding: "var(--cell-padding-y) var(--cell-padding-x)", caretColor: "var(--ink)", tabSize: "4" },
  ".cm-line": { padding: "0" },
  ".cm-placeholder": { color: "var(--ink-faint)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "1.5px" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--paper-selected)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, var(--paper))",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--stale) 22%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--line-strong)", borderRadius: "2px" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--error-paper)", outline: "1px solid var(--error)", borderRadius: "2px" },
  ".cm-errorLine": {
    margin: "0 calc(-1 * var(--cell-padding-x))",
    padding: "0 var(--cell-padding-x)",
    backgroundColor: "color-mix(in srgb, var(--error) 10%, transparent)",
    boxShadow: "inset 2px 0 0 var(--error)",
  },
  ".cm-errorLine .hl-comment": { color: "var(--ink-soft)" },
  ...peerColours,
  ".cm-peerSelection": { backgroundColor: "color-mix(in srgb, var(--peer) 24%, transparent)" },
  ".cm-peerCaret": {
    position: "relative",
    display: "inline-block",
    width: "0",
    height: "1lh",
    verticalAlign: "top",
    boxShadow: "-1px 0 0 var(--peer), 1px 0 0 var(--peer)",
  },
  // The part that the mouse can be over: a little wider than what is drawn.
  ".cm-peerCaret::before": { content: '""', position: "absolute", inset: "-2px -3px" },
  ".cm-tooltip": { ...popup, zIndex: "60" },
  ".cm-tooltip.cm-peerName": {
    padding: "0 var(--s1)",
    border: "none",
    borderRadius: "3px",
    color: "var(--paper)",
    backgroundColor: "var(--peer)",
    boxShadow: "none",
    font: "600 11px/16px var(--font)",
    pointerEvents: "none",
  },
  ".cm-tooltip.cm-inspection": {
    maxWidth: "min(640px, calc(100vw - 24px))",
    maxHeight: "280px",
    padding: "var(--s2) var(--s3)",
    overflow: "auto",
    fontFamily: "var(--font-code)",
    fontSize: "var(--text-small)",
    lineHeight: "1.5",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
  },
  ".cm-tooltip.cm-kernelWait": { padding: "var(--s1) var(--s2)", color: "var(--ink-soft)", font: "var(--text-small)/1.5 var(--font)" },
  ".cm-tooltip.cm-inspection-signature": { maxHeight: "96px", padding: "var(--s1) var(--s2)" },
  ".cm-tooltip.cm-completions > ul": {
    maxWidth: "min(480px, calc(100vw - 24px))",
    maxHeight: "248px",
    padding: "2px",
    fontFamily: "var(--font-code)",
    fontSize: "var(--text-small)",
  },
  ".cm-tooltip.cm-completions > ul > li": {
    display: "flex",
    justifyContent: "space-between",
    gap: "var(--s4)",
    padding: "2px var(--s2)",
    borderRadius: "3px",
    lineHeight: "1.5",
  },
  ".cm-tooltip.cm-completions > ul > li[aria-selected]": { color: "var(--ink)", backgroundColor: "var(--paper-selected)" },
  ".cm-completionLabel": { overflow: "hidden", textOverflow: "ellipsis" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { color: "var(--ink-faint)", fontStyle: "normal" },
})
