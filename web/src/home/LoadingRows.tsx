/** Grey rows, after a moment: what comes at once shows nothing in between. */

import css from "./Home.module.css"

export function LoadingRows() {
  return (
    <div className={css["skeleton"]} role="status">
      <span className="visually-hidden">Loading</span>
      {[62, 48, 55, 40].map((width) => (
        <div key={width} aria-hidden="true">
          <span style={{ width: `${width / 2}%` }} />
          <span style={{ width: `${width / 4}%` }} />
        </div>
      ))}
    </div>
  )
}
