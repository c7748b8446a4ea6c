/**
 * Show where others are: a caret and a selection in their colour, and their name for two seconds after they moved, or
 * while the mouse is over the caret.
 *
 * Where a peer is arrives before the text that was typed there: for a moment, what was said holds also when others' text
 * comes in. After that it is moved along with the text, until something else is said.
 */

import { StateEffect, StateField, Transaction } from "@codemirror/state"
import type { EditorState, Extension, Range } from "@codemirror/state"
import { Decoration, EditorView, showTooltip, ViewPlugin, WidgetType } from "@codemirror/view"
import type { DecorationSet, Tooltip } from "@codemirror/view"
import { hasPairs, unitAt } from "../core/points.ts"
import { Remote } from "./changes.ts"
import type { CurrentProps, PeerSelection } from "./props.ts"

const NAME_MILLISECONDS = 2000
/** For how long text may come in that was typed before the peer was where it is said to be. */
const AHEAD_MILLISECONDS = 1500

interface ShownPeer {
  readonly said: PeerSelection
  /** In units of the text as it is now. */
  readonly from: number
  readonly to: number
  /** When it was said, and by how much was typed here before it since. */
  readonly at: number
  readonly shift: number
  readonly isNamed: boolean
}

const setPeers = StateEffect.define<readonly PeerSelection[]>()
const namePeer = StateEffect.define<{ readonly window: string; readonly isNamed: boolean }>()

const shownPeers = StateField.define<readonly ShownPeer[]>({
  create: () => [],
  update: updatePeers,
  provide: (field) => [
    EditorView.decorations.from(field, decorate),
    showTooltip.computeN([field], (state) => state.field(field).map(nameTooltip)),
  ],
})

function updatePeers(peers: readonly ShownPeer[], transaction: Transaction): readonly ShownPeer[] {
  if (transaction.docChanged && peers.length) peers = peers.map((peer) => moved(peer, transaction))
  for (const effect of transaction.effects) {
    if (effect.is(setPeers)) peers = effect.value.map((said) => takePeer(said, peers, transaction))
    else if (effect.is(namePeer)) {
      const { window, isNamed } = effect.value
      peers = peers.map((peer) => (peer.said.window === window ? { ...peer, isNamed } : peer))
    }
  }
  return peers
}

function moved(peer: ShownPeer, transaction: Transaction): ShownPeer {
  const { changes, state } = transaction
  const isTheirs = transaction.annotation(Remote) !== undefined
  if (isTheirs && timeOf(transaction) - peer.at < AHEAD_MILLISECONDS) return { ...peer, ...unitsOf(peer.said, peer.shift, state) }
  // At its very place, what is typed comes behind the caret; a selection does not grow.
  const from = changes.mapPos(peer.from, peer.from === peer.to ? -1 : 1)
  const shift = isTheirs ? peer.shift : peer.shift + from - peer.from
  return { ...peer, from, to: Math.max(from, changes.mapPos(peer.to, -1)), shift }
}

function timeOf(transaction: Transaction): number {
  return transaction.annotation(Transaction.time) ?? 0
}

function unitsOf(said: PeerSelection, shift: number, { doc }: EditorState): { from: number; to: number } {
  const text = doc.toString()
  const clamped = (point: number): number => Math.min(Math.max(point + shift, 0), text.length)
  const at = (point: number): number => (hasPairs(text) ? unitAt(text, point + shift) : clamped(point))
  return { from: at(Math.min(said.from, said.to)), to: at(Math.max(said.from, said.to)) }
}

function takePeer(said: PeerSelection, before: readonly ShownPeer[], transaction: Transaction): ShownPeer {
  const known = before.find((peer) => peer.said.window === said.window)
  if (known?.said.from === said.from && known.said.to === said.to) return { ...known, said }
  return { said, ...unitsOf(said, 0, transaction.state), at: timeOf(transaction), shift: 0, isNamed: true }
}

function decorate(peers: readonly ShownPeer[]): DecorationSet {
  const ranges: Range<Decoration>[] = []
  for (const { said, from, to } of peers) {
    const attributes = { class: `cm-peerSelection cm-peer-${said.colour}`, title: said.name }
    if (from < to) ranges.push(Decoration.mark({ attributes }).range(from, to))
    // The order in which it was selected is not said: the caret is drawn at the end.
    ranges.push(Decoration.widget({ widget: new PeerCaret(said), side: 1 }).range(to))
  }
  return Decoration.set(ranges, true)
}

class PeerCaret extends WidgetType {
  readonly #peer: PeerSelection

  constructor(peer: PeerSelection) {
    super()
    this.#peer = peer
  }

  override eq(other: PeerCaret): boolean {
    const { window, name, colour } = other.#peer
    return this.#peer.window === window && this.#peer.name === name && this.#peer.colour === colour
  }

  override toDOM(view: EditorView): HTMLElement {
    const { window, name, colour } = this.#peer
    const caret = document.createElement("span")
    caret.className = `cm-peerCaret cm-peer-${colour}`
    caret.dataset["name"] = name
    caret.setAttribute("aria-hidden", "true")
    const say = (isNamed: boolean) => () => view.dispatch({ effects: namePeer.of({ window, isNamed }) })
    caret.addEventListener("mouseenter", say(true))
    caret.addEventListener("mouseleave", say(false))
    return caret
  }

  override ignoreEvent(): boolean {
    return false
  }
}

function nameTooltip({ said, to, isNamed }: ShownPeer): Tooltip | null {
  if (!isNamed) return null
  return { pos: to, above: true, strictSide: false, create: () => ({ dom: nameElement(said), overlap: true }) }
}

function nameElement({ name, colour }: PeerSelection): HTMLElement {
  const element = document.createElement("div")
  element.className = `cm-peerName cm-peer-${colour}`
  element.textContent = name
  element.setAttribute("aria-hidden", "true")
  return element
}

/** Follow the peers of the props: their names are hidden again after a while. */
export function peers(props: CurrentProps): Extension {
  const follower = ViewPlugin.define((view) => {
    const timers = new Map<string, ReturnType<typeof setTimeout>>()
    const source = props().peers
    const take = (isFirst = false): void => {
      const said = source.get()
      const before = isFirst ? [] : view.state.field(shownPeers)
      for (const peer of said.filter((each) => isElsewhere(each, before))) {
        clearTimeout(timers.get(peer.window))
        const hide = { effects: namePeer.of({ window: peer.window, isNamed: false }) }
        timers.set(peer.window, setTimeout(() => view.dispatch(hide), NAME_MILLISECONDS))
      }
      view.dispatch({ effects: isFirst ? [setPeers.of([]), setPeers.of(said)] : setPeers.of(said) })
    }
    const stop = source.subscribe(() => take())
    // A plugin is made in the middle of an update, in which nothing can be dispatched.
    queueMicrotask(() => take(true))
    return {
      destroy: () => {
        stop()
        for (const timer of timers.values()) clearTimeout(timer)
      },
    }
  })
  return [shownPeers, follower]
}

function isElsewhere(peer: PeerSelection, before: readonly ShownPeer[]): boolean {
  const known = before.find(({ said }) => said.window === peer.window)?.said
  return known?.from !== peer.from || known.to !== peer.to
}
