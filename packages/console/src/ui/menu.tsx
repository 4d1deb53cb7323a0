import { Ellipsis, type LucideIcon } from 'lucide-react';
import { cloneElement, lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react';
import { useTexts } from '../app/texts.ts';
import { IconButton } from './button.tsx';
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

export interface MenuProps {
  /** Groups of items, with a line between them. */
  readonly groups: readonly { readonly label?: string; readonly items: readonly MenuItem[] }[];
  /** The button that opens it; three dots if left out. */
  readonly trigger?: ReactElement<MenuTriggerProps>;
  readonly side?: 'top' | 'bottom';
  readonly align?: 'start' | 'end';
}

interface MenuTriggerProps {
  readonly onClick?: () => void;
  readonly onPointerEnter?: () => void;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
}

const load = () => import('./menu-parts.tsx');
const MenuParts = lazy(async () => ({ default: (await load()).MenuParts }));

/** Actions that are seldom needed, behind one button. All that makes it a menu is fetched when the button is pointed at. */
export function Menu(props: MenuProps) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  const given = props.trigger ?? <IconButton icon={Ellipsis} label={t('showMore')} />;
  const trigger = cloneElement(given as ReactElement<MenuTriggerProps>, {
    onClick: () => setOpen(true),
    onPointerEnter: () => void load(),
    'aria-haspopup': 'menu',
    'aria-expanded': false,
  });
  if (!isOpen) return trigger;
  return (
    <Suspense fallback={trigger}>
      <MenuParts {...props} trigger={given} onClosed={() => setOpen(false)} />
    </Suspense>
  );
}
