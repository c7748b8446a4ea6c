/** Settings: me and my browsers, agents and tokens, hosts of outputs, appearance, keys. */

import { useValue } from "../hooks/values.ts"
import type { OpenParts } from "../sync/open.ts"
import type { Preferences } from "../sync/preferences.ts"
import { Header } from "../ui/Header.tsx"
import { useTitle } from "../ui/title.ts"
import { Appearance } from "./Appearance.tsx"
import { BrowsersSection } from "./BrowsersSection.tsx"
import { HostsSection } from "./HostsSection.tsx"
import { KeysTable } from "./KeysTable.tsx"
import { MeSection } from "./MeSection.tsx"
import css from "./Settings.module.css"
import { TokensSection } from "./TokensSection.tsx"
import { useTokens } from "./use_tokens.ts"

export interface SettingsPageProps {
  readonly parts: OpenParts
  readonly preferences: Preferences
  /** Forgets this browser's key and shows how to sign in again. */
  readonly onSignedOut: () => void
}

export default function SettingsPage({ parts, preferences, onSignedOut }: SettingsPageProps) {
  useTitle("Settings")
  const me = useValue(parts.socket.welcome)?.me ?? null
  const tokens = useTokens(parts)
  return (
    <>
      <Header>Settings</Header>
      <main id="main" className={css["main"]} tabIndex={-1}>
        <h1>Settings</h1>
        <nav className={css["nav"]} aria-label="Settings">
          <a href="#you">You</a>
          <a href="#browsers">My browsers</a>
          <a href="#agents">Agents and tokens</a>
          <a href="#hosts">Hosts of outputs</a>
          <a href="#appearance">Appearance</a>
          <a href="#keys">Keys</a>
        </nav>
        <MeSection me={me} tokens={tokens} />
        <BrowsersSection parts={parts} onSignedOut={onSignedOut} />
        <TokensSection parts={parts} me={me} tokens={tokens} />
        <HostsSection parts={parts} />
        <Appearance preferences={preferences} />
        <KeysTable />
      </main>
    </>
  )
}
