/** Light, dark, or as the system has it. */

import { useValue } from "../hooks/values.ts"
import type { Preferences, Theme } from "../sync/preferences.ts"
import { Icon } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import css from "./Settings.module.css"

const CHOICES: readonly { readonly theme: Theme; readonly label: string; readonly icon: IconName }[] = [
  { theme: "system", label: "As the system", icon: "screen" },
  { theme: "light", label: "Light", icon: "sun" },
  { theme: "dark", label: "Dark", icon: "moon" },
]

export function Appearance({ preferences }: { readonly preferences: Preferences }) {
  const chosen = useValue(preferences.theme)
  return (
    <section aria-labelledby="appearance">
      <h2 id="appearance">Appearance</h2>
      <div className={css["choices"]} role="radiogroup" aria-labelledby="appearance">
        {CHOICES.map(({ theme, label, icon }) => (
          <label key={theme}>
            <input type="radio" name="theme" value={theme} checked={theme === chosen} onChange={() => preferences.setTheme(theme)} />
            <Icon name={icon} />
            {label}
          </label>
        ))}
      </div>
      <p className={css["soft"]}>Kept in this browser.</p>
    </section>
  )
}
