/** The mark of Quire: sheets folded into one another, as a bookbinder sees them from the end. */

export function Mark({ size = 20 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" strokeWidth="1.7" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
      <path d="M2 4l8 13 8-13" stroke="var(--accent)" />
      <path d="M5.6 4L10 11.2 14.4 4" stroke="var(--ink-soft)" />
      <path d="M8.9 4L10 5.8 11.1 4" stroke="var(--ink-faint)" />
    </svg>
  )
}
