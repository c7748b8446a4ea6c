/** Which event an address asks for. Pure. */

export type AskedMoment = { readonly kind: "moment"; readonly seq: number } | { readonly kind: "wrong"; readonly text: string }

/** Read `?at=` of a log that has events 1 to `head`. */
export function askedMoment(text: string, head: number): AskedMoment {
  const there = head === 1 ? "event 1 alone" : `events 1 to ${counted(head)}`
  if (!/^[0-9]{1,15}$/.test(text)) return { kind: "wrong", text: `“${text.slice(0, 40)}” is not the number of an event. This log has ${there}.` }
  const seq = Number(text)
  if (seq < 1 || seq > head) return { kind: "wrong", text: `There is no event ${counted(seq)}. This log has ${there}.` }
  return { kind: "moment", seq }
}

/** "1,234". */
export function counted(count: number): string {
  return count.toLocaleString("en-GB")
}

/** "14 Nov, 15:02", with the year if that is another. */
export function momentTime(at: string, now: number = Date.now()): string {
  const date = new Date(at)
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return date.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    ...(isThisYear ? {} : { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
  })
}
