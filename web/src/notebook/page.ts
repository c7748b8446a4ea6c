/**
 * The page of one open notebook, without anything that is drawn: what panels and actions are given.
 *
 * It is made when the notebook is open and closed with it. What components ask to be shown (a palette, a question) is in
 * values that the page looks at.
 */

import { addCell, changeCells, undo } from "../actions/cells.ts"
import type { Action, ActionContext, Copied, EditorPlace, PageUi, Question } from "../actions/context.ts"
import { History } from "../actions/history.ts"
import { stops } from "../actions/requests.ts"
import { runCells, tellProposed } from "../actions/run.ts"
import { action, ACTIONS, Keyboard } from "../actions/table.ts"
import { View } from "../actions/view.ts"
import type { CursorPlace } from "../actions/view.ts"
import { pointLength } from "../core/points.ts"
import type { CellChange, CellId, CellKind, LogId } from "../core/types.gen.ts"
import type { PanelSpec } from "../hooks/panel.ts"
import { newCell } from "../sync/browser.ts"
import { ServerClock } from "../sync/clock.ts"
import type { Cancel } from "../sync/clock.ts"
import { Lanes } from "../sync/lanes.ts"
import type { Live, Outcome } from "../sync/live.ts"
import type { GoToOptions, PageContext, PanelItem, RecordedChanges, Toast } from "../sync/notebook_page.ts"
import { openNotebook } from "../sync/open.ts"
import type { OpenNotebook, OpenParts } from "../sync/open.ts"
import { Presence } from "../sync/presence.ts"
import { Value } from "../sync/store.ts"
import type { Stop } from "../sync/store.ts"
import { LastDurations } from "./last_duration.ts"
import { CellSlots } from "./slots.ts"

/** What is open over the page. */
export type Overlay =
  | { readonly kind: "palette" | "keys" | "notebook_name" }
  | { readonly kind: "name" | "tags" | "menu"; readonly cell: CellId }
  | { readonly kind: "question"; readonly question: Question; readonly answer: (yes: boolean) => void }

const RAIL_KEY = "quire:rail"
/** Browsers refuse to be told more often than a hundred times in half a minute. */
const KEEP_MILLISECONDS = 500
/** Cells that were cut or copied in this window, in whichever notebook. */
const clipboard = new Value<readonly Copied[]>([])

export class Page implements PageContext {
  readonly log: LogId
  readonly parts: OpenParts
  readonly open: OpenNotebook
  readonly live: Live
  readonly lanes: Lanes
  readonly presence: Presence
  readonly clock: ServerClock
  readonly view: View
  readonly history: History
  readonly lastDurations: LastDurations
  readonly actions: ActionContext
  readonly nonce: string
  /** The table of actions, with those of the panels. */
  all: readonly Action[] = ACTIONS
  readonly keyboard = new Keyboard(ACTIONS)
  readonly overlay = new Value<Overlay | null>(null)
  readonly panels = new Value<readonly PanelSpec[]>([])
  /** Whether the panels are loaded: until then their keys and entries are not known. */
  readonly hasPanels = new Value(false)
  /** Why no runtime comes for the cells that are queued, as far as it is known. */
  readonly whyWaiting = new Value<string | null>(null)
  readonly slots = new CellSlots()
  /** The name of the open panel. */
  readonly panel: Value<string | null>
  readonly panelItem = new Value<PanelItem | null>(null)
  /** Parts of cells that were folded in this window alone, as `part cell`. */
  readonly foldedHere = new Value<ReadonlySet<string>>(new Set())
  /** The editor that is mounted says where its cursor is. */
  place: EditorPlace | null = null
  /** What was typed into a cell, or for the palette or a panel, before the code of that was loaded. */
  earlyText = ""
  /** Whether somebody just asked for the panel that is about to be shown. */
  #isPanelAsked = false
  readonly #notify: (toast: Toast) => void
  readonly #stops: Stop[] = []
  #keeping: Cancel = () => undefined

