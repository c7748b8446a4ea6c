/**
 * What a traceback says of the code that a person wrote: the line of the cell, and which frames are a library's.
 *
 * Python's kernel gives one text per frame, in colours. Of other kernels' tracebacks nothing is known but that they are
 * text. The same as formats/traceback.py.
 */

import type { Execution, Fault, Raised } from "../core/types.gen.ts"
import { withoutAnsi } from "./ansi.ts"

export interface TraceFrame {
  /** As the kernel wrote it, in colours. */
  readonly text: string
  /** The line of a cell, of a cell's frame. */
  readonly line: number | null
  /** The number that the kernel gave the execution. */
  readonly count: number | null
  readonly isLibrary: boolean
}

export interface Trace {
  /** Frames in their order; what is before, between and after them is `rest`. */
  readonly frames: readonly TraceFrame[]
  readonly rest: readonly string[]
  /** The line of the cell that failed: that of the first frame that is a cell's. */
  readonly line: number | null
}

const CELL = /^\s*(?:Cell In\s?\[(\d+)\]|Input In \[(\d+)\]), line (\d+)/
const FILE = /^\s*File ([^\n]+?):(\d+)/
const OLD_FILE = /^\s*File "([^\n"]+)", line (\d+)/
const LIBRARY = /(?:^|\/)(?:site-packages|dist-packages|lib\/python3[^/]*)\/|^<frozen |\.pyx$/
const HEAD = /^[ \t]*(?:Cell In\s?\[\d+\]|Input In \[\d+\]|File [^\n]+?[:,] ?(?:line )?\d+)/

/** Read a kernel's traceback. */
export function readTrace(traceback: readonly string[]): Trace {
  const entries = traceback.flatMap(splitFrames).filter((text) => withoutAnsi(text).trim())
  const frames: TraceFrame[] = []
  const rest: string[] = []
  for (const text of entries) {
    const frame = readFrame(text)
    if (frame) frames.push(frame)
    else rest.push(text)
  }
  return { frames, rest, line: frames.find((frame) => frame.line !== null)?.line ?? null }
}

/** A long traceback was joined to one text, and cut in its middle. */
function splitFrames(entry: string): string[] {
  const parts: string[][] = [[]]
  for (const line of entry.replaceAll("\r\n", "\n").split("\n")) {
    if (HEAD.test(withoutAnsi(line)) && parts.at(-1)?.some((before) => before.trim())) parts.push([])
    parts.at(-1)?.push(line)
  }
  return parts.map((lines) => lines.join("\n").replace(/^\n+|\n+$/g, ""))
}

function readFrame(text: string): TraceFrame | null {
  const plain = withoutAnsi(text)
  const cell = CELL.exec(plain)
  if (cell) return { text, line: Number(cell[3]), count: Number(cell[1] ?? cell[2]), isLibrary: false }
  const path = (OLD_FILE.exec(plain) ?? FILE.exec(plain))?.[1]
  return path === undefined ? null : { text, line: null, count: null, isLibrary: LIBRARY.test(path) }
}

/** The error that an execution ended with, where it did: among the outputs, else as it was told. */
export function faultOf(execution: Execution): Raised | Fault | null {
  const raised = execution.outputs.findLast((output) => output.kind === "error")
  return raised ?? execution.fault
}

/** The line of the cell that failed, from 1; null where none did, or no traceback says it. */
export function errorLine(execution: Execution): number | null {
  const fault = faultOf(execution)
  return fault ? readTrace(fault.traceback ?? []).line : null
}

/** `ename: evalue`, as the first thing that is said of an error. */
export function faultMessage({ ename = "", evalue = "" }: Raised | Fault): string {
  const value = withoutAnsi(evalue)
  return ename && value ? `${ename}: ${value}` : ename || value || "An error without a name"
}

/** All of it as plain text, to be copied. */
export function faultText(fault: Raised | Fault): string {
  const lines = (fault.traceback ?? []).map(withoutAnsi)
  return lines.length ? lines.join("\n") : faultMessage(fault)
}
