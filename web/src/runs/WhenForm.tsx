/** When runs were asked for: a while up to now, or from one day to another. */

import { useState } from "react"

import { Button } from "../ui/Button.tsx"
import { TextField } from "../ui/Field.tsx"
import css from "./Filter.module.css"
import type { RunQuery } from "./query.ts"

const SPANS: readonly { readonly since: string; readonly label: string }[] = [
  { since: "1h", label: "Last hour" },
  { since: "24h", label: "Last 24 hours" },
  { since: "7d", label: "Last 7 days" },
  { since: "30d", label: "Last 30 days" },
]

export interface WhenFormProps {
  readonly query: RunQuery
  readonly onQuery: (query: RunQuery) => void
  readonly onClose: () => void
}

export function WhenForm({ query, onQuery, onClose }: WhenFormProps) {
  const [from, setFrom] = useState(isDay(query.since) ? query.since : "")
  const [to, setTo] = useState(isDay(query.until) ? query.until : "")
  const set = (since: string | null, until: string | null): void => {
    onQuery({ ...query, since, until })
    onClose()
  }
  return (
    <form
      className={css["form"]}
      onSubmit={(event) => {
        event.preventDefault()
        set(from || null, to || null)
      }}
    >
      <div className={css["spans"]}>
        {SPANS.map(({ since, label }) => (
          <Button key={since} kind="quiet" pressed={query.since === since} onClick={() => set(since, null)}>
            {label}
          </Button>
        ))}
      </div>
      <div className={css["days"]}>
        <TextField label="From" type="date" value={from} onChange={(event) => setFrom(event.target.value)} />
        <TextField label="To" type="date" value={to} onChange={(event) => setTo(event.target.value)} />
      </div>
      <div className={css["buttons"]}>
        <Button kind="quiet" onClick={() => set(null, null)}>
          Any time
        </Button>
        <Button kind="primary" type="submit" disabled={!from && !to}>
          Filter
        </Button>
      </div>
    </form>
  )
}

function isDay(text: string | null): text is string {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text)
}

/** "last 7 days", "from 2026-11-01 to 2026-11-30". */
export function whenWords({ since, until }: Pick<RunQuery, "since" | "until">): string {
  const span = SPANS.find((each) => each.since === since)
  if (span && !until) return span.label.toLowerCase()
  return [since ? `from ${since}` : "", until ? `to ${until}` : ""].filter(Boolean).join(" ")
}
