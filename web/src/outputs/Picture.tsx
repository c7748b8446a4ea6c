/** A picture: bytes under an address of this page alone, which is given up when the picture goes. */

import { memo, useEffect, useState } from "react"
import type { Display } from "../core/types.gen.ts"
import { harmless } from "../core/visible.ts"
import { Notice } from "./Actions.tsx"
import { bytesOf } from "./bytes.ts"
import type { OutputContext } from "./context.ts"
import { alternative, byteSize, dimensions } from "./media.ts"
import { useLoaded } from "./use_loaded.ts"
import css from "./Picture.module.css"

interface Props {
  readonly display: Display
  readonly media: string
  readonly context: OutputContext
}

/** Heights of pictures that were shown, so that the page does not jump when one is shown again. */
const heights = new WeakMap<Display, number>()

export const Picture = memo(function Picture({ display, media, context }: Props) {
  const loaded = useLoaded(display, () => bytesOf(display, media, context))
  const address = useAddress(loaded.state === "there" ? loaded.value : null)
  const [isBroken, setIsBroken] = useState(false)
  const size = dimensions(display, media)
  if (loaded.state === "failed") return <Notice text={`The picture cannot be loaded: ${loaded.message}`} isError />
  if (isBroken) return <Notice text={`A picture that cannot be shown: ${media}, ${byteSize(loaded.state === "there" ? loaded.value.size : 0)}.`} isError />
  if (address === null) return <div className={css["waiting"]} style={{ minHeight: size.height ?? heights.get(display) ?? 240 }} />
  return (
    <img
      className={css["picture"]}
      src={address}
      alt={harmless(alternative(display))}
      {...size}
      onError={() => setIsBroken(true)}
      onLoad={(event) => heights.set(display, event.currentTarget.offsetHeight)}
      data-output="picture"
    />
  )
})

function useAddress(blob: Blob | null): string | null {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (!blob) return
    const made = URL.createObjectURL(blob)
    // eslint-disable-next-line react-hooks/set-state-in-effect -- an address lives as long as this effect
    setAddress(made)
    return () => {
      setAddress(null)
      URL.revokeObjectURL(made)
    }
  }, [blob])
  return address
}
