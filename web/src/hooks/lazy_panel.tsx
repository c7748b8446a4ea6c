/** A panel whose body is loaded when it is opened: what people do not open costs them nothing. The rail waits for it. */

import { lazy } from "react"
import type { ComponentType } from "react"
import type { PageContext } from "../sync/notebook_page.ts"
import type { PanelSpec } from "./panel.ts"

type Body = ComponentType<{ readonly context: PageContext }>

export function lazyPanel(load: () => Promise<Body>): PanelSpec["render"] {
  const Loaded = lazy(async () => ({ default: await load() }))
  return (context) => <Loaded context={context} />
}
