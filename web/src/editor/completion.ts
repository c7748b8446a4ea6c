/** Complete from the kernel: after a dot, and when asked for. Otherwise from the text and the language alone. */

import { autocompletion } from "@codemirror/autocomplete"
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete"
import type { Extension } from "@codemirror/state"
import { pointAt } from "../core/points.ts"
import { endKernelWait, kernelWait, waitForKernel } from "./kernel_wait.ts"
import { readCompletions } from "./kernel_replies.ts"
import type { KernelCompletion } from "./kernel_replies.ts"
import { languageOf, localCompletions } from "./languages.ts"
import type { CurrentProps } from "./props.ts"

/** How long typing has to pause before completions are looked for. */
const TYPING_MILLISECONDS = 120
/** How long a kernel is waited for where there are completions without it. */
const KERNEL_MILLISECONDS = 1500

export function completion(props: CurrentProps): Extension {
  const list = autocompletion({
    override: [(context) => complete(context, props)],
    activateOnTypingDelay: TYPING_MILLISECONDS,
    icons: false,
    defaultKeymap: false, // keys.ts has the keys, in their order
    tooltipClass: () => "cm-completions",
  })
  return [list, kernelWait()]
}

async function complete(context: CompletionContext, props: CurrentProps): Promise<CompletionResult | null> {
  const { kind } = props()
  const isMember = context.matchBefore(/[\p{L}\p{N}_)\]}"']\.[\p{L}\p{N}_]*$/u) !== null
  if (kind === "code" && (context.explicit || isMember)) {
    const answer = fromKernel(context, props)
    const result = await (isMember ? answer : Promise.race([answer, nothingAfter(KERNEL_MILLISECONDS)]))
    if (context.aborted || result) return result
  }
  return localCompletions(languageOf(props(), context.state.doc), context)
}

function nothingAfter(milliseconds: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), milliseconds))
}

async function fromKernel(context: CompletionContext, props: CurrentProps): Promise<CompletionResult | null> {
  const text = context.state.doc.toString()
  const answer = await props().complete(text, pointAt(text, context.pos))
  if (context.aborted) return null
  if (context.view) {
    if (answer.kind === "busy") waitForKernel(context.view, answer.text, props)
    else endKernelWait(context.view)
  }
  const found = answer.kind === "answer" ? readCompletions(answer.content, text) : null
  if (!found || found.from > context.pos || found.to < context.pos) return null
  const { from, to } = found
  return { from, ...(to > context.pos ? { to } : {}), options: found.options.map(asOption), validFor: /^[\p{L}\p{N}_]*$/u }
}

/** Names that begin with an underscore come last, as they are meant. */
function asOption({ label, type }: KernelCompletion): Completion {
  const name = label.slice(label.lastIndexOf(".") + 1)
  const boost = name.startsWith("__") ? -2 : name.startsWith("_") ? -1 : 0
  return { label, boost, ...(type ? { detail: type } : {}) }
}
