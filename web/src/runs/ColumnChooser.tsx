/** Which columns are shown: those that occur, each with a box. Remembered by this browser. */

import { useState } from "react"

import { Button } from "../ui/Button.tsx"
import { CheckField, TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Popover } from "../ui/Popover.tsx"
import { FACT_TITLES, FACTS, isFactShown, usualKeys } from "./columns.ts"
import type { ColumnChoice, ShownColumn } from "./columns.ts"
import css from "./Filter.module.css"

export interface ColumnChooserProps {
  readonly columns: readonly ShownColumn[]
  readonly choice: ColumnChoice
  readonly onChoice: (choice: ColumnChoice) => void
}

/** With more columns than this, one looks for a name. */
const MANY = 12

export function ColumnChooser(props: ColumnChooserProps) {
  return (
    <Popover kind="plain" label="Columns" align="end" icon={<Icon name="table" />} trigger="Columns">
      <Choices {...props} />
    </Popover>
  )
}

function Choices({ columns, choice, onChoice }: ColumnChooserProps) {
  const [typed, setTyped] = useState("")
  const usual = usualKeys(columns)
  const found = columns.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()))
  const box = (key: string, label: string, help: string, isShown: boolean) => (
    <CheckField key={key} label={<Label text={label} help={help} />} checked={isShown} onChange={(checked) => onChoice({ ...choice, [key]: checked })} />
  )
  const group = (title: string, kind: ShownColumn["kind"]) => {
    const inside = found.filter((column) => column.kind === kind)
    if (inside.length === 0) return null
    return (
      <>
        <h3>{title}</h3>
        {inside.map(({ key, name, type, varies }) =>
          box(key, name, `${type === "mixed" ? "several types" : type}${varies ? "" : ", the same in all"}`, choice[key] ?? usual.has(key)),
        )}
      </>
    )
  }
  return (
    <div className={css["columns"]}>
      {columns.length > MANY && <TextField label="Find a column" value={typed} onChange={(event) => setTyped(event.target.value)} />}
      {group("Parameters", "parameter")}
      {group("Results", "result")}
      <h3>Run</h3>
      {FACTS.map((fact) => box(fact, FACT_TITLES[fact], "", isFactShown(fact, choice)))}
      <div className={css["buttons"]}>
        <Button kind="quiet" disabled={Object.keys(choice).length === 0} onClick={() => onChoice({})}>
          Show what varies
        </Button>
      </div>
    </div>
  )
}

function Label({ text, help }: { readonly text: string; readonly help: string }) {
  return (
    <span className={css["column"]}>
      <span>{text}</span> <small>{help}</small>
    </span>
  )
}
