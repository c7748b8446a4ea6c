/** Write the keys of a notebook, of home and of a review as JSON to stdout: docs/generate.py makes docs/reference/keys.md of it. */

import { globSync, readFileSync } from "node:fs"

import { GROUPS } from "../src/actions/context.ts"
import { EDITOR_KEYS } from "../src/actions/editor_keys.ts"
import { ACTIONS } from "../src/actions/table.ts"
import { HOME_KEYS } from "../src/home/use_home_keys.ts"

interface Row {
  readonly title: string
  readonly keys: readonly string[]
  readonly mode?: string | undefined
}

/** The panels that have keys, and the actions that they bring. Their files draw icons, which Node does not read: they are read as text. */
function panelRows(): Row[] {
  const files = globSync("src/*/panel.tsx", { cwd: `${import.meta.dirname}/..` }).sort()
  return files.flatMap((file) => {
    const text = readFileSync(`${import.meta.dirname}/../${file}`, "utf-8")
    const [title, key] = [/^ {2}title: "(.+)",$/m, /^ {2}key: "(.+)",$/m].map((part) => part.exec(text)?.[1])
    const opens = title && key ? [{ title: `${title}: open or close`, keys: [key] }] : []
    return [...opens, ...actionRows(text)]
  })
}

/** The actions of a panel: each row has a title and, behind it, keys. */
function actionRows(text: string): Row[] {
  const rows = text.matchAll(/\btitle: "([^"]+)",(?:(?!\btitle:)[^}])*?\bkeys: \[((?:"[^"]*"|[^\]"])*)\]((?:(?!\btitle:)[^}])*)/g)
  return [...rows].flatMap(([, title = "", written = "", rest = ""]) => {
    const keys = [...written.matchAll(/"([^"]+)"/g)].map(([, key = ""]) => key)
    return keys.length ? [{ title, keys, mode: /\bmode: "(\w+)"/.exec(rest)?.[1] }] : []
  })
}

/** The keys of a review. Its table stands beside what draws the page, which Node does not read: it is read as text. */
function reviewRows(): Row[] {
  const text = readFileSync(`${import.meta.dirname}/../src/review/actions.ts`, "utf-8")
  return [...text.matchAll(/\{ keys: "([^"]+)", title: "([^"]+)"/g)].map(([, keys = "", title = ""]) => ({ title, keys: [keys] }))
}

const groups: [title: string, rows: readonly Row[]][] = GROUPS.map((group) => [
  group,
  ACTIONS.filter((action) => action.group === group && action.keys.length).map(({ title, keys, mode }) => ({ title, keys, mode })),
])
groups.push(["Panels", panelRows()], ["In the editor", EDITOR_KEYS.map(({ title, keys }) => ({ title, keys }))])
groups.push(["On the home page", HOME_KEYS.map(({ title, keys }) => ({ title, keys: [keys] }))], ["On the page of a review", reviewRows()])
process.stdout.write(JSON.stringify(groups.filter(([, rows]) => rows.length)))
