import { Badge } from '../ui/badge.tsx';
import icon from './icon.svg';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

interface BrandProps {
  readonly name?: string;
  /** A demonstration says so wherever it is seen. */
  readonly isSimulated?: boolean;
}

/** The sign of the software and the name of the deployment. */
export function Brand({ name = 'Headgate', isSimulated = false }: BrandProps) {
  const t = useTexts(texts);
  return (
    <span className="flex min-w-0 items-center gap-2 font-semibold">
      <img src={icon} alt="" width={20} height={20} />
      <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="max-w-full truncate">{name}</span>
        {isSimulated && (
          <span title={t('simulatedDetail')}>
            <Badge tone="warn">{t('simulated')}</Badge>
          </span>
        )}
      </span>
    </span>
  );
}
