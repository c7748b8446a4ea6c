/** The files of a notebook: the one that it is bound to, data files to add, and downloads in every format. */

import { useRef } from "react"

import { useField } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelBody, PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import { downloadAs, FORMATS } from "./download.ts"
import css from "./Files.module.css"
import { uploadFiles } from "./upload.ts"

export function FilesPanel({ context }: { readonly context: PageContext }) {
  const binding = useField(context.live, "binding")
  const hasComments = useField(context.live, "comments").size > 0
  return (
    <PanelBody>
      <PanelSection title="This notebook">
        <PanelNote>
          {binding ? (
            <>
              Kept in sync with <code>{binding.path}</code>.
            </>
          ) : (
            <>
              Not bound to a file: its log has everything. To keep one in sync with it, type <code>quire bind NOTEBOOK FILE</code> in a terminal.
            </>
          )}
        </PanelNote>
      </PanelSection>
      <PanelSection title="Download as">
        <ul className={css["formats"]}>
          {FORMATS.filter(({ comments }) => !comments || hasComments).map((download) => (
            <li key={download.about}>
              <button type="button" onClick={() => void downloadAs(context, download)}>
                <Icon name="download" size={14} />
                <span>{download.title}</span>
                <span className={css["about"]}>{download.about}</span>
              </button>
            </li>
          ))}
        </ul>
      </PanelSection>
      {context.mayEdit && <DataFiles context={context} />}
    </PanelBody>
  )
}

function DataFiles({ context }: { readonly context: PageContext }) {
  const chooser = useRef<HTMLInputElement>(null)
  return (
    <PanelSection title="Data files">
      <PanelNote>Drop files anywhere on the page, or choose them. They land beside the notebook, never over another file.</PanelNote>
      <PanelButtons>
        <Button icon={<Icon name="upload" />} onClick={() => chooser.current?.click()}>
          Choose files…
        </Button>
      </PanelButtons>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Data files"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])]
          event.target.value = ""
          void uploadFiles(context, files)
        }}
      />
    </PanelSection>
  )
}
