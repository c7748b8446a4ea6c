/** How languages without a grammar of their own are coloured. */

import type { TokenLanguage } from "./token_parser.ts"

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

const sql: TokenLanguage = {
  keywords: words(`
    add all alter analyze and any as asc attach begin between by case cast check collate column commit constraint create
    cross current cube database default delete desc describe distinct drop else end escape except exclude exists explain
    export extract filter first following for foreign from full function glob grant group grouping having if ilike import
    in index inner insert install intersect interval into is isnull join key last lateral left like limit load materialized
    natural no not notnull nulls of offset on only or order outer over partition pivot pragma preceding primary qualify
    range recursive references rename replace returning right rollback rollup row rows sample schema select semi set sets
    show similar some summarize table tablesample temp temporary then to transaction trigger truncate unbounded union
    unique unpivot update use using values view when where window with within without
  `),
  constants: ["true", "false", "null"],
  ignoresCase: true,
  lineComments: ["--"],
  blockComment: ["/*", "*/"],
  rawQuotes: ["'", '"', "`"],
}

const r: TokenLanguage = {
  keywords: words("break else for function if in next repeat return while library require"),
  constants: words("TRUE FALSE NULL NA NaN Inf NA_integer_ NA_real_ NA_character_"),
  lineComments: ["#"],
  quotes: ['"', "'"],
  rawQuotes: ["`"],
  wordCharacters: ".",
}

const julia: TokenLanguage = {
  keywords: words(`
    abstract baremodule begin break catch const continue do else elseif end export finally for function global if import in
    isa let local macro module mutable primitive quote return struct try type using where while
  `),
  constants: words("true false nothing missing NaN Inf"),
  lineComments: ["#"],
  blockComment: ["#=", "=#"],
  quotes: ['"""', '"', "`"],
  wordCharacters: "!",
}

const bash: TokenLanguage = {
  keywords: words(`
    case coproc declare do done echo elif else esac eval exec exit export fi for function if in local read readonly return
    select set shift source then time trap unset until while
  `),
  constants: ["true", "false"],
  lineComments: ["#"],
  quotes: ['"', "`"],
  rawQuotes: ["'"],
  wordCharacters: "-",
}

const javascript: TokenLanguage = {
  keywords: words(`
    abstract as async await break case catch class const continue debugger declare default delete do else enum export
    extends finally for from function if implements import in instanceof interface let namespace new of private protected
    public readonly return satisfies static super switch this throw try type typeof var void while with yield
  `),
  constants: words("true false null undefined NaN Infinity"),
  lineComments: ["//"],
  blockComment: ["/*", "*/"],
  quotes: ['"', "'", "`"],
  wordCharacters: "$",
}

const cFamily: TokenLanguage = {
  keywords: words(`
    abstract auto bool break byte case catch char class const constexpr continue crate default defer delete do double else
    enum explicit export extends extern final float fn for foreach friend func go goto if impl implements import in include
    inline int interface let long loop map match mod mut namespace new noexcept object operator override package private
    protected pub public range ref return select self short signed sizeof static struct super switch template this throw
    trait try type typedef typename union unsafe unsigned use using val var virtual void volatile when where while yield
  `),
  constants: words("true false null nullptr nil None Some"),
  lineComments: ["//"],
  blockComment: ["/*", "*/"],
  quotes: ['"', "`"],
}

/** By the name that a kernel gives its language. */
export const TOKEN_LANGUAGES: Readonly<Record<string, TokenLanguage>> = {
  sql, r, julia, bash, sh: bash, zsh: bash, shell: bash,
  javascript, typescript: javascript, js: javascript, ts: javascript, json: javascript,
  c: cFamily, "c++": cFamily, cpp: cFamily, "c#": cFamily, csharp: cFamily, go: cFamily, java: cFamily, kotlin: cFamily,
  rust: cFamily, scala: cFamily,
}
