/** What the panel draws, in one chunk of its own. */

export { ChangeMark } from "./ChangeMark.tsx"
export { CellDifference } from "./CellDifference.tsx"
export { SeenWatch } from "./SeenWatch.tsx"
export { SinceLine } from "./SinceLine.tsx"
