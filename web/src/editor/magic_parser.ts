/** Parses a cell that begins with lines of magics: `%%time`, `%%bash`. */

import { NodeSet, NodeType, Parser, Tree } from "@lezer/common"
import type { Input, PartialParse } from "@lezer/common"
import { styleTags, tags } from "@lezer/highlight"

/** The lines of magics that a source begins with. One may be in the cell of another: `%%time` above `%%bash`. */
export function magicLines(source: string): string[] {
  return /^(?:%%[^\n]*\n?)*/.exec(source)?.[0].split("\n").filter(Boolean) ?? []
}

const NODES = new NodeSet(["MagicCell", "MagicLine", "Magic"].map((name, id) => NodeType.define({ id, name, top: id === 0 }))).extend(
  styleTags({ Magic: tags.keyword }),
)
const [CELL, LINE, MAGIC] = NODES.types as [NodeType, NodeType, NodeType]

/** Reads the lines of magics by itself, and what is below them as another parser does. A cell is short: it is parsed whole. */
export class MagicParser extends Parser {
  readonly #body: Parser | null

  constructor(body: Parser | null) {
    super()
    this.#body = body
  }

  override createParse(input: Input, _fragments: unknown, ranges: readonly { from: number; to: number }[]): PartialParse {
    const from = ranges[0]?.from ?? 0
    const to = ranges.at(-1)?.to ?? input.length
    return { parsedPos: from, stoppedAt: null, stopAt: () => undefined, advance: () => this.#tree(input.read(from, to)) }
  }

  #tree(text: string): Tree {
    const children: Tree[] = []
    const positions: number[] = []
    let at = 0
    for (const line of magicLines(text)) {
      const name = /^\S*/.exec(line)?.[0].length ?? 0
      children.push(new Tree(LINE, [new Tree(MAGIC, [], [], name)], [0], line.length))
      positions.push(at)
      at += line.length + 1
    }
    if (this.#body && at < text.length) {
      children.push(this.#body.parse(text.slice(at)))
      positions.push(at)
    }
    return new Tree(CELL, children, positions, text.length)
  }
}
