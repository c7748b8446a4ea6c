/** A line above the cell that declares parameters: it opens the form, and tells of the run that the form started. */

import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import css from "./Params.module.css"
import { formOf } from "./run_form.ts"
import { isOver } from "./run_watch.ts"

export function ParametersBar({ context }: { readonly context: PageContext }) {
  const started = useValue(formOf(context.live).run)
  const isOfRun = useField(context.live, "run") !== null
  const isRunning = started !== null && !(started.notebook && isOver(started.notebook))
  // What a run was started with stands; its notebook is where another begins.
  if (isOfRun) return null
  return (
    <div className={css["bar"]}>
      <Button kind="quiet" icon={<Icon name="parameters" />} onClick={() => context.openPanel("parameters")}>
        {isRunning ? "A run is under way…" : "Run with parameters…"}
      </Button>
    </div>
  )
}
