import { Plus, Trash2 } from 'lucide-react';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import * as texts from './texts.ts';

/** Another deployment as it is written. */
interface SiblingDraft {
  readonly name: string;
  readonly consoleOrigin: string;
  readonly language?: string;
  readonly region?: string;
}

const siblingMembers = ['name', 'consoleOrigin', 'language', 'region'] as const;

/** The deployments of a value; none where it is no list of them. */
export function siblingsOf(value: string): readonly SiblingDraft[] {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list.filter(isSibling) : [];
  } catch {
    return [];
  }
}

function isSibling(value: unknown): value is SiblingDraft {
  return typeof value === 'object' && value !== null && 'name' in value && 'consoleOrigin' in value;
}

interface SiblingListProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Sibling deployments, each in a few fields. */
export function SiblingList({ value, onChange }: SiblingListProps) {
  const t = useTexts(texts);
  const siblings = siblingsOf(value);
  const put = (list: readonly SiblingDraft[]) => onChange(JSON.stringify(list));
  const set = (at: number, member: (typeof siblingMembers)[number], text: string) =>
    put(siblings.map((each, index) => (index === at ? withMember(each, member, text) : each)));
  return (
    <div className="flex flex-col gap-4">
      {siblings.map((sibling, at) => (
        <fieldset
          // Their place is all that tells two new ones from each other.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={at}
          className="grid gap-3 rounded-md border border-line p-3 sm:grid-cols-2"
        >
          <legend className="sr-only">{t('siblingNumber', { number: at + 1 })}</legend>
          <Field label={t('sibling.name')} required>
            <Input value={sibling.name} onChange={(event) => set(at, 'name', event.target.value)} />
          </Field>
          <Field label={t('sibling.consoleOrigin')} required>
            <Input
              value={sibling.consoleOrigin}
              placeholder="https://console.example.com"
              onChange={(event) => set(at, 'consoleOrigin', event.target.value)}
            />
          </Field>
          <Field label={t('sibling.language')}>
            <Select
              value={sibling.language ?? ''}
              onChange={(text) => set(at, 'language', text)}
              options={[
                { value: '', label: t('sibling.noLanguage') },
                { value: 'en', label: 'English' },
                { value: 'zh-CN', label: '简体中文' },
              ]}
            />
          </Field>
          <Field label={t('sibling.region')}>
            <Input value={sibling.region ?? ''} onChange={(event) => set(at, 'region', event.target.value)} />
          </Field>
          <Button
            size="sm"
            icon={Trash2}
            className="justify-self-start"
            onClick={() => put(siblings.filter((_, index) => index !== at))}
          >
            {t('sibling.remove')}
          </Button>
        </fieldset>
      ))}
      <Button
        size="sm"
        icon={Plus}
        className="self-start"
        onClick={() => put([...siblings, { name: '', consoleOrigin: '' }])}
      >
        {t('sibling.add')}
      </Button>
    </div>
  );
}

/** A member that may be left out and is empty is left out. */
function withMember(
  sibling: SiblingDraft,
  member: (typeof siblingMembers)[number],
  text: string,
): SiblingDraft {
  const { [member]: _, ...others } = sibling;
  const isLeftOut = text === '' && (member === 'language' || member === 'region');
  // The members that there must be are never left out.
  return (isLeftOut ? others : { ...sibling, [member]: text }) as SiblingDraft;
}

/** A mistake of the list: the deployment and the member that it is in, where the gateway names them. */
export function siblingMistake(mistake: string, t: ReturnType<typeof useTexts<typeof texts.en>>): string {
  const [, at, name, words] = /: (\d+)\.(\w+) (.+)$/.exec(mistake) ?? [];
  const member = siblingMembers.find((one) => one === name);
  if (member === undefined) return mistake;
  return `${t('siblingNumber', { number: Number(at) + 1 })}, ${t(`sibling.${member}`)}: ${words}`;
}
