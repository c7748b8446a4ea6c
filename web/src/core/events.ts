/** Questions about an entry that every branch asks: who did it, as seen from here, and what it did to text. */

import type { ActorId, CellChange, Edit, Entry, KnownEvent, SourceEdited } from "./types.gen.ts"

/** Who did it: nobody from elsewhere passes for a local actor. */
export function by(entry: Entry): ActorId {
  return entry.imported ? `imported:${entry.actor}` : entry.actor
}

/** For whom, as seen from here. */
export function onBehalfOf(entry: Entry): ActorId | null {
  const actor = entry.on_behalf_of ?? null
  return entry.imported && actor ? `imported:${actor}` : actor
}

/** The changes of cells that an event makes, one after the other. */
export function cellChanges(event: KnownEvent): readonly CellChange[] {
  switch (event.type) {
    case "file_merged":
      return event.changes ?? []
    case "proposal_accepted":
      return event.applied ?? []
    case "cell_added":
    case "cell_removed":
    case "cell_moved":
    case "cell_kind_changed":
    case "cell_named":
    case "cell_tagged":
    case "cell_metadata_set":
    case "source_edited":
      return [event]
    default:
      return []
  }
}

/** The edit of a `source_edited` as it was applied. */
export function appliedEdit(event: SourceEdited): Edit {
  return event.applied ?? event.edit ?? []
}
