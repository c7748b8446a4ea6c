/** The editor of a cell. It is mounted where somebody edits, and nowhere else; StaticCode shows the other cells. */

import { useEffect, useLayoutEffect, useRef } from "react"
import styles from "./Code.module.css"
import type { CellEditorProps } from "./props.ts"
import { sessionOf } from "./session.ts"

export type { CellEditorProps, PeerSelection } from "./props.ts"

export default function CellEditor(props: CellEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  const { log, cell, marks, initial } = props
  const isMounted = useRef(false)

  useLayoutEffect(() => {
    latest.current = props
    if (isMounted.current) sessionOf(props).update(props)
  })

  useLayoutEffect(() => {
    if (!element.current) return undefined
    const unmount = sessionOf(latest.current).mount(element.current, latest.current)
    isMounted.current = true
    return () => {
      isMounted.current = false
      unmount()
    }
  }, [log, cell])

  useEffect(() => sessionOf(latest.current).mark(marks), [marks])

  const placed = useRef(initial)
  useEffect(() => {
    // Where it was put when it was mounted is done; another place is for an editor that is there already.
    if (initial !== undefined && initial !== placed.current) sessionOf(latest.current).place(initial)
    placed.current = initial
  }, [initial])

  return <div ref={element} className={styles["editor"]} />
}
