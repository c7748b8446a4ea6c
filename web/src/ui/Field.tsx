/** A labelled field of a form: text, choice, box; help and faults are tied to it for screen readers. */

import { useId } from "react"
import type { InputHTMLAttributes, ReactNode, Ref, SelectHTMLAttributes, TextareaHTMLAttributes } from "react"

import css from "./Field.module.css"

interface FieldParts {
  readonly label: string
  readonly help?: ReactNode
  readonly error?: string | null | undefined
}

/** Lays out what `children` makes of the field's ids. */
export function Field({ label, help, error, children }: FieldParts & { readonly children: (ids: FieldIds) => ReactNode }) {
  const id = useId()
  const describedBy = [help ? `${id}-help` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined
  return (
    <div className={css["field"]}>
      <label className={css["label"]} htmlFor={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": describedBy, "aria-invalid": error ? true : undefined })}
      {help && (
        <div id={`${id}-help`} className={css["help"]}>
          {help}
        </div>
      )}
      {error && (
        <div id={`${id}-error`} className={css["error"]} role="alert">
          {error}
        </div>
      )}
    </div>
  )
}

export interface FieldIds {
  readonly id: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": true | undefined
}

type TextFieldProps = FieldParts & Omit<InputHTMLAttributes<HTMLInputElement>, "id"> & { readonly ref?: Ref<HTMLInputElement> }

export function TextField({ label, help, error, ...input }: TextFieldProps) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => <input type="text" autoComplete="off" {...input} {...ids} className={css["input"]} />}
    </Field>
  )
}

export function TextArea({ label, help, error, ...input }: FieldParts & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "id">) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => <textarea rows={3} {...input} {...ids} className={css["input"]} />}
    </Field>
  )
}

export interface Choice {
  readonly value: string
  readonly label: string
}

type SelectFieldProps = FieldParts & Omit<SelectHTMLAttributes<HTMLSelectElement>, "id"> & { readonly choices: readonly Choice[] }

export function SelectField({ label, help, error, choices, ...select }: SelectFieldProps) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <select {...select} {...ids} className={css["input"]}>
          {choices.map(({ value, label: name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export interface CheckFieldProps {
  readonly label: ReactNode
  readonly help?: ReactNode
  readonly checked: boolean
  readonly disabled?: boolean | undefined
  readonly onChange: (checked: boolean) => void
}

export function CheckField({ label, help, checked, disabled, onChange }: CheckFieldProps) {
  const id = useId()
  return (
    <div className={css["check"]}>
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {help && (
        <div id={`${id}-help`} className={css["help"]}>
          {help}
        </div>
      )}
    </div>
  )
}