  constructor(open: OpenNotebook, presence: Presence, parts: OpenParts, made: { readonly log: LogId; readonly nonce: string; readonly notify: (toast: Toast) => void }) {
    this.log = made.log
    this.nonce = made.nonce
    this.#notify = made.notify
    this.parts = parts
    this.open = open
    this.live = open.live
    this.presence = presence
    this.lanes = new Lanes(made.log, parts)
    this.clock = new ServerClock(parts.clock)
    this.view = new View(open.live.store.visible)
    this.history = new History(open.live, { actor: open.me.actor }, () => tellProposed({ page: this }, { kind: "recorded", proposed: true }))
    this.lastDurations = new LastDurations((cell) => parts.api.cellRuns(made.log, cell))
    this.panel = new Value(parts.storage.getItem(RAIL_KEY))
    this.actions = { page: this, view: this.view, history: this.history, ui: this.#ui(), newCell }
    this.#begin()
  }

  #begin(): void {
    const { socket } = this.parts
    const setClock = (): void => {
      const at = socket.welcome.get()?.at
      if (at !== undefined) this.clock.set(at)
    }
    setClock()
    this.lanes.start()
    this.presence.start()
    const { store } = this.live
    let before = store.visible()
    this.#stops.push(
      socket.welcome.subscribe(setClock),
      store.subscribe("visible", () => {
        const was = before
        before = store.visible()
        this.view.settle(was)
      }),
      this.view.focus.subscribe(() => this.#moved(this.view.focus.get())),
      this.view.mode.subscribe(() => {
        this.keyboard.begun.set(null)
        this.presence.setDoing(this.view.mode.get() === "edit" ? "editing" : "reading")
      }),
    )
    const kept = (history.state as { readonly cell?: CellId } | null)?.cell
    const first = kept !== undefined && before.includes(kept) ? kept : before[0]
    if (first !== undefined) this.view.goTo(first, first === kept ? "center" : "nearest")
  }

