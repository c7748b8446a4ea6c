/** The page as a place to drop files on: a frame says so while something is dragged over it. */

import { useRef, useState } from "react"
import type { DragEvent, ReactNode } from "react"

import { Icon } from "../ui/Icon.tsx"
import css from "./Home.module.css"

export interface DropAreaProps {
  readonly onDrop: (files: readonly File[]) => void
  readonly children: ReactNode
}

export function DropArea({ onDrop, children }: DropAreaProps) {
  const [isOver, setOver] = useState(false)
  // Leaving a child is no leaving: what was entered and not left is counted.
  const depth = useRef(0)
  const enter = (event: DragEvent, change: 1 | -1): void => {
    if (!event.dataTransfer.types.includes("Files")) return
    event.preventDefault()
    depth.current += change
    setOver(depth.current > 0)
  }
  return (
    <div
      className={css["page"]}
      onDragEnter={(event) => enter(event, 1)}
      onDragLeave={(event) => enter(event, -1)}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes("Files")) event.preventDefault()
      }}
      onDrop={(event) => {
        if (!event.dataTransfer.files.length) return
        event.preventDefault()
        depth.current = 0
        setOver(false)
        onDrop([...event.dataTransfer.files])
      }}
    >
      {children}
      {isOver && (
        <div className={css["drop"]}>
          <Icon name="upload" size={32} />
          <p>Drop .ipynb, .py or .md files to take them in</p>
        </div>
      )}
    </div>
  )
}
