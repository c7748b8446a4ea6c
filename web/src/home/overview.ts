/** What home shows of notebooks and runs, in words and in order. Pure. */

import type { NotebookSummary } from "../sync/api_types.ts"

/** The notebooks of one folder; "" is the server's own, where those without a file are too. */
export interface Folder {
  readonly path: string
  readonly notebooks: readonly NotebookSummary[]
}

/** Notebooks by the folders of their files: the top first, then by name; in each, the one changed last first. */
export function byFolder(notebooks: readonly NotebookSummary[]): readonly Folder[] {
  const folders = new Map<string, NotebookSummary[]>([["", []]])
  for (const notebook of notebooks) {
    const path = folderOf(notebook.file)
    folders.set(path, [...(folders.get(path) ?? []), notebook])
  }
  return [...folders]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, inside]) => ({ path, notebooks: inside.sort(lastFirst) }))
    .filter(({ path, notebooks: inside }) => inside.length > 0 || path === "")
}

function folderOf(file: string | null): string {
  return file?.includes("/") ? file.slice(0, file.lastIndexOf("/")) : ""
}

function lastFirst(one: NotebookSummary, other: NotebookSummary): number {
  return other.changed.at < one.changed.at ? -1 : 1
}

/** The notebooks whose name or file has every word of `text`. */
export function filterNotebooks(notebooks: readonly NotebookSummary[], text: string): readonly NotebookSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return notebooks.filter(({ name, file }) => {
    const searched = `${name} ${file ?? ""}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
}

/** How a notebook is, by the most pressing of its cells: the mark, and all that there is to say. */
export function notebookState({ cells, errors, running, stale }: NotebookSummary): { readonly mark: string; readonly words: string } {
  const words = [
    running ? `${running} running` : "",
    errors ? count(errors, "error") : "",
    stale ? `${stale} stale` : "",
  ].filter(Boolean)
  const mark = running ? "running" : errors ? "error" : stale ? "stale" : "quiet"
  return { mark, words: words.join(", ") || (cells ? count(cells, "cell") : "empty") }
}

/** "1 error", "2 errors". */
export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`
}

const CHANGES: Readonly<Record<string, string>> = {
  notebook_created: "made it",
  notebook_renamed: "renamed it",
  notebook_archived: "archived it",
  source_edited: "edited",
  cell_added: "added a cell",
  cell_removed: "removed a cell",
  cell_moved: "moved a cell",
  cell_kind_set: "edited",
  cell_renamed: "named a cell",
  execution_requested: "ran",
  execution_started: "ran",
  execution_finished: "ran",
  proposal_made: "proposed",
  proposal_accepted: "accepted",
  proposal_declined: "declined",
  comment_added: "commented",
}

/** What somebody did, by the type of the last event. */
export function changeWords(type: string): string {
  return CHANGES[type] ?? (type.startsWith("execution") ? "ran" : "changed it")
}

/** A name beside those that there are: "sales", "sales 2". */
export function freeName(name: string, taken: Iterable<string>): string {
  const names = new Set(taken)
  if (!names.has(name)) return name
  for (let number = 2; ; number += 1) {
    if (!names.has(`${name} ${number}`)) return `${name} ${number}`
  }
}

const NOTEBOOK_FILE = /\.(ipynb|py|md)$/i

/** Whether a file's name is that of a notebook. */
export function isNotebookFile(name: string): boolean {
  return NOTEBOOK_FILE.test(name)
}

/** The name of the notebook that a file makes. */
export function nameOfFile(file: string): string {
  return file.replace(/^.*\//, "").replace(NOTEBOOK_FILE, "")
}
