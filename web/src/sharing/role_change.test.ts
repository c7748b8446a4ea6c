import { expect, test } from "vitest"

import type { AccessLine, NotebookAccess } from "../sync/api_sharing.ts"
import { needsQuestion } from "./role_change.ts"

const line = (actor: string, part: Partial<AccessLine> = {}): AccessLine => ({
  actor,
  on_behalf_of: null,
  role: null,
  source: "none",
  state: "in",
  scopes: ["read"],
  asks: [],
  until: null,
  is_limited: false,
  ...part,
})

const ADA = line("human:ada", { role: "owner", source: "made" })
const GRACE = line("human:grace", { role: "viewer", source: "given" })
const BOB = line("human:bob", { role: "editor", source: "given" })

const access = (isOpen: boolean, ...lines: readonly AccessLine[]): NotebookAccess => ({
  notebook: "n1",
  is_open: isOpen,
  lines,
  manage_refusal: null,
  invite_refusal: null,
})

test("the first role asks, because it closes the notebook", () => {
  const stranger = line("human:grace")
  expect(needsQuestion({ line: stranger, role: "viewer" }, access(true, ADA, stranger), ADA.actor)).toContain("closes the notebook")
})

test("taking the last role away asks, because it opens the notebook", () => {
  expect(needsQuestion({ line: GRACE, role: null }, access(false, ADA, GRACE), ADA.actor)).toContain("open again")
  expect(needsQuestion({ line: GRACE, role: null }, access(false, ADA, GRACE, BOB), ADA.actor)).toBeNull()
})

test("giving up one's own ownership asks, and so does sharing it", () => {
  expect(needsQuestion({ line: ADA, role: "viewer" }, access(false, ADA, GRACE), ADA.actor)).toContain("may not share")
  expect(needsQuestion({ line: GRACE, role: "owner" }, access(false, ADA, GRACE), ADA.actor)).toContain("take your role away")
  expect(needsQuestion({ line: GRACE, role: "editor" }, access(false, ADA, GRACE), ADA.actor)).toBeNull()
})
