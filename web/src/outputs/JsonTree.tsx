/** JSON as a tree. What is inside a value is made when it is opened. */

import { memo, useState } from "react"
import type { Json } from "../core/types.gen.ts"
import { harmless } from "../core/visible.ts"
import css from "./JsonTree.module.css"

const MOST_SHOWN = 100
const LONGEST = 2000

interface NodeProps {
  readonly name: string | null
  readonly value: Json
  readonly isOpen?: boolean
}

export const JsonTree = memo(function JsonTree({ value }: { readonly value: Json }) {
  return (
    <div className={css["tree"]} data-output="json">
      <JsonNode name={null} value={value} isOpen />
    </div>
  )
})

function JsonNode({ name, value, isOpen = false }: NodeProps) {
  if (typeof value !== "object" || value === null) return <Leaf name={name} value={value} />
  const entries = Object.entries(value)
  return <Branch name={name} entries={entries} brackets={Array.isArray(value) ? "[]" : "{}"} isOpen={isOpen} />
}

interface BranchProps {
  readonly name: string | null
  readonly entries: readonly (readonly [string, Json])[]
  readonly brackets: "[]" | "{}"
  readonly isOpen: boolean
}

function Branch({ name, entries, brackets, isOpen }: BranchProps) {
  const [isShown, setIsShown] = useState(isOpen && entries.length > 0)
  const [count, setCount] = useState(MOST_SHOWN)
  if (!entries.length) {
    return (
      <div className={css["leaf"]}>
        <Name name={name} />
        {brackets}
      </div>
    )
  }
  const noun = brackets === "[]" ? (entries.length === 1 ? "item" : "items") : entries.length === 1 ? "key" : "keys"
  return (
    <details open={isShown} onToggle={(event) => setIsShown(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        {brackets[0]}
        <span className={css["count"]}>{`${entries.length.toLocaleString("en")} ${noun}`}</span>
        {brackets[1]}
      </summary>
      {isShown && (
        <div className={css["children"]}>
          {entries.slice(0, count).map(([key, value]) => (
            <JsonNode key={key} name={key} value={value} />
          ))}
          {entries.length > count && (
            <button type="button" onClick={() => setCount(count * 2)}>
              {`${(entries.length - count).toLocaleString("en")} more`}
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function Name({ name }: { readonly name: string | null }) {
  return name === null ? null : <span className={css["name"]}>{`${harmless(name)}: `}</span>
}

function Leaf({ name, value }: { readonly name: string | null; readonly value: string | number | boolean | null }) {
  const [isWhole, setIsWhole] = useState(false)
  const text = typeof value === "string" ? JSON.stringify(value) : String(value)
  const isCut = text.length > LONGEST && !isWhole
  return (
    <div className={css["leaf"]}>
      <Name name={name} />
      <span className={css[value === null ? "null" : typeof value]}>{harmless(isCut ? text.slice(0, LONGEST) : text)}</span>
      {isCut && (
        <button type="button" onClick={() => setIsWhole(true)}>
          {` … ${(text.length - LONGEST).toLocaleString("en")} more characters`}
        </button>
      )}
    </div>
  )
}
