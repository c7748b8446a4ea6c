/** The runtime of a notebook: how its kernel is, what it runs on, and starting and stopping it. */

import { useState } from "react"

import { useIsConnected } from "../hooks/connection.ts"
import { useField, useValue } from "../hooks/values.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Facts, PanelBody, PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import type { Fact } from "../ui/Panel.tsx"
import { Time } from "../ui/Time.tsx"
import { KernelChooser } from "./KernelChooser.tsx"
import { runningIn, runtimeStates, STATE_WORDS } from "./kernel_state.ts"
import type { RuntimeState } from "./kernel_state.ts"
import css from "./Runtime.module.css"
import { bytesText } from "./variables.ts"
import { Variables } from "./Variables.tsx"

export function RuntimePanel({ context }: { readonly context: PageContext }) {
  const { live, lanes } = context
  useField(live, "executions")
  useField(live, "cells")
  const runtimes = useField(live, "runtimes")
  const health = useValue(lanes.health)
  const isConnected = useIsConnected(context)
  const states = runtimeStates(live.store.get(), health, isConnected)
  const python = states.find(({ runtime, state }) => (runtime.language ?? "python") === "python" && state !== "dead")
  return (
    <PanelBody>
      {states.map((state) => (
        <OneRuntime key={state.runtime.id} context={context} state={state} />
      ))}
      {runtimes.size === 0 && (
        <PanelSection title={isConnected ? "No runtime" : "Not connected"}>
          <PanelNote>{isConnected ? "" : "The server does not answer. "}The first cell that is run starts one. What cells define is kept until it stops.</PanelNote>
        </PanelSection>
      )}
      <KernelChooser context={context} isRunning={runtimes.size > 0} />
      {python && (
        <Variables
          key={`${python.runtime.id} ${python.runtime.kernel ?? ""}`}
          context={context}
          runtime={python.runtime.id}
          kernel={python.runtime.kernel}
        />
      )}
    </PanelBody>
  )
}

type Risk = "restart" | "stop"

function OneRuntime({ context, state }: { readonly context: PageContext; readonly state: RuntimeState }) {
  const { live, parts, log, mayRun } = context
  const { runtime } = state
  const [risk, setRisk] = useState<Risk | null>(null)
  const running = runningIn(live.store.get(), runtime.id)
  const mayStop = mayRun && state.state !== "unknown"
  const interrupt = (): void => {
    live.act(running.map((execution) => ({ type: "interrupt_requested", execution })))
  }
  const confirm = (): void => {
    setRisk(null)
    if (risk === "restart") live.act([{ type: "restart_requested", runtime: runtime.id }])
    else void parts.api.stopRuntime(log).catch((error: unknown) => context.notify({ text: messageOf(error) }))
  }
  return (
    <PanelSection title={state.language ?? (runtime.name || "Runtime")}>
      <p className={css["state"]} data-state={state.state} role="status">
        <span className={css["dot"]} aria-hidden="true" />
        {STATE_WORDS[state.state]}
        {state.since && (
          <span className={css["since"]}>
            since <Time at={state.since} />
          </span>
        )}
      </p>
      <Facts facts={factsOf(state)} />
      <PanelButtons>
        <Button icon={<Icon name="stop" />} disabled={!mayStop || running.length === 0} onClick={interrupt}>
          Interrupt
        </Button>
        <Button icon={<Icon name="restart" />} disabled={!mayStop} onClick={() => setRisk("restart")}>
          Restart
        </Button>
        <Button icon={<Icon name="cross" />} disabled={!mayStop} onClick={() => setRisk("stop")}>
          Stop
        </Button>
      </PanelButtons>
      <Dialog
        title={risk === "stop" ? "Stop the runtime?" : "Restart the kernel?"}
        isOpen={risk !== null}
        onClose={() => setRisk(null)}
        onSubmit={confirm}
        footer={
          <>
            <Button onClick={() => setRisk(null)}>Cancel</Button>
            <Button kind="danger" type="submit">
              {risk === "stop" ? "Stop" : "Restart"}
            </Button>
          </>
        }
      >
        <p>What runs is cancelled, and what cells defined is gone. Outputs stay.</p>
      </Dialog>
    </PanelSection>
  )
}

function factsOf(state: RuntimeState): Fact[] {
  const { memoryBytes, memoryLimitBytes, cpuPercent, runtime } = state
  const limit = memoryLimitBytes === null ? "" : ` of ${bytesText(memoryLimitBytes)}`
  const facts: readonly (Fact | null)[] = [
    memoryBytes === null ? null : { name: "Memory", value: bytesText(memoryBytes) + limit },
    cpuPercent === null ? null : { name: "CPU", value: `${Math.round(cpuPercent)} % of one core` },
    state.interpreter === null ? null : { name: "Interpreter", value: <code>{state.interpreter}</code> },
    state.kernelName === null ? null : { name: "Kernel", value: state.kernelName },
    state.pid === null ? null : { name: "Process", value: state.pid },
    runtime.restarts === 0 ? null : { name: "Restarted", value: runtime.restarts === 1 ? "once" : `${runtime.restarts} times` },
  ]
  return facts.filter((fact) => fact !== null)
}

function messageOf(error: unknown): string {
  return error instanceof Fault ? error.message : String(error)
}
