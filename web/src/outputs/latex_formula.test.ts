import { expect, test } from "vitest"
import { formulaIn } from "./latex_formula.ts"

test("a formula is read without what surrounds it", () => {
  expect(formulaIn("$\\displaystyle \\frac{1}{2}$")).toEqual({ tex: "\\displaystyle \\frac{1}{2}", isDisplayed: false })
  expect(formulaIn(" $$\nx^2\n$$\n")).toEqual({ tex: "x^2", isDisplayed: true })
  expect(formulaIn("\\[ a \\]")).toEqual({ tex: "a", isDisplayed: true })
  expect(formulaIn("\\(a\\)")).toEqual({ tex: "a", isDisplayed: false })
  expect(formulaIn("$5\\$ + x$")?.tex).toBe("5\\$ + x")
})

test("environments of formulas are formulas", () => {
  for (const name of ["equation", "equation*", "align", "gather*", "pmatrix", "cases"]) {
    const text = `\\begin{${name}}\na &= b\n\\end{${name}}`
    expect(formulaIn(text), name).toEqual({ tex: text, isDisplayed: true })
  }
})

test("documents, tables and texts are none", () => {
  const texts = [
    "\\documentclass{article}\\begin{document}x\\end{document}",
    "\\begin{tabular}{ll} a & b \\end{tabular}",
    "\\begin{itemize}\\item $x$\\end{itemize}",
    "\\begin{equation}a\\end{equation} and \\begin{equation}b\\end{equation}",
    "\\begin{equation}a",
    "$a$ and $b$",
    "$$a$$ and $$b$$",
    "\\(a\\) and \\(b\\)",
    "\\(a\\]",
    "\\textbf{bold}",
    "$$",
    "$",
    "",
    `$${"x".repeat(30_000)}$`,
  ]
  expect(texts.filter((text) => formulaIn(text) !== null)).toEqual([])
})
