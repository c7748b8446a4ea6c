/** Media types of pictures that a page can hold in a `data:` address. */
const PICTURES: ReadonlySet<string> = new Set(["image/svg+xml", "image/png", "image/jpeg", "image/webp", "image/gif"])

export function isPicture(media: string): boolean {
  return PICTURES.has(media)
}
