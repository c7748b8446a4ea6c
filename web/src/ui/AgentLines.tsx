/** What to paste so that a coding agent comes in: the command or settings of the one that is chosen. */

import { useId } from "react"

import css from "./AgentLines.module.css"
import { CopyBox } from "./CopyBox.tsx"
import { SelectField } from "./Field.tsx"

/** One coding agent, and what goes where. */
export interface AgentLine {
  readonly name: string
  readonly title: string
  readonly file: string
  readonly text: string
  readonly command: string | null
  readonly note: string
}

export interface AgentLinesProps {
  readonly agents: readonly AgentLine[]
  /** The name of the one that is shown. */
  readonly chosen: string
  readonly onChoose: (name: string) => void
  /** The address of the tools, and the secret: for an agent that is not in the list. */
  readonly address: string
  readonly secret: string
}

export const OTHER_AGENT = "other"

/** The coding agent that a token's name sounds like: `codex-2` is Codex, `claude` Claude Code. Else the first. */
export function guessAgent(agents: readonly AgentLine[], name: string): string {
  const word = name.trim().toLowerCase().split(/[^a-z]/)[0] ?? ""
  const guessed = agents.find((agent) => word !== "" && agent.name.startsWith(word)) ?? agents[0]
  return guessed?.name ?? OTHER_AGENT
}

export function AgentLines({ agents, chosen, onChoose, address, secret }: AgentLinesProps) {
  const id = useId()
  const agent = agents.find(({ name }) => name === chosen)
  const choices = [...agents.map(({ name, title }) => ({ value: name, label: title })), { value: OTHER_AGENT, label: "Another one that speaks MCP" }]
  return (
    <div className={css["lines"]} aria-live="polite" id={id}>
      <SelectField label="Your coding agent" choices={choices} value={agent?.name ?? OTHER_AGENT} onChange={(event) => onChoose(event.target.value)} />
      {agent ? <Known agent={agent} /> : <Other address={address} secret={secret} />}
    </div>
  )
}

function Known({ agent: { title, file, text, command, note } }: { readonly agent: AgentLine }) {
  const settings = <CopyBox text={text.trimEnd()} label={`the settings for ${title}`} />
  return (
    <>
      {command === null ? (
        <>
          <p>
            Put this into <code>{file}</code>, beside what is there, and start {title} again:
          </p>
          {settings}
        </>
      ) : (
        <>
          <p>Type this in a terminal, and start {title} again:</p>
          <CopyBox text={command} label={`the command for ${title}`} />
          <details>
            <summary>
              Or put it into <code>{file}</code> by hand
            </summary>
            {settings}
          </details>
        </>
      )}
      {note && (
        <p className={css["note"]}>{note.split("`").map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</p>
      )}
    </>
  )
}

function Other({ address, secret }: { readonly address: string; readonly secret: string }) {
  return (
    <>
      <p>Give it this address, as a server over streamable HTTP:</p>
      <CopyBox text={address} label="the address" />
      <p>and this header with each request:</p>
      <CopyBox text={`Authorization: Bearer ${secret}`} label="the header" />
    </>
  )
}
