/** How the app is built (tools/build_app.ts runs it for the page and for the frames) and its tests are run. */

import react from "@vitejs/plugin-react"
import { defineConfig } from "vitest/config"

/** What the app itself imports: it is there when a part is loaded, so that the parts need not list it. */
const ALWAYS_LOADED = /^assets\/(index|react|jsx-runtime|notebook|staleness|fault)-[\w-]{8}\.(js|css)$/

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../build/web",
    emptyOutDir: true,
    target: "es2023",
    manifest: "manifest.json",
    // Nothing becomes a data: or inline part of a page, whose policy allows neither.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false, resolveDependencies: (_file, needed) => needed.filter((file) => !ALWAYS_LOADED.test(file)) },
    chunkSizeWarningLimit: 6000,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  test: {
    include: ["src/**/*.test.ts"],
    environment: "node",
    // Against hangs only: on a busy machine, thousands of drawn cases take as long as they take.
    testTimeout: 600_000,
  },
})
