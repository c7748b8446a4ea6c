/**
 * The variables that cells defined: asked of a Python kernel by a piece of code that is on record, and read from what it
 * prints. Names, types and sizes only: values could be secrets, and the log keeps what is printed.
 */

import type { Cell, Json, JsonObject } from "../core/types.gen.ts"

export interface Variable {
  readonly name: string
  readonly type: string
  /** "1,000 × 3", "12 items"; empty where there is nothing to count. */
  readonly shape: string
  readonly bytes: number | null
  readonly kind: "data" | "function" | "class"
}

/** Runs in a namespace of its own, so that it defines nothing. */
export const CODE = `# Lists names, types and sizes of variables for the panel "Runtime". It changes nothing.
exec(
    '''
import json, sys, types

def size_of(value):
    try:
        if type(value).__module__.partition(".")[0] in ("pandas", "polars"):
            usage = getattr(value, "memory_usage", None) or getattr(value, "estimated_size")
            return int(getattr(usage(), "sum", lambda: usage())())
        return int(getattr(value, "nbytes", None) or sys.getsizeof(value))
    except Exception:
        return None

def shape_of(value):
    try:
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and all(isinstance(each, int) for each in shape):
            return list(shape)
        if isinstance(value, (str, bytes, bytearray, list, tuple, dict, set, frozenset)):
            return [len(value)]
    except Exception:
        pass
    return None

def kind_of(value):
    if isinstance(value, type):
        return "class"
    return "function" if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)) else "data"

IPYTHON = {"In", "Out", "exit", "quit", "get_ipython", "open"}
rows = []
for name, value in list(space.items()):
    if name.startswith("_") or name in IPYTHON or isinstance(value, types.ModuleType):
        continue
    rows.append([name[:100], type(value).__qualname__[:60], kind_of(value), shape_of(value), size_of(value)])
rows.sort()
print(json.dumps({"variables": rows[:500], "count": len(rows)}))
''',
    {"space": globals()},
)
`

export type VariablesRead =
  | { readonly kind: "waiting" }
  | { readonly kind: "read"; readonly variables: readonly Variable[]; readonly count: number; readonly at: string }
  | { readonly kind: "failed"; readonly why: string }

/** What became of the request, by the scratch cell that it is recorded under. */
export function readVariables(cell: Cell | undefined): VariablesRead {
  const execution = cell?.missed ?? cell?.execution
  if (!execution || cell?.queued || execution.state === "running") return { kind: "waiting" }
  if (execution.state !== "ok") {
    return { kind: "failed", why: execution.fault?.evalue || execution.why || `It ended as ${execution.state}.` }
  }
  const text = execution.outputs
    .flatMap((output) => (output.kind === "stream" && output.name === "stdout" ? [(output.head ?? "") + (output.tail ?? "")] : []))
    .join("")
  const listed = parse(text)
  if (!listed) return { kind: "failed", why: "The kernel answered with something else than a list of variables." }
  return { kind: "read", ...listed, at: execution.finished_at ?? execution.at }
}

function parse(text: string): { readonly variables: readonly Variable[]; readonly count: number } | null {
  try {
    // Other threads of the kernel may print as well: the last line that is an object counts.
    const line = text.trimEnd().split("\n").findLast((each) => each.startsWith("{"))
    const { variables, count } = JSON.parse(line ?? "") as JsonObject
    if (!Array.isArray(variables)) return null
    return { variables: (variables as readonly Json[]).flatMap(readRow), count: Number(count) }
  } catch {
    return null
  }
}

function readRow(row: Json): Variable[] {
  if (!Array.isArray(row)) return []
  const [name, type, kind, shape, bytes] = row as readonly Json[]
  if (typeof name !== "string" || typeof type !== "string") return []
  return [
    {
      name,
      type,
      kind: kind === "function" || kind === "class" ? kind : "data",
      shape: Array.isArray(shape) ? shapeText(shape as readonly number[], type) : "",
      bytes: typeof bytes === "number" ? bytes : null,
    },
  ]
}

function shapeText(shape: readonly number[], type: string): string {
  const numbers = shape.map((each) => each.toLocaleString("en")).join(" × ")
  if (shape.length !== 1 || type === "ndarray" || type === "Series") return numbers
  if (type === "str") return shape[0] === 1 ? "1 character" : `${numbers} characters`
  return shape[0] === 1 ? "1 item" : `${numbers} items`
}

export function bytesText(bytes: number | null): string {
  if (bytes === null) return ""
  const units = ["B", "kB", "MB", "GB", "TB"]
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const number = bytes / 1000 ** power
  return `${power && number < 10 ? number.toFixed(1) : Math.round(number)} ${units[power] ?? ""}`
}
