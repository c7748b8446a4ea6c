/** The title of the tab. */

import { useEffect } from "react"

/** Show `title` while this is on screen; a number in front of it says how much waits for the person. */
export function useTitle(title: string, waiting = 0): void {
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ""}${title ? `${title} · ` : ""}Quire`
  }, [title, waiting])
}
