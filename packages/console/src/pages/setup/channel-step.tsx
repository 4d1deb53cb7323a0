import type { ChannelView, ModelPage, PresetView, TrialView } from '@headgate/gateway/console';
import { FlaskConical } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Switch } from '../../ui/toggle.tsx';
import { useChannelDraft } from '../channels/channel-draft.ts';
import { ConnectionFields } from '../channels/connection-fields.tsx';
import { ConnectionTest } from '../channels/connection-test.tsx';
import { type ChosenModels, DiscoveredModels } from '../channels/discovered-models.tsx';
import { PresetPicker } from '../channels/preset-picker.tsx';
import * as channelTexts from '../channels/texts.ts';
import { ProofFor } from '../profile/proof.tsx';
import { PriceGaps } from './price-gaps.tsx';
import * as texts from './texts.ts';

interface ChannelStepProps {
  /** True where a demo's channels answer already. */
  readonly hasSimulated: boolean;
  /** Hears the models that callers can ask for now. */
  readonly onDone: (models: readonly string[]) => void;
  readonly onSkip: () => void;
}

/** The first channel: a provider, its connection tested, its models with their prices; or the simulated ones for now. */
export function ChannelStep({ hasSimulated, onDone, onSkip }: ChannelStepProps) {
  const t = useTexts(texts);
  const [preset, setPreset] = useState<PresetView | null>(null);
  const [made, setMade] = useState<{
    readonly channel: ChannelView;
    readonly unpriced: readonly string[];
  } | null>(null);
  const take = async (channel: ChannelView) => {
    const served = [...new Set(channel.targets.map(({ model }) => model))];
    const unpriced = await unpricedAmong(served);
    if (unpriced.length === 0) onDone(served);
    else setMade({ channel, unpriced });
  };
  if (made !== null)
    return (
      <PriceGaps
        models={made.unpriced}
        onDone={(priced) => {
          const served = made.channel.targets.map(({ model }) => model);
          onDone(served.filter((model) => priced.includes(model) || !made.unpriced.includes(model)));
        }}
      />
    );
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button icon={hasSimulated ? FlaskConical : undefined} onClick={onSkip}>
          {t(hasSimulated ? 'useSimulated' : 'skip')}
        </Button>
        {hasSimulated && <p className="text-soft">{t('useSimulated.hint')}</p>}
      </div>
      {preset === null ? (
        <PresetPicker onPick={setPreset} takesFocus={false} />
      ) : (
        <FirstChannel key={preset.id} preset={preset} onMade={take} onBack={() => setPreset(null)} />
      )}
    </div>
  );
}

/** The models that are hidden from callers as long as nobody has said what they cost. */
async function unpricedAmong(served: readonly string[]): Promise<readonly string[]> {
  const page = await api.get<ModelPage>('/models', { query: { unpriced: true, limit: 200 } });
  return page.items.map(({ id }) => id).filter((model) => served.includes(model));
}

/** Models whose price is known are what most want of a provider. */
function pricedModels(models: TrialView['models']): ChosenModels {
  const priced = models.filter(({ price, cost }) => price !== null || cost !== null);
  return Object.fromEntries(priced.map(({ upstream, id }) => [upstream, id]));
}

interface FirstChannelProps {
  readonly preset: PresetView;
  readonly onMade: (channel: ChannelView) => Promise<void>;
  readonly onBack: () => void;
}

function FirstChannel({ preset, onMade, onBack }: FirstChannelProps) {
  const t = useTexts(texts);
  const words = useTexts(channelTexts);
  const { form, test, trial, ...draft } = useChannelDraft({
    preset,
    onMade: (channel) => void onMade(channel),
    chosenAtOnce: pricedModels,
  });
  const fields = form as never as Parameters<typeof ConnectionFields>[0]['form'];
  const isPrivate = form.values.baseUrl !== '' || form.values.allowPrivate;
  const problem = form.problem ?? test.problem;
  const send = (event: FormEvent) => {
    event.preventDefault();
    // Enter in a field of the connection tests it first.
    void (trial === null ? test.submit() : form.submit());
  };
  return (
    <>
      <form onSubmit={send} className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h3 className="text-base">{preset.name}</h3>
          <Button size="sm" variant="ghost" onClick={onBack}>
            {t('anotherProvider')}
          </Button>
        </div>
        <ConnectionFields form={fields} preset={preset} />
        {isPrivate && (
          <Switch
            checked={form.values.allowPrivate}
            onChange={(is) => form.set('allowPrivate', is)}
            label={words('allowPrivate')}
            hint={words('allowPrivate.hint')}
          />
        )}
        {form.about('id').error !== null && (
          <Field label={words('id')} hint={words('id.hint')} {...form.about('id')}>
            <Input {...form.text('id')} />
          </Field>
        )}
        <div>
          <Button
            type={trial === null ? 'submit' : 'button'}
            variant={trial?.works ? 'secondary' : 'primary'}
            busy={test.isBusy}
            onClick={trial === null ? undefined : () => void test.submit()}
          >
            {words('testConnection')}
          </Button>
        </div>
        {trial !== null && <Found trial={trial} draft={draft} isBusy={form.isBusy} />}
        {problem !== null && <Notice tone="bad">{wordsOf(problem)}</Notice>}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
      <ProofFor problem={test.problem} again={test.submit} />
    </>
  );
}

interface FoundProps {
  readonly trial: TrialView;
  readonly draft: Pick<ReturnType<typeof useChannelDraft>, 'chosen' | 'setChosen' | 'more' | 'setMore'>;
  readonly isBusy: boolean;
}

/** The outcome of the test, and which of the models that it found are to be served. */
function Found({ trial, draft: { chosen, setChosen, more, setMore }, isBusy }: FoundProps) {
  const t = useTexts(texts);
  const words = useTexts(channelTexts);
  const hasModels = Object.keys(chosen).length > 0 || more.trim() !== '';
  const models = (
    <div className="flex flex-col gap-4">
      <h3 className="text-base">{words('serve')}</h3>
      <DiscoveredModels
        models={trial.models}
        chosen={chosen}
        onChange={setChosen}
        more={more}
        onMore={setMore}
      />
      <div>
        <Button
          type="submit"
          variant={trial.works ? 'primary' : 'secondary'}
          busy={isBusy}
          disabled={!hasModels}
        >
          {t('makeChannel')}
        </Button>
      </div>
    </div>
  );
  return (
    <>
      <ConnectionTest trial={trial} />
      {trial.works ? (
        models
      ) : (
        <details>
          <summary className="cursor-pointer text-soft">{t('makeAnyway')}</summary>
          <div className="pt-3">{models}</div>
        </details>
      )}
    </>
  );
}
