import type { SettingsView, SettingView } from '@headgate/gateway/console';
import { Download, RotateCw, SearchX } from 'lucide-react';
import { useState } from 'react';
import { useChange, useTagged } from '../../api/hooks.ts';
import { useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Input } from '../../ui/field.tsx';
import { useFilters } from '../../ui/filters.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { Switch } from '../../ui/toggle.tsx';
import { SettingDialog } from './setting-dialog.tsx';
import { SettingNotices } from './setting-notices.tsx';
import { SettingRow } from './setting-row.tsx';
import { helpOf } from './setting-words.ts';
import * as texts from './texts.ts';

/** All settings with where each is made, and those that may be made here. */
export function SettingsPage() {
  const t = useTexts(texts);
  const settings = useTagged<SettingsView>('/settings');
  const [asks, setAsks] = useState(false);
  const [edited, setEdited] = useState<string | null>(null);
  const restart = useChange('POST', '/restart', {
    invalidates: ['/settings'],
    onDone: () => toast.success(t('restarted')),
  });
  const view = settings.data?.value;
  const etag = settings.data?.etag ?? null;
  const setting = view?.items.find(({ name }) => name === edited);
  return (
    <Page
      title={t('title')}
      description={
        <>
          <p>{t('description')}</p>
          {view !== undefined && (
            <p>{view.file === null ? t('noFile') : t('declaredIn', { file: view.file })}</p>
          )}
        </>
      }
      actions={
        <>
          <a href="/api/v1/settings/export" download="headgate.yaml" className={buttonClass()}>
            <Download aria-hidden className="size-4" />
            {t('export')}
          </a>
          <Button icon={RotateCw} onClick={() => setAsks(true)}>
            {t('restart')}
          </Button>
        </>
      }
    >
      {settings.error !== null && (
        <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
      )}
      {settings.isPending && <Skeleton className="h-80 w-full" />}
      {view !== undefined && (
        <>
          <SettingNotices view={view} etag={etag} onRestart={() => setAsks(true)} />
          <Sections items={view.items} onEdit={setEdited} />
        </>
      )}
      {setting !== undefined && (
        <SettingDialog key={setting.name} setting={setting} etag={etag} onClose={() => setEdited(null)} />
      )}
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        title={t('restartTitle')}
        description={t('restartDetail')}
        confirmLabel={t('restart')}
        danger={false}
        onConfirm={() => restart.mutateAsync({})}
      />
    </Page>
  );
}

interface SectionsProps {
  readonly items: readonly SettingView[];
  readonly onEdit: (name: string) => void;
}

function Sections({ items, onEdit }: SectionsProps) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [{ find = '', only }, change] = useFilters(['find', 'only']);
  const words = find.toLowerCase();
  const shown = items.filter(
    (item) =>
      (only === undefined || !item.isDefault || item.pending !== null) &&
      [item.name, item.help, helpOf(item, language), item.yaml ?? '', item.environment].some((text) =>
        text.toLowerCase().includes(words),
      ),
  );
  const sections = [...Map.groupBy(shown, ({ section }) => section)];
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
        <Input
          type="search"
          aria-label={t('find')}
          placeholder={t('find')}
          value={find}
          onChange={(event) => change({ find: event.target.value || undefined })}
          className="max-w-64"
        />
        <Switch
          label={t('onlyGiven')}
          checked={only !== undefined}
          onChange={(isOn) => change({ only: isOn ? 'yes' : undefined })}
        />
      </div>
      {sections.length === 0 && (
        <Section>
          <Empty icon={SearchX} title={t('none')} />
        </Section>
      )}
      {sections.map(([section, rows]) => (
        <Section key={section} title={sectionTitle(section, t)}>
          <ul className="-my-4 divide-y divide-line">
            {rows.map((row) => (
              <SettingRow key={row.name} setting={row} onEdit={onEdit} />
            ))}
          </ul>
        </Section>
      ))}
    </>
  );
}

type SectionText = Extract<keyof typeof texts.en, `section.${string}`>;

/** A section that this page has no word for keeps its own. */
function sectionTitle(section: string, t: ReturnType<typeof useTexts<typeof texts.en>>): string {
  const name = `section.${section}`;
  return Object.hasOwn(texts.en, name) ? t(name as SectionText) : section;
}
