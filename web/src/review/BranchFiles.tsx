/** The notebooks of a branch: what differs in each, and how far its review is. Each has a page of its own. */

import { visible } from "../core/visible.ts"
import type { ReviewSubject } from "../core/types.gen.ts"
import type { ReviewedFile } from "../sync/api_reviews.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import css from "./BranchFiles.module.css"
import { reviewPath } from "./words.ts"

interface Props {
  readonly files: readonly ReviewedFile[]
  /** Begin the review of a file that has none, and go there. */
  readonly onBegin: (path: string) => void
}

export function BranchFiles({ files, onBegin }: Props) {
  return (
    <ul className={css["files"]} data-diff-rows aria-label="Notebooks">
      {files.map((file) => (
        <li key={file.path} className={css["file"]} data-answer={file.answer}>
          <Icon name={MARKS[file.answer].icon} size={14} />
          {file.log === null ? (
            <span className={css["path"]}>
              {visible(file.path)} <Button onClick={() => onBegin(file.path)}>Begin its review</Button>
            </span>
          ) : (
            <a className={css["path"]} href={reviewPath(file.log)} data-change>
              {visible(file.path)}
            </a>
          )}
          <span className={css["fact"]}>{file.fault ? visible(file.fault) : changes(file)}</span>
          <span className={css["fact"]}>{progress(file)}</span>
        </li>
      ))}
    </ul>
  )
}

/** How far the reviews of all files are. */
export function filesInWords(files: readonly ReviewedFile[]): string {
  const answered = files.filter(({ answer }) => answer === "accepted" || answer === "declined").length
  return `${files.length === 1 ? "1 notebook" : `${files.length} notebooks`} · ${answered} answered`
}

const MARKS: Readonly<Record<ReviewedFile["answer"], { readonly icon: IconName; readonly word: string }>> = {
  open: { icon: "minus", word: "not answered yet" },
  accepted: { icon: "check", word: "accepted" },
  declined: { icon: "cross", word: "declined" },
  change_asked: { icon: "comment", word: "a change was asked for" },
}

function changes(file: ReviewedFile): string {
  const states = ["changed", "added", "removed", "moved"] as const
  const said = states.filter((state) => file[state] > 0).map((state) => `${file[state]} ${state}`)
  return said.length ? `${said.join(", ")} of ${file.cells === 1 ? "1 cell" : `${file.cells} cells`}` : "no cell differs"
}

function progress(file: ReviewedFile): string {
  const all = file.changed + file.added + file.removed + file.moved
  const said = [MARKS[file.answer].word]
  if (all > 0) said.push(`${file.looked_at} of ${all} looked at`)
  if (file.comments > 0) said.push(file.comments === 1 ? "1 comment" : `${file.comments} comments`)
  return said.join(" · ")
}

/** Whether a review is that of a branch. */
export function isOfBranch(subject: ReviewSubject): boolean {
  return subject.kind === "revisions" && subject.path === ""
}
