/** The field in which a comment is written: an @ is completed, and what was typed is kept until it is sent. */

import { useEffect, useId, useRef, useState } from "react"
import type { KeyboardEvent } from "react"

import type { CellId, CommentId, KnownEvent } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import type { DraftTarget } from "../sync/comment_drafts.ts"
import { Button } from "../ui/Button.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import css from "./Comments.module.css"
import { MentionList } from "./MentionList.tsx"
import { commentsOf } from "./state.ts"
import type { CommentsContext } from "./state.ts"
import { useMention } from "./use_mention.ts"

interface NewComment {
  readonly text: string
  readonly cell: CellId | null
  readonly reply_to: CommentId | null
  /** The line that it is about, of the source of that hash. */
  readonly line?: number
  readonly source_hash?: string
}

interface Props {
  readonly context: CommentsContext
  readonly target: DraftTarget
  readonly label: string
  /** What a new comment is about. */
  readonly add?: (text: string) => NewComment
  /** The comment that is written again. */
  readonly edits?: CommentId
}

export function Composer({ context, target, label, add, edits }: Props) {
  const { live, parts } = context
  const state = commentsOf(context)
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => state.drafts.get(target))
  const [refusal, setRefusal] = useState<string | null>(null)
  const composed = useValue(state.composed)
  useEffect(() => {
    if (!field.current || !state.takeWanted(target)) return
    field.current.focus()
    field.current.setSelectionRange(field.current.value.length, field.current.value.length)
    field.current.scrollIntoView({ block: "nearest" })
  }, [state, target, composed])
  const write = (next: string): void => {
    setText(next)
    state.drafts.set(target, next)
  }
  const mention = useMention({ context, field, write })
  const close = (): void => {
    const from = field.current
    state.dismiss(target)
    returnFocus(from)
  }
  const send = (): void => {
    const said = text.trim()
    if (!said) return
    const event: KnownEvent = edits
      ? { type: "comment_edited", comment: edits, text: said }
      : { type: "comment_added", comment: parts.newId(), ...(add?.(said) ?? { text: said, cell: null, reply_to: null }) }
    live.act([event], (outcome) => {
      if (outcome.kind !== "refused") return
      // What was typed comes back, with the reason.
      state.compose(target, said)
      setRefusal(outcome.fault.message)
      context.notify({ text: outcome.fault.message })
    })
    if (target.startsWith("cell:")) state.unfold(target.slice("cell:".length), true)
    close()
  }
  const press = (event: KeyboardEvent): void => {
    if (mention.press(event)) return
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send()
    else if (event.key === "Escape") close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className={css["composer"]}>
      <label htmlFor={id} className={css["label"]}>
        {label}
      </label>
      <textarea
        ref={field}
        id={id}
        className={css["field"]}
        rows={2}
        value={text}
        maxLength={MOST_CHARACTERS}
        dir="auto"
        placeholder="@name addresses a person or an agent"
        aria-autocomplete="list"
        aria-controls={mention.isOpen ? mention.listId : undefined}
        aria-activedescendant={mention.activeId}
        onChange={(event) => {
          write(event.target.value)
          mention.look()
        }}
        onSelect={mention.look}
        onBlur={(event) => {
          // Not while a button below is pressed: the list would go, and the button move from under the pointer.
          if (!event.currentTarget.parentElement?.contains(event.relatedTarget)) mention.close()
        }}
        onKeyDown={press}
      />
      <MentionList mention={mention} />
      {refusal && <PanelNote kind="error">{refusal}</PanelNote>}
      <div className={css["buttons"]}>
        <Button kind="primary" disabled={!text.trim()} keys="Mod-Enter" onClick={send}>
          {edits ? "Save" : add?.("").reply_to ? "Reply" : "Comment"}
        </Button>
        <Button kind="quiet" onClick={close}>
          Cancel
        </Button>
      </div>
    </div>
  )
}

const MOST_CHARACTERS = 20_000

/** The focus goes to where the thread is, or back to the cells. */
function returnFocus(from: HTMLElement | null): void {
  const thread = from?.closest<HTMLElement>("[data-thread]")?.dataset["thread"]
  requestAnimationFrame(() => {
    if (document.activeElement && document.activeElement !== document.body) return
    const button = thread === undefined ? null : document.querySelector<HTMLElement>(`[data-thread="${CSS.escape(thread)}"] button`)
    const rail = document.querySelector<HTMLElement>("[data-rail-panel]:focus-within")
    ;(button ?? rail ?? document.querySelector<HTMLElement>("[data-cell][data-focused]"))?.focus({ preventScroll: true })
  })
}
