/** A condition on a parameter or a result, put together from choices. */

import { useState } from "react"

import { Button } from "../ui/Button.tsx"
import { SelectField, TextField } from "../ui/Field.tsx"
import type { ShownColumn } from "./columns.ts"
import css from "./Filter.module.css"
import { writeCondition } from "./query.ts"

const OPERATORS = [
  { value: "=", label: "is" },
  { value: "!=", label: "is not" },
  { value: ">", label: "more than" },
  { value: ">=", label: "at least" },
  { value: "<", label: "less than" },
  { value: "<=", label: "at most" },
  { value: "~", label: "contains" },
  { value: "is set", label: "is there" },
  { value: "is missing", label: "is missing" },
]

export function ConditionForm({ columns, onAdd }: { readonly columns: readonly ShownColumn[]; readonly onAdd: (condition: string) => void }) {
  const [key, setKey] = useState(columns[0]?.key ?? "")
  const [operator, setOperator] = useState("=")
  const [value, setValue] = useState("")
  const column = columns.find((each) => each.key === key)
  if (!column) return <p>No run has a parameter or a result yet.</p>
  const needsValue = !operator.startsWith("is ")
  return (
    <form
      className={css["form"]}
      aria-label="Filter by a value"
      onSubmit={(event) => {
        event.preventDefault()
        if (!needsValue || value.trim()) onAdd(writeCondition(key, operator, value.trim(), column.type === "text"))
      }}
    >
      <SelectField
        label="Parameter or result"
        value={key}
        choices={columns.map((each) => ({ value: each.key, label: `${each.name} (${each.kind}, ${each.type})` }))}
        onChange={(event) => setKey(event.target.value)}
      />
      <SelectField label="Comparison" value={operator} choices={OPERATORS} onChange={(event) => setOperator(event.target.value)} />
      {needsValue && (
        <TextField
          label="Value"
          value={value}
          inputMode={column.type === "number" ? "decimal" : undefined}
          placeholder={column.type === "date" ? "2026-01-31" : undefined}
          spellCheck={false}
          onChange={(event) => setValue(event.target.value)}
        />
      )}
      <div className={css["buttons"]}>
        <Button kind="primary" type="submit" disabled={needsValue && !value.trim()}>
          Filter
        </Button>
      </div>
    </form>
  )
}
