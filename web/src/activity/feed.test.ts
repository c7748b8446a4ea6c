import { expect, test } from "vitest"
import { FakeClock } from "../../testing/fake_clock.ts"
import type { ActivityLine, ActivityPage, ActivityQuery } from "../sync/api_activity.ts"
import { ActivityFeed, FOLLOW_MILLISECONDS, joinLines } from "./feed.ts"

const at = "2026-01-01T00:00:00.000000Z"
const line = (first: number, last = first): ActivityLine => ({ actor: "human:ada", first, last, began_at: at, at, acts: [] })
const firsts = (lines: readonly ActivityLine[]): number[] => lines.map(({ first }) => first)

/** A server with a line for each number, which gives three at a time. */
class Server {
  head = 10
  readonly asked: ActivityQuery[] = []

  read = (query: ActivityQuery): Promise<ActivityPage> => {
    this.asked.push(query)
    const end = (query.before ?? this.head + 1) - 1
    const numbers = [end, end - 1, end - 2].filter((number) => number > 0)
    const last = numbers.at(-1) ?? 1
    return Promise.resolve({ lines: numbers.map((number) => line(number)), before: last > 1 ? last : null })
  }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

async function opened() {
  const server = new Server()
  const clock = new FakeClock()
  const feed = new ActivityFeed({}, { clock, head: () => server.head, read: server.read })
  feed.start()
  await settled()
  return { server, clock, feed }
}

test("pages are loaded backwards until the beginning of the log", async () => {
  const { feed } = await opened()
  expect(firsts(feed.loaded.get().lines)).toEqual([10, 9, 8])
  await feed.older()
  expect(firsts(feed.loaded.get().lines)).toEqual([10, 9, 8, 7, 6, 5])
  await feed.older()
  await feed.older()
  expect(firsts(feed.loaded.get().lines)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  expect(feed.loaded.get().before).toBeNull()
})

test("what is new comes above what was loaded, once for many changes", async () => {
  const { feed, server, clock } = await opened()
  await feed.older()
  server.head = 12
  for (let times = 0; times < 5; times += 1) feed.grew()
  clock.advance(FOLLOW_MILLISECONDS)
  await settled()
  expect(firsts(feed.loaded.get().lines)).toEqual([12, 11, 10, 9, 8, 7, 6, 5])
  expect(server.asked).toHaveLength(3)
})

test("where more is new than a page has, what is in between is not left out", async () => {
  const { feed, server, clock } = await opened()
  server.head = 40
  feed.grew()
  clock.advance(FOLLOW_MILLISECONDS)
  await settled()
  expect(firsts(feed.loaded.get().lines)).toEqual([40, 39, 38])
  await feed.older()
  expect(firsts(feed.loaded.get().lines)).toEqual([40, 39, 38, 37, 36, 35])
})

test("a line that grew takes the place of what it was", () => {
  const known = { lines: [line(8, 9), line(3, 7)], before: 3 }
  expect(joinLines({ lines: [line(8, 11)], before: 8 }, known, 9).lines).toEqual([line(8, 11), line(3, 7)])
})

test("a page without a line is asked on from where it ends", async () => {
  const pages: ActivityPage[] = [
    { lines: [], before: 500 },
    { lines: [], before: 200 },
    { lines: [line(7)], before: null },
  ]
  const asked: (number | undefined)[] = []
  const read = ({ before }: ActivityQuery): Promise<ActivityPage> => {
    asked.push(before)
    return Promise.resolve(pages[asked.length - 1] ?? { lines: [], before: null })
  }
  const feed = new ActivityFeed({ who: "human:bob" }, { clock: new FakeClock(), head: () => 900, read })
  feed.start()
  await settled()
  expect(asked).toEqual([undefined, 500, 200])
  expect(firsts(feed.loaded.get().lines)).toEqual([7])
})

test("a server that does not answer is said to be away, and what is loaded stays", async () => {
  const { feed, server } = await opened()
  server.read = () => Promise.reject(new Error("away"))
  const broken = new ActivityFeed({}, { clock: new FakeClock(), head: () => 1, read: server.read })
  broken.start()
  await settled()
  expect(broken.loaded.get().fault).toBe("away")
  expect(feed.loaded.get().fault).toBeNull()
})
