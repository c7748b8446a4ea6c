/** Every icon of the app: strokes on a grid of 16, in the colour of the text beside them. */

import { memo } from "react"

const CIRCLE = "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z"

export const ICONS = {
  play: "M5 3.2v9.6L12.8 8z",
  stop: "M4.5 4.5h7v7h-7z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  restart: "M13 8a5 5 0 1 1-1.1-3.1L13 6M13 3v3h-3",
  "run-all": "M3 3.5v9L8.5 8zM9 3.5v9L14.5 8z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  trash: "M2.5 4.5h11M6 4.5V3h4v1.5M4 4.5l.6 8.5h6.8l.6-8.5M6.7 7v3.5M9.3 7v3.5",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  right: "M3 8h10M9 4l4 4-4 4",
  left: "M13 8H3M7 4L3 8l4 4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  duplicate: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3M9.5 7.7v3.6M7.7 9.5h3.6",
  cut: "M4 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM12 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM5 10.5l6.5-8M11 10.5l-6.5-8",
  paste: "M5.5 3.5h-2v10h9v-10h-2M5.5 2.3h5v2.6h-5z",
  "chevron-right": "M6 3.5L10.5 8 6 12.5",
  "chevron-left": "M10 3.5L5.5 8l4.5 4.5",
  "chevron-up": "M3.5 10L8 5.5l4.5 4.5",
  "chevron-down": "M3.5 6L8 10.5 12.5 6",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2",
  replace: "M2.5 5.5h9M8.5 2.5l3 3-3 3M13.5 10.5h-9M7.5 7.5l-3 3 3 3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.6A5.6 5.6 0 1 1 6.4 3 4.5 4.5 0 0 0 13 9.6z",
  screen: "M2 3h12v8H2zM8 11v2.5M5.5 13.5h5",
  person: "M8 2.5A2.75 2.75 0 1 0 8 8a2.75 2.75 0 0 0 0-5.5zM2.8 13.5c.5-2.6 2.6-4 5.2-4s4.7 1.4 5.2 4",
  people: "M6 3a2.4 2.4 0 1 0 0 4.8A2.4 2.4 0 0 0 6 3zM1.5 13c.4-2.3 2.2-3.6 4.5-3.6s4.1 1.3 4.5 3.6M10.5 3.2a2.4 2.4 0 0 1 0 4.4M12 9.7c1.4.5 2.3 1.7 2.5 3.3",
  robot: "M3.5 5.5h9v7h-9zM8 5.5v-3M6.2 8.3v1.2M9.8 8.3v1.2M1.5 8v2.5M14.5 8v2.5",
  gear: "M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM8 3.6a4.4 4.4 0 1 0 0 8.8 4.4 4.4 0 0 0 0-8.8zM8 1.6v2M8 12.4v2M1.6 8h2M12.4 8h2M3.5 3.5l1.4 1.4M11.1 11.1l1.4 1.4M3.5 12.5l1.4-1.4M11.1 4.9l1.4-1.4",
  clock: `${CIRCLE}M8 4.8V8l2.2 1.6`,
  check: "M3 8.5l3.3 3.3L13 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2.5l6.2 11H1.8zM8 6.5v3M8 11.5v.01",
  info: `${CIRCLE}M8 7.3v3.5M8 5v.01`,
  question: `${CIRCLE}M6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.2v.01`,
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.8-.8",
  download: "M8 2.5v8M4.8 7.5L8 10.7l3.2-3.2M2.5 13.5h11",
  upload: "M8 10.7V2.5M4.8 5.7L8 2.5l3.2 3.2M2.5 13.5h11",
  folder: "M2 3.5h4l1.5 2H14v7.5H2z",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  notebook: "M4 2h9v12H4zM6.5 2v12M2.5 5H5M2.5 8H5M2.5 11H5",
  archive: "M2 3h12v3H2zM3 6v7h10V6M6.5 8.5h3",
  pencil: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2zM9.3 4.5l2.2 2.2",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M6 3.5l-3 3 3 3",
  redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M10 3.5l3 3-3 3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  outline: "M3 3.5h10M5.5 8H13M8 12.5h5",
  table: "M2 3h12v10H2zM2 6.4h12M2 9.7h12M6.5 3v10",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7",
  kernel: "M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14",
  variable: "M4 3C2.7 5.8 2.7 10.2 4 13M12 3c1.3 2.8 1.3 7.2 0 10M6.3 6l3.4 4M9.7 6l-3.4 4",
  history: "M2.5 8a5.5 5.5 0 1 0 1.8-4.1L2.5 5.5M2.5 2.5v3h3M8 5v3l2 1.5",
  parameters: "M2.5 5h5.3M11.2 5h2.3M2.5 11h2.3M8.2 11h5.3M9.5 3.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM6.5 9.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z",
  comment: "M2.5 3h11v8H8l-3 2.7V11H2.5z",
  bell: "M4 11.5V7a4 4 0 0 1 8 0v4.5M2.8 11.5h10.4M6.8 13.7h2.4",
  eye: "M1.5 8C3 5.2 5.3 3.8 8 3.8S13 5.2 14.5 8C13 10.8 10.7 12.2 8 12.2S3 10.8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  sort: "M5 3v10M2.5 10.5L5 13l2.5-2.5M11 13V3M8.5 5.5L11 3l2.5 2.5",
  fold: "M3 8h10M8 1.5v4M5.8 3.7L8 5.8l2.2-2.1M8 14.5v-4M5.8 12.3L8 10.2l2.2 2.1",
  unfold: "M3 8h10M8 5.5v-4M5.8 3.4L8 1.3l2.2 2.1M8 10.5v4M5.8 12.6L8 14.7l2.2-2.1",
  split: "M2.5 8h11M8 6V2M5.8 3.8L8 1.8l2.2 2M8 10v4M5.8 12.2l2.2 2 2.2-2",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  text: "M3 4V3h10v1M8 3v10M6 13h4",
  database: "M8 2c2.8 0 5 .8 5 1.9S10.8 5.8 8 5.8s-5-.8-5-1.9S5.2 2 8 2zM3 3.9v8.2C3 13.2 5.2 14 8 14s5-.8 5-1.9V3.9M3 8c0 1.1 2.2 1.9 5 1.9S13 9.1 13 8",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.3 5.3h.01",
  key: "M5.5 6.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM7.6 7.4L13 2.5M11 4.3l1.8 1.8",
  exit: "M9.5 3h-6v10h6M7 8h7M11.5 5.5L14 8l-2.5 2.5",
  dot: "M8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
  grip: "M6 3.5h.01M10 3.5h.01M6 8h.01M10 8h.01M6 12.5h.01M10 12.5h.01",
  broken: "M8.5 2L6.5 6.5h3L7 11M3 13.5h10M3 2.5v5M13 2.5v5",
  skip: "M3 4l5 4-5 4zM12.5 4v8",
} as const

export type IconName = keyof typeof ICONS

/** Those that are drawn with dots want a thicker pen. */
const DOTTED: ReadonlySet<IconName> = new Set(["more", "grip"])

/** An icon, for the eye only: what it means is said by the label beside it. */
export const Icon = memo(function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={DOTTED.has(name) ? 2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={ICONS[name]} />
    </svg>
  )
})
