import type { ChangesView, ModelItem, ModelPage } from '@headgate/gateway/console';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useChange, useGet } from '../../api/hooks.ts';
import { Problem, wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input, Select, TextArea } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Segments } from '../../ui/segments.tsx';
import { toast } from '../../ui/toast.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { PriceChanges } from './price-changes.tsx';
import * as texts from './price-texts.ts';

/** The request that brings prices in: it is sent twice, first only to see what would change. */
interface Wish {
  readonly path: '/prices/import' | '/prices/list';
  readonly body: object;
}

const endings = ['yaml', 'json', 'csv'] as const;

/** Brings in prices from a file or from the catalogue: first all that would change is shown, and then it is done. */
export function ImportPrices({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const [from, setFrom] = useState<'file' | 'list'>('file');
  const [wish, setWish] = useState<Wish | null>(null);
  const { check, apply, changes } = useImport(wish, onClose);
  const choose = (next: Wish | null) => {
    setWish(next);
    check.forget();
  };
  const problem = check.form.problem ?? apply.problem;
  return (
    <Dialog
      open
      size="lg"
      onClose={onClose}
      title={t('import')}
      description={t('importText')}
      footer={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button disabled={wish === null} busy={check.form.isBusy} onClick={() => void check.form.submit()}>
            {t('check')}
          </Button>
          <Button
            variant="primary"
            disabled={changes === null || changes.items.length === 0}
            busy={apply.isBusy}
            onClick={() => void apply.submit()}
          >
            {t('apply')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Segments
          label={t('import')}
          value={from}
          onChange={(next) => {
            setFrom(next === 'list' ? next : 'file');
            choose(null);
          }}
          options={[
            { value: 'file', label: t('fromFile') },
            { value: 'list', label: t('fromList') },
          ]}
        />
        {from === 'file' ? <FromFile onWish={choose} /> : <FromList onWish={choose} />}
        {problem !== null && <Mistakes problem={problem} />}
        {changes !== null && <PriceChanges changes={changes} />}
      </div>
    </Dialog>
  );
}

/** Everything that is wrong with it. */
function Mistakes({ problem }: { readonly problem: unknown }) {
  const errors = problem instanceof Problem ? problem.errors : [];
  return (
    <Notice tone="bad">
      {errors.length === 0 ? (
        wordsOf(problem)
      ) : (
        <ul>
          {errors.map(({ field, message }) => (
            <li key={`${field} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** The look at what would change, and the change itself. */
function useImport(wish: Wish | null, onClose: () => void) {
  const t = useTexts(texts);
  const [changes, setChanges] = useState<ChangesView | null>(null);
  const change = useChange<object, ChangesView>('POST', wish?.path ?? '/prices/import', {
    invalidates: ['/models', '/price'],
  });
  const form = useForm({
    initial: {},
    submit: () => api.post<ChangesView>(wish?.path ?? '', { query: { preview: 'true' }, body: wish?.body }),
    onDone: setChanges,
  });
  const apply = useForm({
    initial: {},
    submit: () => change.mutateAsync({ body: wish?.body ?? {} }),
    onDone: ({ items }) => {
      toast.success(t('applied', { count: new Set(items.map(({ subject }) => subject)).size }));
      onClose();
    },
  });
  return { check: { form, forget: () => setChanges(null) }, apply, changes };
}

interface FromProps {
  readonly onWish: (wish: Wish | null) => void;
}

function FromFile({ onWish }: FromProps) {
  const t = useTexts(texts);
  const [ending, setEnding] = useState<string>('yaml');
  const [text, setText] = useState('');
  const say = (kind: string, words: string) => {
    setEnding(kind);
    setText(words);
    onWish(
      words.trim() === '' ? null : { path: '/prices/import', body: { name: `prices.${kind}`, text: words } },
    );
  };
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    const kind = /\.(\w+)$/.exec(file.name)?.[1]?.toLowerCase() ?? '';
    say(kind === 'yml' ? 'yaml' : kind === 'csv' || kind === 'json' ? kind : 'yaml', await file.text());
  };
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t('file')}>
        <Input
          type="file"
          accept=".yaml,.yml,.json,.csv"
          onChange={({ target }) => void read(target.files?.[0])}
        />
      </Field>
      <Field label={t('kind')}>
        <Select
          value={ending}
          onChange={(kind) => say(kind, text)}
          options={endings.map((value) => ({ value, label: value.toUpperCase() }))}
        />
      </Field>
      <Field label={t('contents')} hint={t('contentsHint')} className="sm:col-span-2">
        <TextArea
          rows={8}
          spellCheck={false}
          className="font-mono"
          value={text}
          placeholder={'prices:\n  gpt-5: { from: 2027-01-01, input: 1.25, output: 10 }'}
          onChange={({ target }) => say(ending, target.value)}
        />
      </Field>
    </div>
  );
}

/** The models that are offered at once; a search finds the others. */
const listedMax = '200';

function FromList({ onWish }: FromProps) {
  const t = useTexts(texts);
  const [search, setSearch] = useState('');
  const [isUnpriced, setUnpriced] = useState(true);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const models = useGet<ModelPage>('/models', {
    ...{ limit: listedMax, search: search.trim() },
    ...(isUnpriced ? { unpriced: 'true' } : {}),
  });
  const items = models.data?.items ?? [];
  const choose = (next: readonly string[]) => {
    setChosen(next);
    onWish(next.length === 0 ? null : { path: '/prices/list', body: { models: next } });
  };
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-soft">{t('listText')}</p>
      <div className="flex flex-wrap items-center gap-3">
        <Input
          type="search"
          className="max-w-64"
          aria-label={t('listSearch')}
          placeholder={t('listSearch')}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <Checkbox checked={isUnpriced} onChange={setUnpriced} label={t('listOnlyUnpriced')} />
        <Button onClick={() => choose([...new Set([...chosen, ...items.map(({ id }) => id)])].slice(0, 200))}>
          {t('choose')}
        </Button>
        <span className="text-sm text-soft">{t('chosen', { count: chosen.length })}</span>
      </div>
      {models.error !== null && <ErrorState error={models.error} onRetry={() => void models.refetch()} />}
      {models.data !== undefined && items.length === 0 && (
        <p className="text-sm text-soft">{t('listNone')}</p>
      )}
      {items.length > 0 && (
        <ul className="max-h-64 overflow-y-auto rounded-lg border border-line px-3 py-1">
          {items.map((model) => (
            <li key={model.id} className="py-1">
              <Checkbox
                checked={chosen.includes(model.id)}
                onChange={(is) =>
                  choose(is ? [...chosen, model.id] : chosen.filter((each) => each !== model.id))
                }
                label={<ModelLine model={model} />}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function ModelLine({ model: { id, price } }: { readonly model: ModelItem }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      <bdi className="break-all">{id}</bdi>
      {price !== null && (
        <span className="text-soft tabular-nums">{`$${price.input} / $${price.output}`}</span>
      )}
    </span>
  );
}
