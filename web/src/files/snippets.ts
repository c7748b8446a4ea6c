/** Where a data file goes, and how a cell reads it. Pure. */

/** The path of a file beside the notebook: in the folder of the file that it is bound to. */
export function pathBeside(bound: string | null, name: string): string {
  const clean = name.split(/[\\/]/).at(-1) ?? name
  const slash = bound?.lastIndexOf("/") ?? -1
  return bound !== null && slash >= 0 ? `${bound.slice(0, slash + 1)}${clean}` : clean
}

/** A name that is not taken yet: `sales 2.csv` after `sales.csv`. */
export function nextName(path: string, number: number): string {
  const slash = path.lastIndexOf("/")
  const dot = path.lastIndexOf(".")
  const end = dot > slash + 1 ? dot : path.length
  return `${path.slice(0, end)} ${number}${path.slice(end)}`
}

const PANDAS: Readonly<Record<string, string>> = {
  csv: "read_csv",
  tsv: "read_table",
  xlsx: "read_excel",
  xls: "read_excel",
  parquet: "read_parquet",
  feather: "read_feather",
}

/** Python that reads the file, by the ending of its name. */
export function readingCode(path: string): string {
  const name = path.split("/").at(-1) ?? path
  const literal = JSON.stringify(name)
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ""
  const reader = PANDAS[ending]
  if (reader !== undefined) return `import pandas as pd\n\n${variable(name)} = pd.${reader}(${literal})\n${variable(name)}.head()`
  if (ending === "json") return `import json\nfrom pathlib import Path\n\n${variable(name)} = json.loads(Path(${literal}).read_text())`
  const isText = ["txt", "md", "log", "yaml", "yml", "toml", "xml", "html", "sql"].includes(ending)
  return `from pathlib import Path\n\n${variable(name)} = Path(${literal}).read_${isText ? "text" : "bytes"}()`
}

/** A name for a variable: `sales_2026` for `sales-2026.csv`. */
function variable(name: string): string {
  const stem = name.replace(/\.[^.]*$/, "")
  const clean = stem.normalize("NFKD").replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|_+$/g, "").toLowerCase()
  return /^[a-z_]/.test(clean) ? clean : clean ? `data_${clean}` : "data"
}
