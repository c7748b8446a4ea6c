/** A button with an icon and a name. */
export { IconButton } from "./Button.tsx"
export type { IconButtonProps } from "./Button.tsx"
