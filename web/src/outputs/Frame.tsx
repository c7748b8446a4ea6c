/** An output in a frame, and under it what the frame wanted and did not get. */

import { Fragment, useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react"
import { Notice } from "./Actions.tsx"
import type { OutputContext } from "./context.ts"
import { hasFrame, lastHeight, takeFrame } from "./frames.ts"
import type { FrameState, OutputFrame } from "./frames.ts"
import { hostOf } from "./protocol.ts"
import type { Content } from "./protocol.ts"
import { useNear } from "./use_near.ts"
import css from "./Frame.module.css"

interface Props {
  /** Names the frame for as long as its output is the same: it is kept under this name when its cell moves. */
  readonly name: string
  /** What the content was made of: a frame of something else is made anew. */
  readonly source: unknown
  readonly content: () => Content | Promise<Content>
  readonly title: string
  readonly context: OutputContext
  /** How high it will be, roughly, until it has said so. */
  readonly guess: number
}

export function Frame({ name, source, content, title, context, guess }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const isNear = useNear(place, hasFrame(name))
  const hosts = useSyncExternalStore(context.hosts.subscribe, context.hosts.get)
  const [frame, setFrame] = useState<OutputFrame | null>(null)
  const state = useFrameState(frame)
  const isWanted = isNear || (state !== null && !state.isEnded)
  const [problem, setProblem] = useState("")
  const make = useRef(content)
  useLayoutEffect(() => {
    make.current = content
  })
  useLayoutEffect(() => {
    const element = place.current
    if (!isWanted || !element) return
    const taken = takeFrame(name, source, context.hosts, title)
    taken.attach(element)
    setFrame(taken)
    if (!taken.isFilled) {
      Promise.resolve(make.current()).then(
        (made) => taken.show(made),
        (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
      )
    }
    return () => taken.detach(element)
    // Of other hosts, it is another frame.
  }, [isWanted, name, source, context.hosts, hosts, title])
  const height = state?.height || (lastHeight(name) ?? guess)
  return (
    <div className={css["output"]} data-output="frame">
      <div ref={place} className={css["place"]} tabIndex={-1} style={{ minHeight: state?.isGone ? 0 : height }} />
      {state?.isHinted && <span className={css["hint"]}>Click into it to scroll or zoom there; Esc leaves.</span>}
      {state && <FrameNotes state={state} context={context} />}
      {hosts.length > 0 && <AllowedHostsLine hosts={hosts} context={context} />}
      {problem && <Notice text={problem} isError />}
    </div>
  )
}

const nothing = (): (() => void) => () => undefined
const none = (): null => null

function useFrameState(frame: OutputFrame | null): FrameState | null {
  return useSyncExternalStore<FrameState | null>(frame?.subscribe ?? nothing, frame?.get ?? none)
}

// ---- What is said under it

function FrameNotes({ state, context }: { readonly state: FrameState; readonly context: OutputContext }) {
  const wanted = [...new Set(state.wanted.map(hostOf).filter((host) => host !== null))]
  return (
    <>
      {state.isGone && <Notice text="This output tried to leave its page, and was stopped. Run the cell again to see it." isError />}
      {state.failures.map((failure) => (
        <Notice key={failure} text={failure} isError />
      ))}
      {wanted.map((host) => (
        <WantedHost key={host} host={host} context={context} />
      ))}
      {state.link !== null && <ClickedLink address={state.link} />}
    </>
  )
}

function WantedHost({ host, context }: { readonly host: string; readonly context: OutputContext }) {
  const allow = useCallback(() => context.hosts.allow(host), [context, host])
  const canBe = /^[a-z0-9.-]+\.[a-z]{2,63}$/.test(host)
  return (
    <Notice text={`wanted ${host}`}>
      {" · "}
      {canBe ? (
        <button type="button" className={css["action"]} onClick={allow}>
          Allow for me in this notebook
        </button>
      ) : (
        "outputs never reach this machine or its network"
      )}
    </Notice>
  )
}

/** What this person allowed before: it holds for every output of the notebook, and is withdrawn at any of them. */
function AllowedHostsLine({ hosts, context }: { readonly hosts: readonly string[]; readonly context: OutputContext }) {
  return (
    <Notice text="may load from ">
      {hosts.map((host, index) => (
        <Fragment key={host}>
          {index > 0 && ", "}
          <span className={css["host"]}>
            {host}
            {" · "}
            <button type="button" className={css["action"]} aria-label={`Withdraw ${host}`} onClick={() => context.hosts.withdraw(host)}>
              Withdraw
            </button>
          </span>
        </Fragment>
      ))}
    </Notice>
  )
}

/** A frame opens no window. Where its link leads is shown in full, and opened by a click on the page. */
function ClickedLink({ address }: { readonly address: string }) {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return null
  return (
    <Notice text="Link: ">
      <a href={address} target="_blank" rel="noopener noreferrer">
        {address}
      </a>
    </Notice>
  )
}
