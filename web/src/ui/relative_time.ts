/** How long ago something was, and how long it took, in few words. */

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "just now", "2 min ago", "5 h ago", "yesterday", "3 days ago", then the date. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.max(0, (now - at) / 1000)
  if (seconds < 45) return "just now"
  if (seconds < HOUR - 30) return `${Math.max(1, Math.round(seconds / MINUTE))} min ago`
  if (seconds < 20 * HOUR) return `${Math.max(1, Math.round(seconds / HOUR))} h ago`
  const days = Math.max(1, Math.round(seconds / DAY))
  if (days === 1) return "yesterday"
  if (days < 14) return `${days} days ago`
  return shortDate(at, now)
}

/** "12 Mar", and with the year if that is another. */
function shortDate(at: number, now: number): string {
  const date = new Date(at)
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })
}

/** The whole date and time, for tips. */
export function wholeTime(at: number): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "full", timeStyle: "medium" })
}

/** "40 ms", "1.3 s", "12 s", "2 min 5 s", "3 h 20 min". */
export function duration(seconds: number): string {
  if (seconds < 0.0995) return `${Math.max(1, Math.round(seconds * 1000))} ms`
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  if (seconds < MINUTE - 0.5) return `${Math.round(seconds)} s`
  if (seconds < HOUR - 0.5) return pair(Math.round(seconds), MINUTE, "min", "s")
  return pair(Math.round(seconds / MINUTE), 60, "h", "min")
}

function pair(count: number, size: number, large: string, small: string): string {
  const rest = count % size
  return rest ? `${Math.floor(count / size)} ${large} ${rest} ${small}` : `${count / size} ${large}`
}
