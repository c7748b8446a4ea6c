/** One parameter: a field by its type, with its help, and with its fault once it was left or sent. */

import { memo } from "react"

import { CheckField, SelectField, TextArea, TextField } from "../ui/Field.tsx"
import { choicesOf, controlOf, hasDefault, initialText } from "./fields.ts"
import { parseType, mayBeNone } from "./typed.ts"
import type { Parameter } from "./typed.ts"

export interface ParameterFieldProps {
  readonly parameter: Parameter
  readonly typed: string | undefined
  readonly error: string | null
  readonly onType: (name: string, text: string) => void
  /** The field was left: what is wrong may be told now. */
  readonly onLeave: (name: string) => void
}

export const ParameterField = memo(function ParameterField(props: ParameterFieldProps) {
  const { parameter, typed, error, onType, onLeave } = props
  const { name, type, help } = parameter
  const control = controlOf(parameter)
  const text = typed ?? initialText(parameter)
  const common = {
    label: name,
    // In its place, so that nothing below moves: somebody may be about to press the button there.
    help: error ? undefined : helpOf(type, help, parameter.required === true),
    error,
    name,
    required: parameter.required === true,
    onBlur: () => onLeave(name),
  }
  if (control === "check") {
    return (
      <CheckField
        label={name}
        help={help}
        checked={text === "true"}
        onChange={(checked) => onType(name, String(checked))}
      />
    )
  }
  if (control === "choice") {
    const choices = choicesOf(parameter).map(({ text: value, label }) => ({ value, label }))
    const isOpen = !hasDefault(parameter)
    const shown = isOpen ? [{ value: "", label: placeholderOf(parameter) || "Choose…" }, ...choices] : choices
    return <SelectField {...common} choices={shown} value={text} onChange={(event) => onType(name, event.target.value)} />
  }
  if (control === "lines") {
    return (
      <TextArea
        {...common}
        value={text}
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        spellCheck={false}
        placeholder={placeholderOf(parameter)}
        onChange={(event) => onType(name, event.target.value)}
      />
    )
  }
  return (
    <TextField
      {...common}
      type={control === "date" ? "date" : "text"}
      inputMode={control === "number" ? "decimal" : undefined}
      spellCheck={false}
      value={text}
      placeholder={placeholderOf(parameter)}
      onChange={(event) => onType(name, event.target.value)}
    />
  )
})

function helpOf(type: string | null | undefined, help: string | undefined, isRequired: boolean): string {
  return [type ?? "any type", isRequired ? "required" : "", help ?? ""].filter(Boolean).join(" · ")
}

function placeholderOf(parameter: Parameter): string {
  if (parameter.expression) return parameter.expression
  return mayBeNone(parseType(parameter.type)) ? "none" : ""
}
