import { Menu as Parts } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import type { ReactElement } from 'react';
import { classes } from './class.ts';
import type { MenuItem, MenuProps } from './menu.tsx';
import { popupClass } from './popup.ts';

const itemClass =
  'flex cursor-pointer items-center gap-2 rounded-sm px-2 py-1 text-sm outline-none select-none data-[disabled]:cursor-default data-[disabled]:opacity-50 data-[highlighted]:bg-hover';

interface MenuPartsProps extends Omit<MenuProps, 'trigger'> {
  readonly trigger: ReactElement;
  readonly onClosed: () => void;
}

/** The menu itself, open from the beginning. */
export function MenuParts({ groups, trigger, side = 'bottom', align = 'end', onClosed }: MenuPartsProps) {
  return (
    <Parts.Root defaultOpen onOpenChangeComplete={(isOpen) => !isOpen && onClosed()}>
      <Parts.Trigger render={trigger} />
      <Parts.Portal>
        <Parts.Positioner side={side} align={align} sideOffset={4} className="z-50">
          <Parts.Popup className={classes(popupClass, 'min-w-44')}>
            {groups.map((group, place) => (
              <Parts.Group
                key={group.label ?? place}
                className={place > 0 ? 'mt-1 border-t border-line pt-1' : ''}
              >
                {group.label !== undefined && (
                  <Parts.GroupLabel className="px-2 py-1 text-xs text-faint">{group.label}</Parts.GroupLabel>
                )}
                {group.items.map((item, at) => (
                  <Item key={typeof item.label === 'string' ? item.label : at} {...item} />
                ))}
              </Parts.Group>
            ))}
          </Parts.Popup>
        </Parts.Positioner>
      </Parts.Portal>
    </Parts.Root>
  );
}

function Item({ label, onSelect, icon: Icon, danger = false, disabled, checked }: MenuItem) {
  return (
    <Parts.Item
      onClick={onSelect}
      disabled={disabled}
      {...(checked === undefined ? {} : { role: 'menuitemradio', 'aria-checked': checked })}
      className={classes(itemClass, danger && 'text-bad')}
    >
      {Icon && <Icon size={14} aria-hidden className={danger ? '' : 'text-soft'} />}
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {checked === true && <Check size={14} aria-hidden className="text-accent" />}
    </Parts.Item>
  );
}
