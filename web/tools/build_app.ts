/**
 * Builds the app into the Python package: `node web/tools/build_app.ts [FOLDER]`, which `make web` runs.
 *
 * The page and the frames of outputs are built apart and share no file: what the frames load is public, and has headers
 * of its own. So is the worker that keeps the app in the browser. Each file gets a .br and a .gz beside it. The folder is replaced once all of it is there.
 */

import { existsSync } from "node:fs"
import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { build } from "vite"

const WEB = resolve(import.meta.dirname, "..")
const FOLDER = resolve(process.argv[2] ?? join(WEB, "../src/quire/doors/http/app_files"))
const COMPRESSED = /assets\/.*\.(js|css|svg|json|ttf|wasm)$/
/** What is kept in a browser for when the server is away. */
const KEPT = /\.(js|css|woff2)$/
/** Shorter ones are sent as they are. */
const LEAST_BYTES = 500

async function buildApp(folder: string): Promise<void> {
  const quiet = { root: WEB, logLevel: "warn", configFile: join(WEB, "vite.config.ts") } as const
  await build({ ...quiet, build: { outDir: folder, emptyOutDir: true } })
  if (!existsSync(join(WEB, "frame.html"))) return
  await build({
    ...quiet,
    base: "/frame/",
    build: { outDir: join(folder, "frame"), emptyOutDir: true, rolldownOptions: { input: join(WEB, "frame.html") } },
  })
}

/** The worker that keeps the app: one file under a fixed name, with the names of all others in it. */
async function buildWorker(folder: string): Promise<void> {
  const names = (await readdir(join(folder, "assets"))).filter((name) => KEPT.test(name))
  await build({
    root: WEB,
    logLevel: "warn",
    configFile: false,
    define: { APP_ASSETS: JSON.stringify(names.map((name) => `/assets/${name}`)) },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: "es2023",
      rolldownOptions: {
        input: join(WEB, "src/sync/service_worker.ts"),
        output: { entryFileNames: "service_worker.js", format: "iife" },
      },
    },
  })
}

/** Compress a file, or take what was made of the same file before: the highest levels are slow. */
async function compress(file: string, before: string): Promise<void> {
  const bytes = await readFile(file)
  if (bytes.length < LEAST_BYTES) return
  if (await isSame(bytes, before)) {
    await Promise.all([".br", ".gz"].map((ending) => copyFile(before + ending, file + ending)))
    return
  }
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((made) => writeFile(`${file}.br`, made)),
    promisify(gzip)(bytes, { level: 9 }).then((made) => writeFile(`${file}.gz`, made)),
  ])
}

async function isSame(bytes: Buffer, before: string): Promise<boolean> {
  if (![before, `${before}.br`, `${before}.gz`].every((file) => existsSync(file))) return false
  return bytes.equals(await readFile(before))
}

async function compressAll(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true })
  const names = files.filter((name) => COMPRESSED.test(name))
  await Promise.all(names.map((name) => compress(join(folder, name), join(FOLDER, name))))
}

/** The licences of the packages that the app is built from, which have to go where their code goes. */
async function licences(): Promise<string> {
  const lock = JSON.parse(await readFile(join(WEB, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version?: string; readonly license?: string; readonly dev?: boolean }>>
  }
  const texts: string[] = []
  for (const [place, { version = "", license = "", dev = false }] of Object.entries(lock.packages)) {
    const folder = join(WEB, place)
    if (!place || dev || !existsSync(folder)) continue
    const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name))
    const text = file ? await readFile(join(folder, file), "utf8") : license
    texts.push(`${place.replace(/^.*node_modules\//, "")} ${version} (${license})\n\n${text.trim()}\n`)
  }
  return texts.join(`\n${"-".repeat(80)}\n\n`)
}

const part = `${FOLDER}.part-${process.pid}`
const old = `${FOLDER}.old-${process.pid}`
await mkdir(dirname(FOLDER), { recursive: true })
try {
  await buildApp(part)
  await buildWorker(part)
  await compressAll(part)
  await writeFile(join(part, "licenses.txt"), await licences())
  if (existsSync(FOLDER)) await rename(FOLDER, old)
  await rename(part, FOLDER)
} finally {
  for (const left of [part, old]) await rm(left, { recursive: true, force: true })
}