  /** Tell the others where this window is; and keep it with the page, which may be loaded again. */
  #moved(cell: CellId | null): void {
    this.keyboard.begun.set(null)
    this.presence.move(cell)
    this.#keeping()
    this.#keeping = this.parts.clock.after(KEEP_MILLISECONDS, () => {
      history.replaceState({ ...(history.state as object | null), cell }, "")
    })
  }

  close(): void {
    this.#keeping()
    for (const stop of this.#stops.splice(0)) stop()
    this.slots.close()
    this.presence.close()
    this.lanes.close()
    this.live.flush()
    this.open.close()
  }

  // ---- What panels are given

  /** A run is a record: what it left is looked at, and not changed here. */
  get mayEdit(): boolean {
    return this.open.me.scopes.includes("edit") && this.live.store.field("run") === null
  }

  get mayRun(): boolean {
    return this.open.me.scopes.includes("run") && this.live.store.field("run") === null
  }

  get focus(): Value<CellId | null> {
    return this.view.focus
  }

  focused(): CellId | null {
    return this.view.focus.get()
  }

  readonly goTo = (cell: CellId, { edit = false, select }: GoToOptions = {}): void => {
    if (edit && this.mayEdit) this.view.edit(cell, select ?? "start")
    else this.view.goTo(cell, "start")
  }

  readonly notify = (toast: Toast): void => this.#notify(toast)

  readonly run = (cells: readonly CellId[]): void => runCells(this.actions, cells)

  readonly changeCells = (title: string, events: readonly CellChange[], { isSilent = false } = {}): void => {
    if (isSilent) this.history.do(title, events)
    else changeCells(this.actions, title, events)
  }

  readonly addUndo = (recorded: RecordedChanges): (() => void) => {
    const act = this.history.add(recorded)
    return () => undo(this.actions, act)
  }

  /** A cell's line, counted from 1, with the cursor in it. */
  goToLine(cell: CellId, line: number): void {
    const lines = (this.live.store.cell(cell)?.source ?? "").split("\n")
    const from = lines.slice(0, line - 1).reduce((sum, each) => sum + pointLength(each) + 1, 0)
    this.goTo(cell, { edit: true, select: { from, to: from } })
  }

  /** Say why something was refused that has no cell to say it at. */
  tellRefused(outcome: Outcome): void {
    if (outcome.kind === "refused") this.notify({ text: outcome.fault.message })
  }

  togglePanel(name: string): void {
    this.openPanel(this.panel.get() === name ? null : name)
  }

  /** Type what was typed before the editor was there, and put the cursor behind it. */
  typeEarly(cell: CellId, initial: CursorPlace): void {
    const text = this.takeEarlyText()
    if (!text || this.view.edited !== cell) return
    const end = pointLength(this.live.store.cell(cell)?.source ?? "")
    const at = initial === "start" ? 0 : typeof initial === "object" && "from" in initial ? initial.from : end
    this.live.type(cell, [[at, 0, text]])
    const cursor = at + pointLength(text)
    this.view.edit(cell, { from: cursor, to: cursor })
  }

  takeEarlyText(): string {
    const text = this.earlyText
    this.earlyText = ""
    return text
  }

  /** Whether somebody asked for a panel that is not there yet: what is typed now is meant for it. */
  get isPanelComing(): boolean {
    const panel = this.panel.get()
    return this.#isPanelAsked && panel !== null && this.hasPanel(panel)
  }

  takePanelAsked(): boolean {
    const isAsked = this.#isPanelAsked
    this.#isPanelAsked = false
    return isAsked
  }

  /** Take the focus back to the cells. */
  returnFocus(): void {
    document.querySelector<HTMLElement>("[data-cell][data-focused]")?.focus({ preventScroll: true })
  }

  readonly openPanel = (name: string | null, item?: string): void => {
    this.#isPanelAsked = name !== null && name !== this.panel.get()
    if (name !== null && item !== undefined) this.panelItem.set({ panel: name, item })
    this.panel.set(name)
    try {
      if (name === null) this.parts.storage.removeItem(RAIL_KEY)
      else this.parts.storage.setItem(RAIL_KEY, name)
    } catch {
      // Full, or closed to this page: it is not remembered then.
    }
  }

  /** The panels of the rail: each is an action too, with its keys, and brings others. */
  setPanels(panels: readonly PanelSpec[]): void {
    this.panels.set(panels)
    this.slots.set(this, panels)
    this.all = [...ACTIONS, ...panels.flatMap((panel) => this.#actionsOf(panel))]
    this.keyboard.setActions(this.all)
    this.hasPanels.set(true)
  }

  #actionsOf({ name, title, key, isHidden, actions = [] }: PanelSpec): Action[] {
    const opens: Action = {
      name: `panel.${name}`,
      title: `${title}: open or close`,
      group: "Panels",
      keys: key === undefined ? [] : [key],
      when: () => isHidden !== true,
      do: () => this.togglePanel(name),
    }
    const brought = actions.map((each): Action => ({
      ...each,
      group: "Panels",
      when: () => each.when?.(this) ?? true,
      do: () => each.do(this),
    }))
    return [opens, ...brought]
  }

  hasPanel(name: string): boolean {
    return this.all.some((each) => each.name === `panel.${name}`)
  }

  /** Do the action of that name, if it can be done. */
  doNamed(name: string): void {
    const found = action(name, this.all)
    if (found.when(this.actions)) found.do(this.actions)
  }

  stop(cells: readonly CellId[]): void {
    const events = stops(this.live.store.get(), cells)
    if (events.length) this.live.act(events)
  }

  closeOverlay(kind: Overlay["kind"]): void {
    if (this.overlay.get()?.kind === kind) this.overlay.set(null)
  }

  readonly add = (after: CellId | null, kind: CellKind): void => addCell(this.actions, after, kind, true)

  // ---- What actions are given

  #ui(): PageUi {
    const show = (overlay: Overlay): void => this.overlay.set(overlay)
    return {
      ask: (question) =>
        new Promise((resolve) => {
          const answer = (yes: boolean): void => {
            this.overlay.set(null)
            resolve(yes)
          }
          show({ kind: "question", question, answer })
        }),
      openPalette: () => show({ kind: "palette" }),
      openKeys: () => show({ kind: "keys" }),
      openCellMenu: (cell) => show({ kind: "menu", cell }),
      editName: (cell) => show({ kind: "name", cell }),
      editTags: (cell) => show({ kind: "tags", cell }),
      editNotebookName: () => show({ kind: "notebook_name" }),
      foldHere: (cell, part) => this.foldHere(cell, part),
      place: () => this.place,
      clipboard: { get: clipboard.get, set: copy },
    }
  }

  foldHere(cell: CellId, part: "source" | "outputs"): void {
    const key = `${part} ${cell}`
    const folded = new Set(this.foldedHere.get())
    if (!folded.delete(key)) folded.add(key)
    this.foldedHere.set(folded)
  }
}

/** Cells for this window's notebooks, and their text for other programs, where the browser allows it. */
function copy(cells: readonly Copied[]): void {
  clipboard.set(cells)
  const system = navigator.clipboard as typeof navigator.clipboard | undefined
  system?.writeText(cells.map(({ source }) => source).join("\n\n")).catch(() => undefined)
}

/** Open a notebook and make its page. */
export async function openPage(
  log: LogId,
  parts: OpenParts,
  made: { readonly nonce: string; readonly notify: (toast: Toast) => void },
): Promise<Page> {
  const presence = new Presence(log, parts)
  const open = await openNotebook(log, { ...parts, isShared: (cell) => presence.isShared(cell) })
  return new Page(open, presence, parts, { log, ...made })
}
