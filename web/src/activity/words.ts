/**
 * What somebody did, in words: "changed `load` and ran it: KeyError". Pure.
 *
 * Every kind of event has words, also those that are only steps of a run and that the server does not send: a log may one
 * day be read event by event.
 */

import type { CellId, KnownEvent } from "../core/types.gen.ts"
import type { Act } from "../sync/api_activity.ts"
import { stateWord } from "../ui/StateMark.tsx"

/** A piece of a sentence: words, or a cell that one can go to. */
export type Piece = string | { readonly cell: CellId; /** That it is gone is what is told. */ readonly isRemoval?: boolean }

type Wording =
  /** Acts of one verb are told together: "changed `load`, `clean` and 3 more". */
  | { readonly verb: string; readonly tells?: "outcome" }
  /** Told by itself; "*" stands for the cell. */
  | { readonly say: (act: Act) => string }

const say = (words: string) => ({ say: (): string => words })
/** "declined a proposal: too slow". */
const withText = (words: string) => ({ say: ({ text }: Act): string => (text ? `${words}: ${oneLine(text)}` : words) })
const withName = (words: string, otherwise: string) => ({ say: ({ text }: Act): string => (text ? `${words} ${oneLine(text)}` : otherwise) })

const REVIEW_ANSWERS: ReadonlyMap<string, string> = new Map([
  ["open", "opened the review again"],
  ["accepted", "accepted the review"],
  ["declined", "declined the review"],
  ["change_asked", "asked for a change"],
])

export const WORDS: Record<KnownEvent["type"], Wording> = {
  notebook_created: withName("created the notebook", "created the notebook"),
  notebook_renamed: withName("renamed the notebook to", "renamed the notebook"),
  notebook_archived: { say: ({ text }) => (text === "out" ? "took the notebook out of the archive" : "archived the notebook") },
  metadata_set: say("changed the notebook's settings"),
  payload_redacted: withText("redacted what an event said"),
  cell_added: { verb: "added" },
  cell_removed: { verb: "removed" },
  cell_moved: { verb: "moved" },
  cell_kind_changed: { verb: "changed the kind of" },
  cell_named: { verb: "named" },
  cell_tagged: { verb: "tagged" },
  cell_metadata_set: { verb: "changed settings of" },
  source_edited: { verb: "changed" },
  execution_requested: { verb: "ran", tells: "outcome" },
  scratch_requested: { say: (act) => `ran code without a cell${outcomeText([act])}` },
  execution_claimed: say("took a cell to run"),
  execution_started: { verb: "began to run" },
  execution_finished: say("ended a run"),
  execution_skipped: { verb: "skipped" },
  execution_cancelled: say("cancelled a cell that waited"),
  interrupt_requested: say("interrupted a cell"),
  input_answered: say("answered what a cell asked"),
  output_added: say("showed an output"),
  stream_appended: say("printed"),
  display_updated: say("updated an output"),
  outputs_cleared: say("cleared outputs"),
  result_recorded: withName("recorded the result", "recorded a result"),
  run_requested: withName("started the run", "started the run"),
  run_claimed: say("took the run"),
  run_started: say("began the run"),
  environment_recorded: say("recorded what the run found around it"),
  run_delivered: say("told or kept what came of the run"),
  run_cancel_requested: withText("asked to cancel the run"),
  run_finished: { say: ({ text }) => `ended the run${text ? `: ${stateWord(text)}` : ""}` },
  proposal_made: withText("made a proposal"),
  proposal_accepted: say("accepted a proposal"),
  proposal_declined: withText("declined a proposal"),
  proposal_withdrawn: say("withdrew a proposal"),
  proposal_expired: say("let a proposal expire"),
  comment_added: { say: ({ text, cell }) => `commented${cell ? " on *" : ""}${text ? `: ${oneLine(text)}` : ""}` },
  comment_edited: withText("edited a comment"),
  comment_resolved: { say: ({ text }) => (text === "open" ? "reopened a comment" : "resolved a comment") },
  review_opened: withName("opened the review", "opened a review"),
  cell_reviewed: { verb: "looked at" },
  review_answered: { say: ({ text }) => REVIEW_ANSWERS.get(text ?? "") ?? "answered a review" },
  file_bound: withName("bound the notebook to", "unbound the notebook from its file"),
  file_merged: withName("took in changes of", "took in changes of the file"),
  conflict_raised: { say: () => "found a conflict with the file in *" },
  conflict_resolved: say("resolved a conflict with the file"),
  outputs_imported: { verb: "took in outputs of" },
  runtime_attached: say("attached to the notebook"),
  runtime_detached: withText("left the notebook"),
  kernel_started: { say: ({ text }) => `started a ${text ? `${oneLine(text)} ` : ""}kernel` },
  kernel_restarted: withText("restarted the kernel"),
  restart_requested: say("asked for a new kernel"),
  actor_known: say("described an actor"),
  role_set: say("gave or took a role"),
  policy_set: say("set a policy"),
  token_created: say("made a token"),
  token_revoked: say("revoked a token"),
  actor_paused: say("paused an agent"),
  actor_resumed: say("let an agent go on"),
  schedule_added: say("added a schedule"),
  schedule_changed: say("changed a schedule"),
  schedule_paused: say("paused a schedule"),
  schedule_resumed: say("let a schedule go on"),
  schedule_removed: say("removed a schedule"),
  schedule_asked: say("asked for a run of a schedule"),
  schedule_skipped: say("skipped a run of a schedule"),
  log_imported: say("imported a log"),
  log_pruned: say("removed an old run"),
}

