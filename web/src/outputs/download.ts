/** Save bytes as a file. */
export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // The browser has taken the bytes over once the click was handled.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
