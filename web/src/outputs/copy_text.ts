/** Put text on the clipboard, also on pages without https, where browsers have no clipboard to ask. */
export async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard) {
    await clipboard.writeText(text)
    return
  }
  const put = (event: ClipboardEvent): void => {
    event.preventDefault()
    event.stopImmediatePropagation()
    event.clipboardData?.setData("text/plain", text)
  }
  document.addEventListener("copy", put, { capture: true, once: true })
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way there
  document.execCommand("copy")
}
