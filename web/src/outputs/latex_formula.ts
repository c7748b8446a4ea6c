/** Which LaTeX of an output is a formula: KaTeX typesets formulas, and no documents. */

export interface Formula {
  readonly tex: string
  /** Whether it stands on a line of its own. */
  readonly isDisplayed: boolean
}

/** Longer ones stay as they are written: typesetting them would stop the page. */
const LONGEST = 20_000
/** The environments that KaTeX knows at the outside of a formula. */
const ENVIRONMENT = /^\\begin\{((?:equation|align|gather|alignat|split|aligned|gathered|alignedat|cases|dcases|rcases|array|darray|CD|[pbBvV]?matrix|smallmatrix)\*?)\}/
const DOLLARS = /^(\$\$?)(?!\$)([^]+?)\1$/
const BRACKETS = /^\\([[(])([^]+?)\\([\])])$/

/** The formula that a LaTeX output is; null of what is more than one formula, or a document. */
export function formulaIn(source: string): Formula | null {
  const text = source.trim()
  if (text.length > LONGEST) return null
  const dollars = DOLLARS.exec(text)
  if (dollars) return hasDollar(dollars[2] ?? "") ? null : { tex: (dollars[2] ?? "").trim(), isDisplayed: dollars[1] === "$$" }
  const brackets = BRACKETS.exec(text)
  if (brackets && (brackets[1] === "[") === (brackets[3] === "]")) {
    const tex = (brackets[2] ?? "").trim()
    return /\\[[\]()]/.test(tex) ? null : { tex, isDisplayed: brackets[1] === "[" }
  }
  const environment = ENVIRONMENT.exec(text)?.[1]
  const end = `\\end{${environment ?? ""}}`
  return environment !== undefined && text.indexOf(end) === text.length - end.length ? { tex: text, isDisplayed: true } : null
}

/** Whether a dollar sign ends the formula inside it: `$a$ and $b$` is a text with two. */
function hasDollar(tex: string): boolean {
  return /(?<!\\)(?:\\\\)*\$/.test(tex)
}
