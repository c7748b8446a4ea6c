export { errorLine } from "./traceback.ts"
