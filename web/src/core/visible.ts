/**
 * Make invisible characters of a source visible, so that what is shown is what runs (rule 9).
 *
 * Different sources never look alike: each character that a page would not show becomes `⟨U+200B⟩`, and so does a `⟨` of
 * the source's own. spec/cases/visible.json holds this to Python's `visible`, whose list of characters it is.
 */

const STEERS = // controls but tab and line feed; marks of direction; ends of lines; halves of surrogate pairs
  "\\u{0}-\\u{8}\\u{b}-\\u{1f}\\u{7f}-\\u{9f}\\u{61c}\\u{200e}\\u{200f}\\u{202a}-\\u{202e}\\u{2066}-\\u{2069}" +
  "\\u{2028}\\u{2029}\\u{d800}-\\u{dfff}"
const UNSEEN = // of no width, other format characters, tags
  "\\u{ad}\\u{34f}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}\\u{180b}-\\u{180f}\\u{200b}-\\u{200d}\\u{2060}-\\u{2065}" +
  "\\u{206a}-\\u{206f}\\u{3164}\\u{fe00}-\\u{fe0f}\\u{feff}\\u{ffa0}\\u{fff0}-\\u{fffb}\\u{600}-\\u{605}\\u{6dd}\\u{70f}" +
  "\\u{890}\\u{891}\\u{8e2}\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}" +
  "\\u{e0000}-\\u{e0fff}"

/** A new expression that finds each character that is shown by its number. */
export function invisibleCharacters(): RegExp {
  // eslint-disable-next-line no-misleading-character-class -- each of them is meant alone
  return new RegExp(`[${STEERS}${UNSEEN}\\u{27e8}]`, "gu")
}

const INVISIBLE = invisibleCharacters()

/** The source with each invisible character by its number; of these, only line feeds and tabs stay. */
export function visible(source: string): string {
  return source.replace(INVISIBLE, (char) => shownByNumber(char.codePointAt(0) ?? 0))
}

/** A character as it is shown by its number. */
export function shownByNumber(point: number): string {
  return `\u27e8U+${hex(point)}\u27e9`
}

function hex(point: number): string {
  return point.toString(16).toUpperCase().padStart(4, "0")
}

const HARMFUL = new RegExp(`[${STEERS}]`, "gu")

/** What a cell printed, with each character by its number that would steer a terminal or turn text around. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (char) => shownByNumber(char.codePointAt(0) ?? 0))
}
