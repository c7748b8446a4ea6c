/** Actions as items of menus. */

import type { Action } from "../actions/context.ts"
import { Icon } from "../ui/Icon.tsx"
import { ICONS } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import type { Page } from "./page.ts"

export function actionIcon(action: Action) {
  const { icon } = action
  return icon !== undefined && icon in ICONS ? <Icon name={icon as IconName} size={14} /> : undefined
}

export function menuItem(page: Page, action: Action): MenuItem {
  return {
    label: action.title,
    keys: action.keys[0],
    icon: actionIcon(action),
    disabled: !action.when(page.actions),
    // After the menu is gone and has given the focus back: what is done may move it.
    onSelect: () => setTimeout(() => action.do(page.actions)),
  }
}