/** How many cells are named before the rest is counted. */
const NAMED = 3
const LONGEST = 120

/** The acts of a line as one sentence, without who did it. */
export function lineWords(acts: readonly Act[], leftOut = 0): Piece[] {
  const phrases: Piece[][] = []
  let last: Phrase | null = null
  const told = gathered(acts)
  told.forEach((phrase) => {
    phrases.push(phraseWords(phrase, last))
    last = phrase
  })
  if (leftOut) phrases.push([`did ${leftOut} more things`])
  return phrases.flatMap((phrase, index) => {
    const joint = index === 0 ? "" : index === phrases.length - 1 ? " and " : ", "
    return joint ? [joint, ...phrase] : phrase
  })
}

interface Phrase {
  readonly wording: Wording
  readonly acts: Act[]
}

/** Acts of one verb together, where the first of them stands. */
function gathered(acts: readonly Act[]): Phrase[] {
  const phrases: Phrase[] = []
  const byVerb = new Map<string, Phrase>()
  for (const act of acts) {
    const wording = WORDS[act.type as KnownEvent["type"]] as Wording | undefined ?? say(`did something that this page does not know (${act.type})`)
    const known = "verb" in wording ? byVerb.get(wording.verb) : undefined
    if (known) known.acts.push(act)
    else {
      const phrase = { wording, acts: [act] }
      phrases.push(phrase)
      if ("verb" in wording) byVerb.set(wording.verb, phrase)
    }
  }
  return phrases
}

function phraseWords({ wording, acts }: Phrase, before: Phrase | null): Piece[] {
  const [first] = acts
  if (!first) return []
  if ("say" in wording) return withCell(`${wording.say(first)}${times(first)}`, first.cell ?? null)
  const cells = [...new Set(acts.map(({ cell }) => cell ?? ""))]
  const isSame = cells.length === 1 && before !== null && "verb" in before.wording && before.acts.length === 1 && before.acts[0]?.cell === cells[0]
  const ending = wording.tells === "outcome" ? outcomeText(acts) : ""
  const pieces = cellPieces(cells).map((piece) => (typeof piece === "object" && wording.verb === "removed" ? { ...piece, isRemoval: true } : piece))
  return [`${wording.verb} `, ...(isSame ? ["it"] : pieces), ...(ending ? [ending] : [])]
}

function times({ count = 1 }: Act): string {
  return count > 1 ? ` (${count} times)` : ""
}

function withCell(words: string, cell: CellId | null): Piece[] {
  const at = words.indexOf("*")
  if (at < 0 || cell === null) return [words]
  return [words.slice(0, at), { cell }, words.slice(at + 1)].filter((piece) => piece !== "")
}

function cellPieces(cells: readonly CellId[]): Piece[] {
  const isLong = cells.length > NAMED + 1
  const named = isLong ? cells.slice(0, NAMED) : cells
  return named.flatMap((cell, index): Piece[] => {
    if (index === 0) return [{ cell }]
    return [index === named.length - 1 && !isLong ? " and " : ", ", { cell }]
  }).concat(isLong ? [` and ${cells.length - NAMED} more`] : [])
}

/** ": KeyError", ": ok", ": 2 failed (KeyError)". */
function outcomeText(acts: readonly Act[]): string {
  const ended = acts.filter(({ outcome }) => outcome)
  const [first] = ended
  if (!first?.outcome) return ""
  if (acts.length === 1) return `: ${first.error ? oneLine(first.error) : stateWord(first.outcome)}`
  const failed = ended.filter(({ outcome }) => outcome !== "ok")
  if (failed.length === 0) return ended.length === acts.length ? ": ok" : ""
  const errors = [...new Set(failed.map(({ error, outcome }) => error || stateWord(outcome ?? "")))]
  return `: ${failed.length} failed (${errors.slice(0, 2).map(oneLine).join(", ")})`
}

function oneLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? ""
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}
