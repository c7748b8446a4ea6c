/** The panel of proposals, and what shows of them at cells. What draws it is loaded once there is a proposal. */

import { useEffect } from "react"
import type { ReactNode } from "react"
import { firstCell, openProposals } from "../core/proposals.ts"
import type { ProposalPlaces } from "../core/proposals.ts"
import type { Cell, CellId, ProposalId } from "../core/types.gen.ts"
import type { CellSlot, PanelAction, PanelSpec } from "../hooks/panel.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { Readable } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"
import { Icon } from "../ui/Icon.tsx"
import { modelOf, placesOf } from "./model.ts"
import type * as screenModule from "./screen.tsx"

type Screen = typeof screenModule

/** What draws proposals, once it is loaded: until then cells are shown as they are. */
const screen = new Value<Screen | null>(null)
let loading: Promise<Screen> | null = null

function load(): Promise<Screen> {
  loading ??= import("./screen.tsx").then((module) => {
    screen.set(module)
    return module
  })
  return loading
}

/** Loads what draws proposals, and draws with it. */
function Drawn({ draw }: { readonly draw: (screen: Screen) => ReactNode }) {
  useEffect(() => void load(), [])
  const loaded = useValue(screen)
  return loaded ? draw(loaded) : null
}

function slot(place: keyof ProposalPlaces, draw: (screen: Screen, context: PageContext, cell: Cell) => ReactNode): CellSlot {
  return {
    place,
    cells: (context) => whenLoaded(placesOf(context, place)),
    render: (context, cell) => <Drawn draw={(loaded) => draw(loaded, context, cell)} />,
  }
}

const NO_CELLS: ReadonlySet<CellId> = new Set()

function whenLoaded(places: Readable<ReadonlySet<CellId>>): Readable<ReadonlySet<CellId>> {
  return {
    get: () => {
      const cells = places.get()
      if (cells.size) void load()
      return screen.get() ? cells : NO_CELLS
    },
    subscribe: (listener) => {
      const stops = [places.subscribe(listener), screen.subscribe(listener)]
      return () => stops.forEach((stop) => stop())
    },
  }
}

/** Go to the next proposal, or the one before, wherever one is: to its cell, and to its card. */
function walk(context: PageContext, step: 1 | -1): void {
  const model = modelOf(context)
  const cards = model.cards()
  const at = context.panelItem.get()?.item
  const place = at === undefined ? -1 : cards.indexOf(at)
  const id = cards.at(place < 0 ? (step > 0 ? 0 : -1) : (place + step) % cards.length)
  if (id === undefined) return void context.notify({ text: "No proposal waits." })
  const notebook = context.live.store.get()
  const proposal = notebook.proposals.get(id)
  const cell = proposal ? firstCell(notebook, proposal) : null
  if (cell !== null) context.goTo(cell)
  context.openPanel("proposals", id)
}

/** The proposal that an answer from the palette is for: the one that was gone to, else the oldest that waits. */
function current(context: PageContext): ProposalId | null {
  const open = openProposals(context.live.store.get()).map(([id]) => id)
  const at = context.panelItem.get()?.item
  return at !== undefined && open.includes(at) ? at : (open[0] ?? null)
}

const actions: readonly PanelAction[] = [
  { name: "proposals.next", title: "Next proposal", keys: ["Alt-P"], do: (context) => walk(context, 1) },
  { name: "proposals.previous", title: "Previous proposal", keys: ["Alt-Shift-P"], do: (context) => walk(context, -1) },
  {
    name: "proposals.accept",
    title: "On a proposal: accept it",
    keys: ["Y"],
    isLocal: true,
    when: (context) => current(context) !== null,
    do: (context) => void load().then(({ acceptCard }) => acceptCard(context, current(context))),
  },
  {
    name: "proposals.decline",
    title: "On a proposal: decline it, with a word",
    keys: ["N"],
    isLocal: true,
    when: (context) => current(context) !== null,
    do: (context) => void load().then(({ declineCard }) => declineCard(context, current(context))),
  },
  { name: "proposals.tick", title: "On a proposal: choose a part, or leave it out", keys: ["Space"], isLocal: true, isKeyOnly: true, do: () => undefined },
  { name: "proposals.parts", title: "On a proposal: from part to part", keys: ["ArrowUp", "ArrowDown"], isLocal: true, isKeyOnly: true, do: () => undefined },
]

export const panel: PanelSpec = {
  name: "proposals",
  title: "Proposals",
  icon: <Icon name="pencil" />,
  key: "Alt-Q",
  actions,
  slots: [
    slot("above", ({ CellLines }, context, cell) => <CellLines context={context} cell={cell} />),
    slot("source", ({ CellDifferences }, context, cell) => <CellDifferences context={context} cell={cell} />),
    slot("after", ({ NewCells }, context, cell) => <NewCells context={context} after={cell.id} />),
  ],
  render: (context) => <Drawn draw={({ ProposalsPanel }) => <ProposalsPanel context={context} />} />,
  notice: (context) => <IfAny context={context} draw={({ NewCells }) => <NewCells context={context} after={null} />} />,
  always: (context) => <IfAny context={context} draw={({ Watch }) => <Watch context={context} />} />,
  badge: useOpenCount,
}

function useOpenCount({ live }: PageContext): number {
  return openProposals({ proposals: useField(live, "proposals") }).length
}

/** Nothing is loaded for a notebook in which nobody proposed anything. */
function IfAny({ context, draw }: { readonly context: PageContext; readonly draw: (screen: Screen) => ReactNode }) {
  return useField(context.live, "proposals").size > 0 ? <Drawn draw={draw} /> : null
}
