/** All that draws proposals: one chunk, loaded once there is one. */

export { acceptCard, declineCard } from "./Card.tsx"
export { CellDifferences, CellLines, NewCells } from "./CellMarks.tsx"
export { ProposalsPanel } from "./ProposalsPanel.tsx"
export { Watch } from "./Watch.tsx"
