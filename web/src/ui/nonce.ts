/** The number that the server gave this page: style elements that scripts add are allowed by it. */
export function pageNonce(): string {
  return document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? ""
}
