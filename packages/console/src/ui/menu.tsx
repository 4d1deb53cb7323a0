import { Menu as MenuParts } from '@base-ui/react/menu';
import { Check, Ellipsis, type LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useTexts } from '../app/texts.ts';
import { IconButton } from './button.tsx';
import { classes } from './class.ts';
import * as texts from './texts.ts';

export interface MenuItem {
  readonly label: ReactNode;
  readonly onSelect: () => void;
  readonly icon?: LucideIcon;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** True for the one that holds, where several exclude each other. */
  readonly checked?: boolean;
}

interface MenuProps {
  /** Groups of items, with a line between them. */
  readonly groups: readonly { readonly label?: string; readonly items: readonly MenuItem[] }[];
  /** The element that opens it; three dots if left out. */
  readonly trigger?: ReactElement;
  readonly side?: 'top' | 'bottom';
  readonly align?: 'start' | 'end';
}

export const popupClass =
  'z-50 max-h-[min(24rem,var(--available-height))] overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-pop outline-none';
const itemClass =
  'flex cursor-pointer items-center gap-2 rounded-sm px-2 py-1 text-sm outline-none select-none data-[disabled]:cursor-default data-[disabled]:opacity-50 data-[highlighted]:bg-hover';

/** Actions that are seldom needed, behind one button. */
export function Menu({ groups, trigger, side = 'bottom', align = 'end' }: MenuProps) {
  const t = useTexts(texts);
  return (
    <MenuParts.Root>
      <MenuParts.Trigger render={trigger ?? <IconButton icon={Ellipsis} label={t('showMore')} />} />
      <MenuParts.Portal>
        <MenuParts.Positioner side={side} align={align} sideOffset={4} className="z-50">
          <MenuParts.Popup className={classes(popupClass, 'min-w-44')}>
            {groups.map((group, place) => (
              <MenuParts.Group
                key={group.label ?? place}
                className={place > 0 ? 'mt-1 border-t border-line pt-1' : ''}
              >
                {group.label !== undefined && (
                  <MenuParts.GroupLabel className="px-2 py-1 text-xs text-faint">
                    {group.label}
                  </MenuParts.GroupLabel>
                )}
                {group.items.map((item, at) => (
                  <Item key={typeof item.label === 'string' ? item.label : at} {...item} />
                ))}
              </MenuParts.Group>
            ))}
          </MenuParts.Popup>
        </MenuParts.Positioner>
      </MenuParts.Portal>
    </MenuParts.Root>
  );
}

function Item({ label, onSelect, icon: Icon, danger = false, disabled, checked }: MenuItem) {
  return (
    <MenuParts.Item
      onClick={onSelect}
      disabled={disabled}
      {...(checked === undefined ? {} : { role: 'menuitemradio', 'aria-checked': checked })}
      className={classes(itemClass, danger && 'text-bad')}
    >
      {Icon && <Icon size={14} aria-hidden className={danger ? '' : 'text-soft'} />}
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {checked === true && <Check size={14} aria-hidden className="text-accent" />}
    </MenuParts.Item>
  );
}
