/** Keys in a list of rows, each marked with `data-row`: from row to row, and the menu of one. */

/** Focus the first link or button of the row that is `step` away from the focused one. */
export function moveRow(list: HTMLElement | null, step: 1 | -1): boolean {
  const rows = [...(list?.querySelectorAll<HTMLElement>("[data-row]") ?? [])]
  const index = rows.findIndex((row) => row.contains(document.activeElement))
  const next = index < 0 ? (step === 1 ? rows[0] : undefined) : rows[index + step]
  if (!next) return false
  next.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true })
  next.scrollIntoView({ block: "nearest" })
  return true
}

/** Open the menu of the row that an element is in. */
export function openRowMenu(element: Element | null): boolean {
  const button = element?.closest("[data-row]")?.querySelector<HTMLElement>("[aria-haspopup=menu]")
  button?.click()
  return button !== undefined && button !== null
}
